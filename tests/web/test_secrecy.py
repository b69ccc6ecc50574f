"""Nothing of what is still being played is shown, on whatever way."""

from __future__ import annotations

import json

from tests.web.support import CHALLENGE, POP, WebArena, next_message


def test_a_set_with_a_shared_deal_is_hidden_until_it_is_over(web: WebArena) -> None:
    """A finished game of a shared deal shows nowhere, by no address, before the whole set is settled; then it does."""
    arena = web.arena
    plan, keep = arena.begin(arena.queue(CHALLENGE, ["zephyr", "updraft", "greedy"], "shared"))
    first, *others = plan.games
    secret = keep[first.match_id]
    arena.finish_game(plan, first, secret)
    before = web.get(f"/ladders/{CHALLENGE}").text

    def shown() -> list[bool]:
        addresses = ["/", "/matches", f"/matches?ladder={CHALLENGE}", "/bots/zephyr", "/status", "/metrics"]
        found = [first.match_id in web.get(address).text for address in addresses]
        direct = [web.get(f"/matches/{first.match_id}{more}").status == 200 for more in ("", "/record", "/film.json")]
        return found + direct

    assert not any(shown())
    assert all(secret.hex() not in web.get(path).text for path in ("/", "/matches", "/status"))
    with web.stream("home") as stream:
        assert first.match_id not in json.dumps(next_message(stream))
    for game in others:
        arena.finish_game(plan, game, secret)
    assert not any(shown())
    assert web.get(f"/ladders/{CHALLENGE}").text.split("<tbody")[1] == before.split("<tbody")[1]
    arena.settle(plan.set_id)
    arena.connect(web.redis_url)
    with web.stream("home") as stream:
        while first.match_id not in json.dumps(next_message(stream)):
            pass  # what the cache had a moment ago
    assert web.get(f"/matches/{first.match_id}").status == 200
    assert secret.hex() in web.get(f"/matches/{first.match_id}").text


def test_a_match_that_runs_shows_what_a_spectator_sees(web: WebArena) -> None:
    """Of a set with own deals its finished games show; the one that runs has a page without record, film or secret."""
    arena = web.arena
    plan, keep = arena.begin(arena.queue(POP, ["zephyr", "updraft"]))
    done, running = plan.games
    arena.finish_game(plan, done, keep[done.match_id])
    page = web.get(f"/matches/{done.match_id}")
    assert page.status == 200
    assert running.match_id not in page.text
    assert keep[running.match_id].hex() not in page.text
    watched = web.get(f"/matches/{running.match_id}")
    assert watched.status == 200
    assert "being played" in watched.text
    assert keep[running.match_id].hex() not in watched.text
    for more in ("film.json", "film.json?eyes=0", "film.json?eyes=public", "record"):
        assert web.get(f"/matches/{running.match_id}/{more}").status == 404
    arena.finish_game(plan, running, keep[running.match_id])
    arena.settle(plan.set_id)

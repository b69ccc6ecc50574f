"""A running match is shown as a spectator sees it, while somebody looks, and to nobody if that could tell too much."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPResponse
from typing import Any

from sqlalchemy import update

from arena.gateway.registry import connect_redis
from arena.host.broadcast import Broadcast, film_key, looked_at_key
from arena.match.referee import Event
from arena.storage.plans import SetPlan
from arena.storage.tables import game_set
from arena.web.film import seen, shortened
from arena.web.replay import state_after
from tests.web.slowly import SlowMatch, job_of
from tests.web.support import CHALLENGE, PATIENCE_S, WebArena, next_message


def begun(web: WebArena, deal_mode: Any = "own") -> tuple[SetPlan, SlowMatch, dict[str, bytes]]:
    """A set that has been claimed, and its first game."""
    plan, keep = web.arena.begin(web.arena.queue(CHALLENGE, ["zephyr", "updraft", "greedy"], deal_mode))
    return plan, SlowMatch(plan, plan.games[0], keep[plan.games[0].match_id]), keep


def finish(web: WebArena, plan: SetPlan, keep: dict[str, bytes]) -> None:
    """Plays the set to its end."""
    for game in plan.games:
        web.arena.finish_game(plan, game, keep[game.match_id])
    web.arena.settle(plan.set_id)


def watching(web: WebArena, match_id: str, **headers: str) -> HTTPResponse:
    """An open stream of a running match."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"{web.url}/matches/{match_id}/live", headers=named)
    opened: HTTPResponse = urllib.request.urlopen(request, timeout=PATIENCE_S)
    return opened


def test_a_running_match_comes_frame_by_frame(web: WebArena) -> None:
    """Who looks gets the film so far, then what is new; who comes back gets what is missing; at the end he is told."""
    plan, match, keep = begun(web)
    match_id = plan.games[0].match_id

    async def play() -> tuple[dict[str, Any], list[Any], list[Any]]:
        async with connect_redis(web.redis_url) as redis:
            broadcast = Broadcast()
            with broadcast.of(job_of(plan, plan.games)) as watch:
                assert watch is not None
                match.go(watch, 5)
                await broadcast.show(redis)
                assert not await redis.exists(film_key(match_id, 1)), "nobody looks"
                stream = await asyncio.to_thread(watching, web, match_id)
                await until(lambda: redis.exists(looked_at_key(match_id)))
                await broadcast.show(redis)
                first = (await asyncio.to_thread(next_message, stream))["film"]
                match.go(watch, 10)
                await broadcast.show(redis)
                more = (await asyncio.to_thread(next_message, stream))["frames"]
                known = 1 + len(first["frames"])
                again = await asyncio.to_thread(watching, web, match_id, last_event_id=f"1-{known}")
                missed = (await asyncio.to_thread(next_message, again))["frames"]
                again.close()
                await asyncio.to_thread(finish, web, plan, keep)
                assert await asyncio.to_thread(next_message, stream) == {"over": True}
                stream.close()
                return first, more, missed

    first, more, missed = asyncio.run(play())
    assert first["eyes"] == "public"
    assert first["match"] == match_id
    assert [seat["bot"] for seat in first["seats"]] == [plan.seats[at].bot for at in plan.games[0].order]
    assert missed == more
    frames = [*first["frames"], *more]
    assert frames == spectators(match.referee.events)
    assert web.get(f"/matches/{match_id}").status == 200
    assert "Everything" in web.get(f"/matches/{match_id}").text


def spectators(events: Sequence[Event]) -> list[Any]:
    """The frames of a spectator's film of these events."""
    states = [events[0].before, *map(state_after, events)]
    shown = [seen(event, state, None, (None,) * 3) for event, state in zip((None, *events), states, strict=True)]
    assert not any(picture.private or picture.notes for picture in shown)
    found: list[Any] = json.loads(json.dumps(list(shortened(shown))))
    return found


async def until(there: Callable[[], Any]) -> None:
    """Waits until something is there."""
    deadline = time.monotonic() + PATIENCE_S
    while not await there():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


def test_r25_nobody_watches_a_shared_deal_or_a_hidden_event(web: WebArena) -> None:
    """The worker tells nothing of a deal that other games share; a set that is not listed has neither page nor stream."""
    plan, match, keep = begun(web, "shared")
    with Broadcast().of(job_of(plan, plan.games)) as watch:
        assert watch is None
    hidden, _, secrets = begun(web)
    with web.arena.database.write() as connection:
        connection.execute(update(game_set).where(game_set.c.id == hidden.set_id).values(listed=False))
    for match_id in (plan.games[0].match_id, hidden.games[0].match_id):
        assert web.get(f"/matches/{match_id}").status == 404
        assert web.get(f"/matches/{match_id}/live").status == 404
        assert match_id not in web.get("/matches").text
    finish(web, plan, keep)
    finish(web, hidden, secrets)
    assert not match.over


def test_what_redis_lost_is_told_again(web: WebArena) -> None:
    """After a flush the film is there again, whole, with the next look; without a viewer nothing is written."""
    plan, match, keep = begun(web)
    match_id = plan.games[0].match_id

    async def play() -> None:
        async with connect_redis(web.redis_url) as redis:
            broadcast, key = Broadcast(), film_key(match_id, 1)
            with broadcast.of(job_of(plan, plan.games)) as watch:
                assert watch is not None
                match.go(watch, 3)
                await redis.set(looked_at_key(match_id), "1")
                await broadcast.show(redis)
                whole = await redis.lrange(key, 0, -1)
                assert len(whole) == len(match.referee.events) + 2
                await redis.delete(key)
                match.go(watch, 2)
                await broadcast.show(redis)
                await broadcast.show(redis)
                assert (await redis.lrange(key, 0, -1))[: len(whole)] == whole
                assert await redis.llen(key) == len(match.referee.events) + 2
                assert await redis.ttl(key) > 0
            await redis.delete(looked_at_key(match_id), key)
            await broadcast.show(redis)
            assert not await redis.exists(key)

    asyncio.run(play())
    finish(web, plan, keep)

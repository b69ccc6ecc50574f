"""Playing in the browser, over HTTP: people and bots at one table, what each is told, what nobody may do."""

from __future__ import annotations

import itertools
import json
import time
import urllib.error
from typing import Any

import orjson
import pytest

import engines
from arena.match.record import parse_record
from arena.match.replay import verify
from arena.web.film import film
from arena.web.play.order import PACES
from arena.web.replay import HIDDEN, replayed
from tests.web.guests import Guest, open_table, post, send, stream
from tests.web.support import PATIENCE_S, WebArena

GAMES = ("balloon-challenge", "balloon-pop", "balloon-race", "pop")


def seat_down(web: WebArena, game: str) -> tuple[str, list[Guest]]:
    """A table of two people and `random`, and a spectator; gives the guests in the order of opener, invited, spectator."""
    table, secret = open_table(web, game, ["random", "person"], "Ada", shuffle="on")
    state = next(stream(web, table, secret))["state"]
    (invitation,) = state["invites"]
    joined = send(web, table, "join", code=invitation["code"], name="Grace").json()
    assert joined["seat"] == invitation["seat"] != state["you"]
    return table, [Guest(web, table, secret, 1), Guest(web, table, joined["secret"], 2), Guest(web, table)]


def play_out(guests: list[Guest]) -> None:
    """Until all have seen the end."""
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join(PATIENCE_S)
        assert guest.states[-1]["phase"] == "over", guest.states[-1]
        assert [answer.text for answer in guest.refusals] == []


def timeless(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Frames without clocks: a table tells a person's own with each question."""
    return [{name: value for name, value in frame.items() if name not in ("clocks", "ms")} for frame in frames]


@pytest.mark.parametrize("game", GAMES)
def test_people_and_a_bot_play_a_game_to_its_end(web: WebArena, game: str) -> None:
    """Its record verifies and names people and bot, unrated, with the clock of the form; each eyes' stream was that eyes' film
    of the record, and held nothing beyond it but that seat's own questions."""
    table, guests = seat_down(web, game)
    play_out(guests)
    data = web.get(f"/play/{table}/record").body
    record = parse_record(data)
    assert verify(record).notes == ()
    header, footer = record.header, record.footer
    assert header["rated"] is False
    assert header["time_control"] == PACES["calm"].to_json()
    assert sorted((seat["bot"], seat["owner"]) for seat in header["seats"]) == [
        ("Ada", "person"),
        ("Grace", "person"),
        ("random", "house"),
    ]
    opener, invited, spectator = guests
    match = replayed(data)
    for guest in guests:
        eyes = guest.states[-1].get("you")
        assert timeless(guest.frames) == timeless(_json(film(match, eyes)["frames"]))
        assert guest.states[-1]["result"] == {name: footer[name] for name in ("places", "scores", "reasons")}
    assert not any("ask" in state or "you" in state or "invites" in state for state in spectator.states)
    assert not any("invites" in state for state in invited.states)
    for guest in (opener, invited):
        you = guest.states[-1]["you"]
        assert all(frame.get("private", {}).keys() <= {str(you)} for frame in guest.frames)
        asked = [state["ask"] for state in guest.states if "ask" in state]
        answered = [
            part["id"]
            for event in record.events
            for part in event.get("joint", ())
            if part["seat"] == you and part["source"] == "bot"
        ]
        assert len({ask["id"] for ask in asked}) == len(answered) > 3
        rules = engines.get(game)
        assert all(rules.parse(text) < rules.num_actions for ask in asked for text in ask["legal"])
    assert all(state.keys() >= {"phase", "seats"} and "commitment" not in state for state in spectator.states)


def _json(frames: Any) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads(orjson.dumps(frames, option=orjson.OPT_NON_STR_KEYS))
    return parsed


def test_hands_are_in_nobody_elses_stream(web: WebArena) -> None:
    """Of each dealt card only its receiver's stream says which it is, in words and in the view."""
    table, guests = seat_down(web, "balloon-challenge")
    play_out(guests)
    record = parse_record(web.get(f"/play/{table}/record").body)
    deals = [event["seq"] for event in record.events if event.get("text", "").startswith("deal ")]
    private = 0
    for seq in deals:
        said = [tuple(guest.frames[seq + 1]["said"]) for guest in guests]
        assert said.count((HIDDEN,)) in (0, 2, 3)  # of the table's own row all see it, of the bot's nobody here
        private += said.count((HIDDEN,)) == 2
    assert private > 10


def test_only_the_person_of_a_seat_moves_for_it(web: WebArena) -> None:
    """Without the secret, with another's, from another site, late, twice, illegally or nonsensically nothing is moved."""
    table, secret = open_table(web, "balloon-challenge", ["random"], name="Ada")
    asked = next(state["ask"] for state in _states(web, table, secret) if "ask" in state)
    move = {"decision": asked["id"], "action": asked["legal"][0]}
    assert send(web, table, "move", **move).status == 403
    assert send(web, table, "move", "x" * 22, **move).status == 403
    other, others = open_table(web, "pop", ["random"])
    assert send(web, table, "move", others, **move).status == 403
    assert send(web, table, "move", secret, decision=asked["id"], action="play Q9").status == 422
    assert send(web, table, "move", secret, decision=asked["id"] + 1, action=asked["legal"][0]).status == 409
    assert send(web, table, "move", secret, decision="1", action=asked["legal"][0]).status == 422
    assert send(web, table, "move", secret, decision=asked["id"]).status == 422
    assert send(web, table, "dance", secret).status == 404
    assert send(web, "t_0000000000000000", "move", secret, **move).status == 404
    path, bearer = f"/play/{table}/move", f"Bearer {secret}"
    assert post(web, path, b"[", authorization=bearer).status == 422
    assert post(web, path, b"[]", authorization=bearer).status == 422
    assert post(web, path, b" " * 5000, authorization=bearer).status == 413
    body = b'{"decision": %d, "action": "%s"}' % (asked["id"], asked["legal"][0].encode())
    for foreign in ({"origin": "http://elsewhere.example"}, {"sec_fetch_site": "cross-site"}, {"origin": "null"}):
        assert post(web, path, body, authorization=bearer, **foreign).status == 403
    assert _asked_now(web, table, secret) == asked["id"]
    assert send(web, table, "move", secret, **move).status == 200
    assert send(web, table, "move", secret, **move).status == 409
    for one, theirs in ((table, secret), (other, others)):
        assert send(web, one, "leave", theirs).status == 200


def test_who_comes_back_goes_on_where_the_stream_broke(web: WebArena) -> None:
    """With the number of frames that one has the stream gives the others, and the same question again with less time left."""
    table, secret = open_table(web, "balloon-challenge", ["random"], pace="brisk")
    first = next(message for message in stream(web, table, secret) if "ask" in message.get("state", {}))
    whole = next(stream(web, table, secret))
    have = len(whole["frames"])
    assert whole["from"] == 0
    assert have > 10
    again = next(stream(web, table, secret, have - 4))
    assert again["from"] == have - 4
    assert again["frames"] == whole["frames"][-4:]
    ask, later = first["state"]["ask"], again["state"]["ask"]
    assert (later["id"], later["legal"]) == (ask["id"], ask["legal"])
    assert 0 < later["left_ms"] <= ask["left_ms"] <= PACES["brisk"].bank_ms
    assert "frames" not in next(stream(web, table, secret, have))
    assert next(stream(web, table, secret, 99_999))["state"]["you"] == first["state"]["you"]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        next(stream(web, table, "nobody"))
    send(web, table, "leave", secret)


def test_an_invitation_is_good_once_and_names_differ(web: WebArena) -> None:
    """A second one, a wrong one, and the opener's secret are refused; two people with one name are told apart."""
    table, secret = open_table(web, "balloon-challenge", ["person", "person"], name="<b>Ada\n")
    invitations = next(stream(web, table, secret))["state"]["invites"]
    assert len(invitations) == 2
    code = invitations[0]["code"]
    joined = send(web, table, "join", code=code, name="<b>Ada")
    assert joined.status == 200
    assert send(web, table, "join", code=code, name="x").status == 410
    assert send(web, table, "join", code=secret, name="x").status == 410
    state = next(stream(web, table, secret))["state"]
    assert [seat["bot"] for seat in state["seats"]].count("") == 1
    assert {seat["bot"] for seat in state["seats"]} == {"<b>Ada", "<b>Ada 2", ""}
    assert "<b>Ada" not in web.get(f"/play/{table}").text
    assert send(web, table, "leave", joined.json()["secret"]).status == 200
    assert next(stream(web, table, secret))["state"]["invites"][0]["code"] not in (code, "")
    send(web, table, "leave", secret)
    assert next(stream(web, table, secret))["state"]["phase"] == "ended"


def test_who_leaves_loses_and_the_others_play_on(web: WebArena) -> None:
    """The game goes on with default actions for the empty chair, and the reason is on record."""
    table, guests = seat_down(web, "pop")
    opener, invited, spectator = guests
    opener.start()
    spectator.start()
    first = next(
        message["state"] for message in stream(web, table, invited._secret) if "ask" in message.get("state", {})
    )
    assert invited.send("leave").status == 200
    for guest in (opener, spectator):
        guest.join(PATIENCE_S)
    result = spectator.states[-1]["result"]
    assert result["reasons"][first["you"]] == "DISCONNECT"
    assert result["places"][first["you"]] == 3
    assert verify(parse_record(web.get(f"/play/{table}/record").body)).spec.rated is False


def test_the_same_people_play_again(web: WebArena) -> None:
    """One opens the next table, the other is invited on the old one's stream; a spectator is not."""
    table, guests = seat_down(web, "pop")
    play_out(guests)
    opener, invited, _ = guests
    again = invited.send("again").json()
    state = next(stream(web, table, opener._secret))["state"]
    assert state["again"]["table"] == again["table"]
    assert "again" not in next(stream(web, table))["state"]
    joined = send(web, again["table"], "join", code=state["again"]["code"], name="Ada").json()
    assert "ask" in next(state for state in _states(web, again["table"], joined["secret"]) if "ask" in state)
    for secret in (joined["secret"], again["secret"]):
        send(web, again["table"], "leave", secret)


def test_a_finished_game_is_replayed_from_disk(web: WebArena) -> None:
    """Its record is kept: a table that the process does not know (it was started anew) leads to its replay."""
    table, secret = open_table(web, "pop", ["random"])
    guest = Guest(web, table, secret)
    play_out([guest])
    folder = web.arena.settings.data_dir / "tables"
    file = folder / f"{table}.jsonl.gz"
    deadline = time.monotonic() + PATIENCE_S
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    old = "t_00000000000000aa"
    (folder / f"{old}.jsonl.gz").write_bytes(file.read_bytes())
    page = web.get(f"/play/{old}")
    assert page.status == 200
    assert f"/play/{old}/film.json" in page.text
    assert web.get(f"/play/{old}/record").body == file.read_bytes()
    frames = web.get(f"/play/{table}/film.json?eyes=all").json()["frames"]
    assert len(frames) == len(guest.frames)
    for nothing in ("t_00000000000000ab", "x", "..%2Farena", "t_00000000000000aa%00"):
        assert web.get(f"/play/{nothing}").status in (404, 405)
        assert web.get(f"/play/{nothing}/record").status in (404, 405)
    assert web.get(f"/play/{old}/film.json?eyes=7").status == 404


def test_a_form_that_cannot_be_is_told_why(web: WebArena) -> None:
    """Who does not play, too many, a pace and an option that there are not: 422 and the form again; nothing is opened."""
    for game, body, words in (
        ("pop", b"with=nobody-knows", "does not play"),
        ("pop", b"name=x", "2 to 5 players, not 1"),
        ("pop", b"&".join([b"with=random"] * 5), "2 to 5 players, not 6"),
        ("pop", b"with=random&pace=bullet", "no pace"),
        ("pop", b"with=random&option-rounds=9", "1 to 3"),
        ("pop", b"with=random&option-rounds=x", "whole number"),
        ("pop", b"&".join([b"a=1"] * 50), "fields"),
    ):
        answer = post(web, f"/play/new/{game}", body)
        assert answer.status == 422, body
        assert words in answer.text
        assert 'role="alert"' in answer.text
    assert post(web, "/play/new/pop", b"with=random", origin="http://elsewhere.example").status == 403
    assert post(web, "/play/new/chess", b"with=random").status == 404
    assert web.get("/play/new/chess").status == 404
    for path in ("/play", *(f"/play/new/{game}" for game in GAMES)):
        assert web.get(path).status == 200


def _states(web: WebArena, table: str, secret: str) -> Any:
    return (message["state"] for message in itertools.islice(stream(web, table, secret), 200) if "state" in message)


def _asked_now(web: WebArena, table: str, secret: str) -> int:
    asked: int = next(stream(web, table, secret))["state"]["ask"]["id"]
    return asked

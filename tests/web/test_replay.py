"""The replay agrees with the record, and shows each observer what it could know and no more."""

from __future__ import annotations

import engines
from arena.match.record import parse_record
from arena.storage.matches import recent_matches
from arena.web.film import pictures
from arena.web.replay import HIDDEN, replayed
from tests.web.support import CHALLENGE, WebArena


def newest(web: WebArena, slug: str) -> str:
    """The id of the newest match of a ladder."""
    with web.arena.database.read() as connection:
        return recent_matches(connection, ladder_slug=slug)[0][0].match_id


def test_the_last_position_has_the_scores_of_the_record(web: WebArena) -> None:
    """For every match there is: one frame an event and one before, and at the end the result of the record."""
    with web.arena.database.read() as connection:
        rows, _ = recent_matches(connection, limit=200)
    assert len(rows) > 10
    for row in rows:
        match = replayed(web.arena.records.read(row.record_digest))
        assert match.problem is None
        shown = list(pictures(match, None))
        assert len(shown) == row.events + 1
        assert list(shown[-1].scores) == match.record.footer["scores"]
        assert shown[-1].scores == tuple(seat.score for seat in row.seats)


def test_films_come_over_http_as_they_are(web: WebArena) -> None:
    """The address that the page's script asks gives a frame for each event, and the record's result at the end."""
    match_id = newest(web, CHALLENGE)
    record = parse_record(web.get(f"/matches/{match_id}/record").body)
    film = web.get(f"/matches/{match_id}/film.json?eyes=public").json()
    assert film["eyes"] == "public"
    assert len(film["frames"]) == len(record.events) + 1
    assert film["frames"][0]["kind"] == "start"
    assert [frame["scores"] for frame in film["frames"] if "scores" in frame][-1] == record.footer["scores"]
    assert web.get(f"/matches/{match_id}/film.json").json()["eyes"] == "all"
    for nobody in ("3", "-1", "x", "", "01" * 9):
        assert web.get(f"/matches/{match_id}/film.json?eyes={nobody}").status == 404


def test_each_observer_sees_its_own_cards_alone(web: WebArena) -> None:
    """A dealt card is named to its receiver and hidden from the others and from spectators, in word and on the board."""
    match_id = newest(web, CHALLENGE)
    record = parse_record(web.get(f"/matches/{match_id}/record").body)
    deals = [event["seq"] for event in record.events if event.get("text", "").startswith("deal ")]
    films = {
        eyes: web.get(f"/matches/{match_id}/film.json?eyes={eyes}").json()["frames"]
        for eyes in ("all", "public", "0", "1", "2")
    }
    for seq in deals:
        assert films["public"][seq + 1]["said"] == [HIDDEN]
        assert films["all"][seq + 1]["said"] == [record.events[seq]["text"]]
        (receiver,) = films["all"][seq + 1]["private"]
        for eyes in "012":
            frame = films[eyes][seq + 1]
            assert frame["said"] == ([record.events[seq]["text"]] if eyes == receiver else [HIDDEN])
            assert frame.get("private", {}).keys() == ({receiver} if eyes == receiver else set())
    assert not any("private" in frame for frame in films["public"])
    assert not any("your hand" in line for frame in films["public"] for _, line in frame.get("lines", []))


def test_a_damaged_record_says_so_instead_of_a_replay(web: WebArena) -> None:
    """A record whose moves were changed is named as one that does not hold, and has no frames."""
    import json

    from arena.match.record import Record, chain

    record = parse_record(web.get(f"/matches/{newest(web, CHALLENGE)}/record").body)
    documents = [dict(document) for document in record.documents]
    documents[-1]["scores"] = [99] * len(documents[-1]["scores"])
    lines, head = chain(documents)
    closing = json.dumps({"head": head.hex(), "receipt": "00" * 64}).encode()
    forged = Record((*lines, closing), head, b"").to_bytes()
    match = replayed(forged)
    assert match.problem is not None
    assert "scores" in match.problem
    assert list(pictures(match, None)) == []
    assert engines.get("balloon-challenge").title

"""The replay agrees with the record, and shows each observer what it could know and no more."""

from __future__ import annotations

import re

import engines
from arena.match.record import parse_record
from arena.storage.queries import recent_matches
from arena.web.replay import frames, replayed
from tests.web.support import CHALLENGE, WebArena

SEEN, BOARD, SCORES, TEXT, KIND = "something hidden", 0, 1, 3, 4


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
        shown = list(frames(match, None))
        assert [frame.n for frame in shown] == list(range(row.events + 1))
        assert list(shown[-1].scores) == match.record.footer["scores"]
        assert shown[-1].scores == tuple(seat.score for seat in row.seats)


def test_positions_come_over_http_as_they_are(web: WebArena) -> None:
    """The address that the page's script asks gives the same frames."""
    match_id = newest(web, CHALLENGE)
    record = parse_record(web.get(f"/matches/{match_id}/record").body)
    document = web.get(f"/matches/{match_id}/replay.json?seat=").json()
    assert document["seat"] is None
    assert len(document["frames"]) == len(record.events) + 1
    assert document["frames"][-1][SCORES] == record.footer["scores"]
    assert document["frames"][0][KIND] == "start"


def test_each_observer_sees_its_own_cards_alone(web: WebArena) -> None:
    """A dealt card is named to its receiver, hidden from the others and from spectators, in the words as on the board."""
    match_id = newest(web, CHALLENGE)
    record = parse_record(web.get(f"/matches/{match_id}/record").body)
    deals = [event["seq"] for event in record.events if event.get("text", "").startswith("deal ")]
    films = {
        seat: web.get(f"/matches/{match_id}/replay.json?seat={seat}").json()["frames"] for seat in ("", "0", "1", "2")
    }
    assert all(films[""][seq + 1][TEXT] == SEEN for seq in deals)
    for seq in deals:
        named = [seat for seat in "012" if films[seat][seq + 1][TEXT] != SEEN]
        assert len(named) == 1
        assert films[named[0]][seq + 1][TEXT] == record.events[seq]["text"]
    assert not any(re.search(r"your hand", frame[BOARD]) for frame in films[""])
    assert any(re.search(r"your hand", frame[BOARD]) for frame in films["0"])


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
    assert list(frames(match, None)) == []
    assert engines.get("balloon-challenge").title

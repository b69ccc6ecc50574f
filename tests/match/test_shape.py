"""Records that somebody made up: whatever they hold, the verdict names a line."""

from __future__ import annotations

import contextlib
import copy
import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.clock_use import clock_use
from arena.match.record import DamagedRecord, ParsedRecord, Record, chain, final_receipt, parse_record
from arena.match.referee import Reply, Request
from arena.match.replay import verify
from arena.match.spec import SeatReason
from arena.tournaments.archive import _moves
from tests.match.support import KEY, SECRET, Decide, play, spec, uniform

GAMES = {"balloon-challenge": 3, "balloon-pop": 2, "balloon-race": 3, "pop": 2}
Path = tuple[Any, ...]


def noted(seat: int, game: str) -> Decide:
    """Decides at random, says why, and crashes after a while where the game goes on without it."""
    rest, answers = uniform(seat), iter(range(10_000))

    def decide(request: Request) -> Reply:
        if GAMES[game] > 2 and seat == 1 and next(answers) == 3:
            return Reply(None, SeatReason.BOT_CRASH, detail="gone")
        return rest(request)._replace(annotation={"comment": "so", "eval": -3, "nodes": 7, "pv": ["a", "b"]})

    return decide


@cache
def original(game: str) -> ParsedRecord:
    """A match as it was played."""
    players = GAMES[game]
    finished, _ = play(spec(game, players), *(noted(seat, game) for seat in range(players)))
    return parse_record(finished.record.to_bytes())


@cache
def paths(game: str) -> tuple[Path, ...]:
    """Where a value is in the record: the document's number, then names and indices."""

    def inside(value: Any, path: Path) -> Iterator[Path]:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            yield (*path, key)
            yield from inside(item, (*path, key))

    return tuple(
        path for number, document in enumerate(original(game).documents) for path in inside(document, (number,))
    )


def at(documents: Any, path: Path) -> Any:
    for key in path:
        documents = documents[key]
    return documents


def forged(documents: list[dict[str, Any]]) -> bytes:
    """A record of these documents whose chain and signature fit, as anybody with a key of his own can make it."""
    match_id = documents[0].get("match_id")
    lines, head = chain(documents)
    return Record((*lines, closing(head, match_id if isinstance(match_id, str) else "")), head, b"").to_bytes()


def closing(head: bytes, match_id: str) -> bytes:
    return orjson.dumps({"head": head.hex(), "receipt": final_receipt(KEY, match_id, head, SECRET).hex()})


def judged(data: bytes) -> DamagedRecord | None:
    """What is wrong with a record; whoever reads it, refereeing it or not, gets no other error."""
    try:
        record = parse_record(data)
        _moves(record)
        with contextlib.suppress(DamagedRecord):
            clock_use(record)
        verify(record)
    except DamagedRecord as error:
        return error
    return None


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["", "zz", "00", "11" * 32, "own", "shared", "seeded", "timer", "default", "TIMEOUT", "NORMAL"])
    | st.just(orjson.loads("[" * 200 + "]" * 200)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)

names = st.text(max_size=6) | st.sampled_from(["chance", "joint", "fault", "ended", "annotation", "players"])


@settings(max_examples=100, deadline=None)
@given(data=st.data(), game=st.sampled_from(sorted(GAMES)))
def test_whatever_a_line_holds_the_verdict_names_it(data: st.DataObject, game: str) -> None:
    """Any JSON at any place of a record, or nothing, or a member too many, is found in a line or holds."""
    documents = copy.deepcopy(list(original(game).documents))
    for path in data.draw(st.lists(st.sampled_from(paths(game)), min_size=1, max_size=2)):
        *place, key = path
        try:
            inside = at(documents, tuple(place))
            how = data.draw(st.sampled_from(["other", "known", "less", "more"]))
            if how == "less":
                del inside[key]
            elif how == "more" and isinstance(inside, dict):
                inside[data.draw(names)] = data.draw(json_values)
            else:
                known = st.sampled_from(paths(game)).map(
                    lambda other: copy.deepcopy(at(original(game).documents, other))
                )
                inside[key] = data.draw(known if how == "known" else json_values)
        except (KeyError, IndexError, TypeError):
            continue  # the first change took this place away
    error = judged(forged(documents))
    assert error is None or 1 <= error.line <= len(documents) + 1


def changed(path: Path, value: Any) -> bytes:
    documents = copy.deepcopy(list(original("pop").documents))
    at(documents, path[:-1])[path[-1]] = value
    return forged(documents)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((0, "rules_hash"), "zz"),
        ((0, "attempt"), -1),
        ((0, "attempt"), "1"),
        ((0, "match_id"), 5),
        ((0, "seats", 1), "a bot"),
        ((0, "deal", "mode"), None),
        ((0, "arena_key"), 1),
        ((0, "config", "rounds"), [1]),
        ((-1, "secret"), None),
        ((-1, "places"), 1),
    ],
)
def test_a_member_of_another_kind_is_named_with_its_line(path: Path, value: Any) -> None:
    """The member that is not what it must be is in the message, and its line in the error."""
    error = judged(changed(path, value))
    assert error is not None
    assert error.line == (1 if path[0] == 0 else len(original("pop").documents))
    assert str(path[1]) in str(error)


def test_a_header_without_its_rules_hash_is_damaged() -> None:
    """A member that is missing is named."""
    documents = copy.deepcopy(list(original("pop").documents))
    del documents[0]["rules_hash"]
    with pytest.raises(DamagedRecord, match="line 1: it has no member 'rules_hash'"):
        parse_record(forged(documents))


def test_a_member_as_deep_as_json_may_be_is_damaged() -> None:
    """What is nested deeper than Python repeats is found like any other member that does not belong."""
    head, lines = bytes(32), []
    for number, document in enumerate(original("pop").documents):
        body = orjson.dumps(document)
        if number == 0:
            body = b'{"more":' + b"[" * 1000 + b"]" * 1000 + b"," + body[1:]
        head = hashlib.sha256(head + body).digest()
        lines.append(b'%s,"hash":"%s"}' % (body[:-1], head.hex().encode()))
    error = judged(Record((*lines, closing(head, "m_test")), head, b"").to_bytes())
    assert error is not None
    assert "line 1: the referee writes more" in str(error)

"""Records: chain, signatures, replay."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

from arena.match.record import MOST_BYTES, DamagedRecord, Record, chain, parse_record
from arena.match.referee import Reply
from arena.match.replay import verify
from arena.match.spec import SeatReason
from tests.match.support import KEY, play, spec, uniform


def record_bytes(players: int = 3) -> bytes:
    finished, _ = play(spec(players=players), *(uniform(seat) for seat in range(players)))
    return finished.record.to_bytes()


def packed(lines: list[bytes]) -> bytes:
    return Record(tuple(lines), b"", b"").to_bytes()


def lines_of(data: bytes) -> list[bytes]:
    return gzip.decompress(data).splitlines()


def test_verify_accepts_what_was_played() -> None:
    """A record as written verifies: chain, deal, moves, result and both signatures."""
    verified = verify(parse_record(record_bytes()))
    assert verified.spec == spec()
    assert verified.notes == ()


def test_faults_replay_too() -> None:
    """A match with a timeout, an illegal action and a crash replays to the same record."""
    calls = iter(range(10_000))
    faults = {
        4: Reply(None, SeatReason.TIMEOUT, elapsed_us=3_100_000),
        5: Reply(3_000),
        9: Reply(None, SeatReason.BOT_CRASH),
    }
    decide = uniform(1)
    finished, _ = play(spec(players=5), *[lambda r: faults.get(next(calls)) or decide(r)] * 5)
    assert sum(reason is not SeatReason.NORMAL for reason in finished.outcome.reasons) == 3
    verify(parse_record(finished.record.to_bytes()))


def test_every_changed_byte_is_found_in_its_line() -> None:
    """One byte changed anywhere in the text of a record is reported with the line it is in."""
    lines = lines_of(record_bytes(players=2))
    for number in range(0, len(lines), 7):
        for offset in (1, len(lines[number]) // 2, len(lines[number]) - 3):
            changed = bytearray(lines[number])
            changed[offset] ^= 1
            damaged = [*lines[:number], bytes(changed), *lines[number + 1 :]]
            with pytest.raises(DamagedRecord) as caught:
                verify(parse_record(packed(damaged)))
            assert caught.value.line == number + 1


def test_every_changed_byte_of_the_file_is_found() -> None:
    """No byte of the file can be changed unseen, those of the gzip frame included."""
    data = record_bytes(players=2)
    for offset in (*range(14), *range(14, len(data) - 8, 97), *range(len(data) - 8, len(data))):
        changed = bytearray(data)
        changed[offset] ^= 1 << offset % 8
        with pytest.raises(DamagedRecord):
            verify(parse_record(bytes(changed)))


def test_damaged_gzip_names_the_last_good_line() -> None:
    """A file cut off in the middle is reported, with the last line that could be read."""
    data = record_bytes()
    with pytest.raises(DamagedRecord, match="the last good one"):
        parse_record(data[: len(data) // 2])


def rewritten(change: dict[str, object], line: int) -> bytes:
    """A record whose line was changed and whose chain was made to fit again, as a cheating arena without its key would."""
    parsed = parse_record(record_bytes())
    documents = [dict(document) for document in parsed.documents]
    documents[line] |= change
    lines, head = chain(documents)
    closing = json.dumps({"head": head.hex(), "receipt": parsed.receipt.hex()}).encode()
    return packed([*lines, closing])


@pytest.mark.parametrize("cut", [0, 8])
def test_r52_a_file_that_unpacks_without_end_is_no_record(cut: int) -> None:
    """What a few kilobytes unpack to is not taken beyond the bound, whether or not the file is damaged as well."""
    bomb = packed([bytes(MOST_BYTES + 1)])
    bomb = bomb[: len(bomb) - cut] + b"?" * cut
    assert len(bomb) < 64 * 1024
    tracemalloc.start()
    try:
        with pytest.raises(DamagedRecord, match="more than 32 MiB"):
            parse_record(bomb)
        assert tracemalloc.get_traced_memory()[1] < 3 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_rewritten_result_is_found() -> None:
    """Another result under a chain that fits is found by refereeing again."""
    with pytest.raises(DamagedRecord, match="places"):
        verify(parse_record(rewritten({"places": [2, 2, 2]}, -1)))


def test_rewritten_history_needs_the_arenas_key() -> None:
    """A change that the rules allow, under a chain that fits, still fails the signature."""
    with pytest.raises(DamagedRecord, match="signature over match, head"):
        verify(parse_record(rewritten({"ms": 99_999}, -2)))


def test_another_secret_is_found() -> None:
    """The secret shown at the end must be the one committed to at the start."""
    with pytest.raises(DamagedRecord, match="committed"):
        verify(parse_record(rewritten({"secret": "11" * 32}, -1)))


def test_chance_outcome_that_the_seed_does_not_give_is_found() -> None:
    """A dealt card swapped for another is found from the seed."""
    parsed = parse_record(record_bytes())
    first, second = parsed.events[3], parsed.events[4]
    with pytest.raises(DamagedRecord, match="the seed gives") as caught:
        verify(parse_record(rewritten({"chance": second["chance"], "text": second["text"]}, 4)))
    assert caught.value.line == 5
    assert first != second


def test_key_in_header() -> None:
    """The record names the arena's public key, which receipts are checked against."""
    assert parse_record(record_bytes()).header["arena_key"] == KEY.public_key().public_bytes_raw().hex()

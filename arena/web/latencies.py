"""How long a bot thinks, apart from the network between it and the arena: read from the records of its last matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from arena.errors import ArenaError
from arena.match.record import DamagedRecord, parse_record
from arena.match.referee import Source
from arena.storage.matches import MatchRow
from arena.storage.records import RecordStore

MATCHES: Final = 20
"""The newest so many matches are looked at."""
KEPT: Final = 2_000

Sample = tuple[int, int, int]
"""A decision: seat, thinking time and network's round trip, both in microseconds."""


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a bot's decisions in ms, and over how many decisions of how many matches."""

    p50: float
    p95: float
    slowest: float


@dataclass(frozen=True, slots=True)
class Latency:
    """``thinking``: from the request's write to the answer, less ``network``, the round trip measured by pings."""

    thinking: Times
    network: Times
    decisions: int
    matches: int


class Latencies:
    """Reads records, each once: they never change."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._samples = lru_cache(KEPT)(self._read)

    def of(self, bot: str, matches: Sequence[MatchRow]) -> Latency | None:
        """The bot's latency in the first MATCHES of ``matches``; None if it decided nothing there.

        For a thread: it reads files. Records that are gone or damaged count for nothing.
        """
        thinking: list[int] = []
        network: list[int] = []
        looked = matches[:MATCHES]
        for match in looked:
            mine = {seat for seat, one in enumerate(match.seats) if one.bot == bot}
            for seat, thought, travelled in self._samples(match.record_digest):
                if seat in mine:
                    thinking.append(thought)
                    network.append(travelled)
        if not thinking:
            return None
        return Latency(_times(thinking), _times(network), len(thinking), len(looked))

    def _read(self, digest: str) -> tuple[Sample, ...]:
        try:
            record = parse_record(self._records.read(digest))
        except (ArenaError, DamagedRecord):
            return ()
        return tuple(
            (part["seat"], max(0, part.get("us", 0) - part.get("rtt_us", 0)), part.get("rtt_us", 0))
            for event in record.events
            for part in event.get("joint", ())
            if part["source"] == Source.BOT
        )


def _times(samples_us: Iterable[int]) -> Times:
    ordered = [us / 1000 for us in sorted(samples_us)]
    last = len(ordered) - 1
    return Times(ordered[last // 2], ordered[last * 95 // 100], ordered[last])

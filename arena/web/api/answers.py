"""What the API answers. Times are ms since 1970, durations ms, places count from 1, scores are the game's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.storage.incidents import Incident
from arena.storage.matches import AttemptRow, MatchRow
from arena.storage.overview import WorkerRow
from arena.storage.queries import Counters, RatingPoint, TableRow
from arena.web.film import Picture
from arena.web.latencies import Latency


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a request, as RFC 9457 has it."""

    title: str
    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Time that a bot has: a bank, an increment a decision, and a cap a decision (0: none)."""

    bank_ms: int
    increment_ms: int
    move_cap_ms: int


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder. ``entries`` of its ledger, one a rated set; ``bots`` on it; ``export``: where all that they rest on can be had,
    as a file for ``arena verify ladder`` (202 while it is being made)."""

    slug: str
    game: str
    players: int
    config: Mapping[str, bool | int]
    time_control: TimeControl
    active: bool
    entries: int
    bots: int
    export: str


@dataclass(frozen=True, slots=True)
class Ladders:
    """All ladders by slug."""

    ladders: tuple[Ladder, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A part of a ladder's live table, best first. ``next`` goes on; null at the end."""

    ladder: str
    rows: tuple[TableRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """A version's rating after each entry of the ledger that moved it, oldest first. ``next`` goes on."""

    ladder: str
    version_id: int
    points: tuple[RatingPoint, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class BotVersion:
    """A version of a bot. ``claimed``: the author's word; the arena has not seen the program."""

    id: int
    label: str
    claimed: bool
    created_at: int
    connected: bool


@dataclass(frozen=True, slots=True)
class BotStanding:
    """Where a version stands; null if it is in no official table of the ladder, or not linked to its anchor."""

    ladder: str
    row: TableRow
    official_rating: float | None
    official_standard_error: float | None


@dataclass(frozen=True, slots=True)
class Rival:
    """How a bot fared against another one, by places, in the last ``counted`` matches."""

    bot: str
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot: versions (newest first), standings, and a summary of its last ``counted`` matches."""

    name: str
    owner: str
    house: bool
    versions: tuple[BotVersion, ...]
    standings: tuple[BotStanding, ...]
    counted: int
    endings: Mapping[str, int]
    rivals: tuple[Rival, ...]
    latency: Latency | None


@dataclass(frozen=True, slots=True)
class Matches:
    """Finished matches that may be shown, newest first. ``next`` goes on."""

    matches: tuple[MatchRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class SetGame:
    """A game of a set."""

    index: int
    match_id: str


@dataclass(frozen=True, slots=True)
class Match:
    """A finished match and how it came about. A deal's secret is null as long as it must be."""

    match: MatchRow
    set_state: str
    deal_mode: str
    attempts: tuple[AttemptRow, ...]
    set: tuple[SetGame, ...]
    record: str
    page: str


@dataclass(frozen=True, slots=True)
class ReplayFrame:
    """The position after ``n`` events in an observer's eyes, and the event that led there."""

    n: int
    board: str
    scores: tuple[int, ...]
    actors: tuple[int, ...]
    text: str
    kind: str
    at_ms: int


def replay_frame(n: int, shown: Picture) -> ReplayFrame:
    """A position as the API tells it: as text."""
    return ReplayFrame(n, shown.text, shown.scores, shown.actors, "; ".join(shown.said), shown.kind, shown.at_ms)


@dataclass(frozen=True, slots=True)
class Replay:
    """A match, position by position, as ``seat`` saw it, or as everybody may (null)."""

    match_id: str
    seat: int | None
    frames: tuple[ReplayFrame, ...]


@dataclass(frozen=True, slots=True)
class GameOption:
    """An option of a game. Integers are from ``low`` to ``high``."""

    default: bool | int
    help: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Game:
    """A game that is installed here. Actions are numbered from 0, chance outcomes go on from there."""

    name: str
    title: str
    min_players: int
    max_players: int
    rules_version: int
    rules_hash: str
    num_actions: int
    num_chance: int
    options: Mapping[str, GameOption]
    summary: str


@dataclass(frozen=True, slots=True)
class Games:
    """All games by name."""

    games: tuple[Game, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """Whether the arena is well. ``problems`` are sentences. ``gateways`` and sessions are null if Redis is silent."""

    problems: tuple[str, ...]
    counters: Counters
    sets: Mapping[str, int]
    matches_by_minute: tuple[int, ...]
    matches_by_ladder: Mapping[str, int]
    workers: tuple[WorkerRow, ...]
    gateways: Mapping[str, int] | None
    decision_p50_s: float | None
    decision_p95_s: float | None
    incidents: tuple[Incident, ...]

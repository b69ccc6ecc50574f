"""``tournament.toml``: everything about an event in one file. docs/tournaments.md explains each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import engines
from arena.errors import UserError
from arena.match.deal import DealMode
from arena.match.spec import TimeControl
from arena.settings import SLUG
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Format
from arena.tournaments.formats.gauntlet import Gauntlet
from arena.tournaments.formats.round_robin import RoundRobin
from arena.tournaments.formats.standings import TIE_BREAKS, Scoring
from arena.tournaments.formats.swiss import Swiss
from arena.tournaments.formats.tables import Tables
from arena.tournaments.toml import Section

Audience: TypeAlias = Literal["hidden", "participants", "public"]
"""Who may see results: the organisers alone, those who play too, or everybody."""
AUDIENCES: Final[tuple[Audience, ...]] = ("hidden", "participants", "public")
OnePer: TypeAlias = Literal["owner", "team", "bot"]

FORMATS: Final = {
    "round-robin": "everybody meets everybody",
    "double-round-robin": "everybody meets everybody twice",
    "swiss": "a number of rounds between those who stand alike",
    "single-elimination": "one loss and out",
    "double-elimination": "two losses and out",
    "gauntlet": "one challenger meets all the others",
    "tables": "a number of rounds at tables of three or more",
}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,79}")
_TIE_BREAKS: Final[Mapping[str, tuple[str, ...]]] = {
    "swiss": ("buchholz-cut-1", "buchholz", "sonneborn-berger"),
    "tables": ("wins", "buchholz"),
}


@dataclass(frozen=True, slots=True)
class EventGame:
    """A game of the event: each pairing plays its sets at each of them."""

    game: str
    players: int
    config: Mapping[str, bool | int]


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot of the list. ``program``: a house bot, a Python file or a command on this machine; on an arena, none."""

    name: str
    program: str = ""
    team: str = ""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """Where the field comes from: the first ``top`` of a ladder's table, a list, or whoever has the join code."""

    ladder: str = ""
    top: int = 0
    bots: tuple[ListedBot, ...] = ()
    join_code: bool = False


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Who may play: how many bots count for each owner or team, house bots or not, and which accounts (none: all)."""

    one_per: OnePer = "bot"
    house: bool = True
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """The event ends with so many sets, or so long after its start; 0: no limit."""

    sets: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class FinalSpec:
    """The best ``top`` play on until their first ``places`` places are certain, or for ``max_sets`` sets."""

    top: int
    places: int
    certainty: float
    max_sets: int


@dataclass(frozen=True, slots=True)
class Publication:
    """Who may see the results of each stage while nobody has said otherwise since."""

    main: Audience = "public"
    final: Audience = "public"


@dataclass(frozen=True, slots=True)
class Absence:
    """A bot that does not come within ``wait_s`` loses the pairing; after ``missed`` in a row it is withdrawn."""

    wait_s: int = 120
    missed: int = 2


@dataclass(frozen=True, slots=True)
class TournamentSpec:
    """An event as its file describes it. ``rounds`` 0: as many as the format needs. ``seed`` makes deals unproven."""

    slug: str
    name: str
    format: str
    games: tuple[EventGame, ...]
    entry: FieldSpec
    time_control: TimeControl = field(default_factory=TimeControl)
    rounds: int = 0
    sets: int = 1
    extra_sets: int = 2
    challenger: str = ""
    third_place: bool = False
    tie_breaks: tuple[str, ...] = ()
    scoring: Scoring = "match"
    deals: DealMode = "own"
    seed: int | None = None
    start: datetime | None = None
    concurrency: int = 0
    eligibility: Eligibility = field(default_factory=Eligibility)
    budget: Budget = field(default_factory=Budget)
    final: FinalSpec | None = None
    publication: Publication = field(default_factory=Publication)
    absence: Absence = field(default_factory=Absence)

    @property
    def seats(self) -> int:
        """Seats of a table: the same in all games."""
        return self.games[0].players

    @property
    def sets_a_pairing(self) -> int:
        """Over all games."""
        return self.sets * len(self.games)

    def form(self, entrants: int) -> Format:
        """The format for so many entrants. Raises UserError if they cannot play it."""
        made: Format
        rounds = self.rounds or max(1, (entrants - 1).bit_length())
        if self.format == "swiss" and not self.entry.bots:  # how many would come nobody knew
            rounds = min(rounds, max(1, entrants - 1 + entrants % 2))
        match self.format:
            case "round-robin" | "double-round-robin":
                made = RoundRobin(1 if self.format == "round-robin" else 2)
            case "swiss":
                made = Swiss(rounds)
            case "gauntlet":
                made = Gauntlet(self.challenger)
            case "tables":
                made = Tables(rounds, self.seats)
            case _:
                made = Elimination(1 if self.format == "single-elimination" else 2, self.third_place)
        try:
            made.rounds(entrants)
        except ValueError as error:
            raise UserError(f"{self.slug}: {error}") from None
        return made


def load(path: Path) -> tuple[TournamentSpec, str]:
    """The event of a file, and its text. Raises UserError with line and key."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    return parse(text, path), text


def parse(text: str, path: Path) -> TournamentSpec:
    """The event that ``text``, of the file ``path``, describes. Raises UserError with line and key."""
    top = Section.parse(text, path)
    top.optional("seed", "start", "final")
    name = top.take("name", str, path.stem)
    slug = top.take("slug", str, re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"))
    if not SLUG.fullmatch(slug) or len(slug) > 40:
        raise top.error(f"up to 40 lower-case letters and digits joined by '-' are needed, not {slug!r}", "slug")
    if "format" not in top:
        raise top.error(f"the key 'format' is needed: one of {', '.join(FORMATS)}")
    kind = top.choice("format", "", FORMATS)
    games = _games(top)
    seats = games[0].players
    if kind == "tables" and seats < 3:
        raise top.error(
            "tables are for games of three seats or more; give each of [[games]] players = 3 or more", "format"
        )
    if kind != "tables" and seats != 2:
        raise top.error(
            f'{kind} pairs two at a time, but the games have {seats} seats; use format = "tables"', "format"
        )
    spec = TournamentSpec(
        slug=slug,
        name=name,
        format=kind,
        games=games,
        entry=_field(top.section("field"), top),
        time_control=_time_control(top.section("time_control")),
        rounds=_rounds(top, kind),
        sets=top.number("sets", 1, 1, 1000),
        extra_sets=top.number("extra_sets", 2, 0, 100),
        challenger=top.take("challenger", str, ""),
        third_place=top.take("third_place", bool, False),
        tie_breaks=_tie_breaks(top, kind),
        scoring=top.choice("scoring", "match" if seats == 2 else "score", ("match", "score")),  # type: ignore[arg-type]
        deals=top.choice("deals", "own", ("own", "shared")),  # type: ignore[arg-type]
        seed=top.number("seed", 0, 0, 2**62) if "seed" in top else None,
        start=_start(top),
        concurrency=top.number("concurrency", 0, 1, 1000),
        eligibility=_eligibility(top.section("eligibility")),
        budget=_budget(top.section("budget")),
        final=_final(top.section("final"), seats) if "final" in top else None,
        publication=_publication(top.section("publication")),
        absence=_absence(top.section("absence")),
    )
    names = [bot.name for bot in spec.entry.bots]
    if spec.final is not None and 0 < (most := len(names) or spec.entry.top) < spec.final.top:
        why = f"a final of {spec.final.top} needs as many bots, and the field has {most}: lower top, or add bots"
        raise top.section("final").error(why, "top")
    if spec.challenger and names and spec.challenger not in names:
        raise top.error(f"{spec.challenger!r} is not in the field: {', '.join(names)}", "challenger")
    top.close()
    return spec


def _games(top: Section) -> tuple[EventGame, ...]:
    sections = top.sections("games")
    if not sections:
        raise top.error('say what is played: [[games]] with game = "..."')
    games = tuple(_game(section) for section in sections)
    for section, game in zip(sections, games, strict=True):
        if game.players != games[0].players:
            raise section.error(
                f"{game.players} players here and {games[0].players} in the first game: they must be as many"
            )
    return games


def _game(section: Section) -> EventGame:
    name = section.need("game", str)
    try:
        rules = engines.get(name)
        players = section.number("players", rules.min_players, 1)
        config = rules.complete_config(players, section.take("config", dict, {}))
    except engines.UnknownGame as error:
        raise section.error(str(error), "game") from None
    except engines.GameError as error:
        raise section.error(str(error)) from None
    section.close()
    return EventGame(rules.name, players, config)


def _rounds(top: Section, kind: str) -> int:
    if kind not in ("swiss", "tables") and "rounds" in top:
        raise top.error(f"the number of rounds of a {kind} follows from its field; leave this out", "rounds")
    return top.number("rounds", 0, 1, 1000)


def _tie_breaks(top: Section, kind: str) -> tuple[str, ...]:
    given = top.words("tie_breaks", _TIE_BREAKS.get(kind, ("head-to-head", "sonneborn-berger", "score")))
    for one in given:
        if one not in TIE_BREAKS:
            raise top.error(f"{one!r} is no tie-break; there are: {', '.join(TIE_BREAKS)}", "tie_breaks")
    return given


def _start(top: Section) -> datetime | None:
    if "start" not in top:
        return None
    start = top.take("start", datetime, datetime.now(UTC))
    if start.tzinfo is None:
        raise top.error("say the time zone too, as in 2027-01-31T18:00:00Z", "start")
    return start


def _field(section: Section, top: Section) -> FieldSpec:
    ladder, listed = section.take("ladder", str, ""), section.take("bots", list, [])
    count, code = section.number("top", 8, 2, 500), section.take("join_code", bool, False)
    section.close()
    if sum((bool(ladder), bool(listed), code)) != 1:
        raise top.error('one of ladder = "...", bots = [...] or join_code = true is needed', "field")
    return FieldSpec(ladder, count if ladder else 0, _bots(section, listed), code)


def _bots(section: Section, listed: list[Any]) -> tuple[ListedBot, ...]:
    found: dict[str, ListedBot] = {}
    for one in listed:
        values = {"name": one, "program": one} if isinstance(one, str) else one
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise section.error('each is a name, or { name = "...", program = "...", team = "..." }', "bots")
        if unknown := set(values) - {"name", "program", "team"}:
            raise section.error(f"a bot has name, program and team, not {sorted(unknown)[0]!r}", "bots")
        if not values.get("name"):
            raise section.error(f"a bot needs a name: {values}", "bots")
        name = Path(values["name"]).stem if values["name"].endswith(".py") else values["name"]
        if not _NAME.fullmatch(name):
            raise section.error(
                f"{name!r} is no name: letters, digits and -_.@+ are; give it a name of its own", "bots"
            )
        if name in found:
            raise section.error(f"{name!r} is there twice; give one a name of its own", "bots")
        found[name] = ListedBot(name, values.get("program", ""), values.get("team", ""))
    if len(found) == 1:
        raise section.error("a field has at least two bots", "bots")
    return tuple(found.values())


def _time_control(section: Section) -> TimeControl:
    usual = TimeControl()
    values = {
        one.name: section.number(one.name, getattr(usual, one.name), int(one.name == "bank_ms"))
        for one in fields(TimeControl)
    }
    section.close()
    return TimeControl(**values)


def _eligibility(section: Section) -> Eligibility:
    one_per: Any = section.choice("one_per", "bot", ("owner", "team", "bot"))
    made = Eligibility(one_per, section.take("house", bool, True), section.words("accounts"))
    section.close()
    return made


def _budget(section: Section) -> Budget:
    made = Budget(section.number("sets", 0, 1), section.number("minutes", 0, 1))
    section.close()
    return made


def _final(section: Section, seats: int) -> FinalSpec:
    top = section.number("top", max(2, seats), max(2, seats), 16)
    certainty = section.take("certainty", float, 0.95)
    if not 0.5 < certainty < 1:
        raise section.error(f"a probability over 0.5 and under 1 is needed, not {certainty:g}", "certainty")
    made = FinalSpec(top, section.number("places", 1, 1, top - 1), certainty, section.number("max_sets", 200, 1))
    section.close()
    return made


def _publication(section: Section) -> Publication:
    results: Any = section.choice("results", "public", AUDIENCES)
    final: Any = section.choice("final", results, AUDIENCES)
    section.close()
    return Publication(results, final)


def _absence(section: Section) -> Absence:
    made = Absence(section.number("wait_s", 120, 1, 86_400), section.number("missed", 2, 1, 100))
    section.close()
    return made

"""Who stands where. Tie-breaks are named in tournament.toml and shown with the table, in the order of their weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from arena.tournaments.formats import tables
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Event, Format, Pairing, Result
from arena.tournaments.formats.round_robin import RoundRobin
from arena.tournaments.formats.swiss import match_points

Scoring: TypeAlias = Literal["match", "score"]
"""``match``: a pairing of two is won, drawn or lost: 1, 1/2 or 0. ``score``: the mean score of its sets."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. Those who are level in everything share a rank and are listed by seed.

    ``won``, ``drawn`` and ``lost`` count pairings, walkovers too; ``tie_breaks`` by name. ``struck``: results do not count.
    """

    rank: int
    name: str
    points: float
    pairings: int
    won: int
    drawn: int
    lost: int
    tie_breaks: Mapping[str, float]
    withdrawn: bool
    struck: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A pairing as one of its players sees it. ``opponents`` is empty for a bye."""

    points: float
    score: float
    opponents: tuple[str, ...]
    best: bool
    level: bool
    played: bool


Lines: TypeAlias = Mapping[str, Sequence[Line]]
TieBreak: TypeAlias = Callable[[str, Lines, Mapping[str, float]], float]


def standings(
    form: Format, event: Event, tie_breaks: Sequence[str] = (), scoring: Scoring = "match"
) -> tuple[Row, ...]:
    """The table as it stands now, best first."""
    struck = _struck(form, event)
    lines = _lines(event, struck, scoring)
    points = {name: sum(line.points for line in own) for name, own in lines.items()}
    broken = {name: {key: TIE_BREAKS[key](name, lines, points) for key in tie_breaks} for name in lines}
    key: dict[str, tuple[float, ...]]
    if isinstance(form, Elimination):
        placed = form.placed(event)
        key = {name: (float(placed[name]),) for name in lines}
    else:
        key = {name: (points[name], *broken[name].values()) for name in lines}
    order = sorted(
        event.entrants, key=lambda one: (one.name in struck, tuple(-value for value in key[one.name]), one.seed)
    )
    rows: list[Row] = []
    for place, entrant in enumerate(order, 1):
        name = entrant.name
        level = bool(rows) and key[rows[-1].name] == key[name] and (name in struck) == rows[-1].struck
        own = lines[name]
        rows.append(
            Row(
                rank=rows[-1].rank if level else place,
                name=name,
                points=points[name],
                pairings=len(own),
                won=sum(line.best and not line.level for line in own),
                drawn=sum(line.level for line in own),
                lost=sum(not line.best for line in own),
                tie_breaks=broken[name],
                withdrawn=entrant.withdrawn,
                struck=name in struck,
            )
        )
    return tuple(rows)


def _struck(form: Format, event: Event) -> frozenset[str]:
    """Of a round robin: those who withdrew before half of their pairings were played. None of their results counts.

    Otherwise whoever happened to meet them early would have played a different tournament.
    """
    if not isinstance(form, RoundRobin):
        return frozenset()
    found = set()
    for entrant in event.entrants:
        if entrant.withdrawn:
            mine = [pairing for pairing in event.pairings if entrant.name in pairing.players]
            played = sum(pairing.id in event.results and event.results[pairing.id].played for pairing in mine)
            if 2 * played < len(mine):
                found.add(entrant.name)
    return frozenset(found)


def _lines(event: Event, struck: frozenset[str], scoring: Scoring) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {entrant.name: [] for entrant in event.entrants}
    for pairing, result in event.finished():
        if not struck.isdisjoint(pairing.players):
            continue
        for player, name in enumerate(pairing.players):
            lines[name].append(_line(event, pairing, result, player, scoring))
    return lines


def _line(event: Event, pairing: Pairing, result: Result, player: int, scoring: Scoring) -> Line:
    name, score = pairing.players[player], result.scores[player]
    others = tuple(one for one in pairing.players if one != name)
    if pairing.bye:
        present = not result.absent
        worth = tables.BYE_SCORE if event.seats > 2 else 1.0
        return Line(worth * present, worth * present, (), present, False, False)
    match = match_points(result.scores, player) if len(pairing.players) == 2 else score
    if result.absent:
        match = score
    top = max(result.scores)
    level = score == top and result.scores.count(top) > 1 and not result.absent
    best = score == top and name not in result.absent
    return Line(match if scoring == "match" else score, score, others, best, level, result.played)


def _buchholz(name: str, lines: Lines, points: Mapping[str, float]) -> list[float]:
    """The points of all opponents; whoever was not met counts as somebody with one's own points."""
    found: list[float] = []
    for line in lines[name]:
        found.extend(points[other] for other in line.opponents) if line.played else found.append(points[name])
    return sorted(found)


def _sonneborn_berger(name: str, lines: Lines, points: Mapping[str, float]) -> float:
    """The points of the opponents, each times what one scored against them."""
    return sum(line.points * points[other] for line in lines[name] if line.played for other in line.opponents)


def _head_to_head(name: str, lines: Lines, points: Mapping[str, float]) -> float:
    """Points from pairings with those who have as many points."""
    level = {other for other, has in points.items() if has == points[name] and other != name}
    return sum(line.points for line in lines[name] if line.opponents and level.issuperset(line.opponents))


TIE_BREAKS: Final[Mapping[str, TieBreak]] = {
    "head-to-head": _head_to_head,
    "buchholz": lambda name, lines, points: sum(_buchholz(name, lines, points)),
    "buchholz-cut-1": lambda name, lines, points: sum(_buchholz(name, lines, points)[1:]),
    "sonneborn-berger": _sonneborn_berger,
    "wins": lambda name, lines, points: float(
        sum(line.best and not line.level and line.played for line in lines[name])
    ),
    "score": lambda name, lines, points: round(sum(line.score for line in lines[name]), 9),
}
"""By the names that tournament.toml uses."""


def cross_table(event: Event) -> dict[tuple[str, str], float]:
    """The score of the first named against the second, summed over their pairings of two."""
    found: dict[tuple[str, str], float] = defaultdict(float)
    for pairing, result in event.finished():
        if len(pairing.players) == 2:
            for player, name in enumerate(pairing.players):
                found[name, pairing.players[1 - player]] += result.scores[player]
    return dict(found)

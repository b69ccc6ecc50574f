"""The API's operations on tournaments, and what they answer. Of a hidden stage they tell as little as the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from arena.settings import SLUG
from arena.storage.tournaments import Tournament as StoredTournament
from arena.tournaments.formats.event import Event, Pairing
from arena.tournaments.formats.standings import Row
from arena.web.api.serving import Operation, Parameter
from arena.web.site import HOT_S, Site
from arena.web.tournaments import EventView, read_event, read_list

EVENTS: Final = 50
PAIRINGS: Final = 200


@dataclass(frozen=True, slots=True)
class TournamentInfo:
    """An event. ``state``: OPEN, RUNNING or FINISHED. ``results`` and ``final_results``: who may see the main stage and the
    final: hidden, participants or public. ``winner`` is null until it is settled and may be known."""

    slug: str
    name: str
    format: str
    games: tuple[str, ...]
    seats: int
    state: str
    results: str
    final_results: str
    entrants: int
    winner: str | None
    created_at: int
    started_at: int | None
    page: str


@dataclass(frozen=True, slots=True)
class Tournaments:
    """Events, the newest first. ``next`` goes on; null at the end."""

    tournaments: tuple[TournamentInfo, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody in the field. ``seed`` is null before the start, and of those who do not play."""

    name: str
    owner: str
    team: str
    seed: int | None
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class Finalists:
    """The final's order so far; ``above``: the probability that each is truly better than the next, one fewer."""

    order: tuple[str, ...]
    above: tuple[float, ...]
    sets: int


@dataclass(frozen=True, slots=True)
class Tournament:
    """An event with its field and, where they may be seen, the main stage's standings (best first) and the final.

    ``over``: why it has ended, "" before."""

    info: TournamentInfo
    over: str
    field: tuple[Entrant, ...]
    standings: tuple[Row, ...]
    final: Finalists | None


@dataclass(frozen=True, slots=True)
class PlayedSet:
    """A set of a pairing and its games' matches. ``set_id`` leads to the set's page; null where it has none."""

    set_id: str | None
    matches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedPairing:
    """Who plays whom. ``scores``, by player, are mean scores of sets, 0..1, and null before the result; a single player has
    a bye. ``label`` says where in a bracket."""

    id: str
    stage: str
    round: int
    label: str
    players: tuple[str, ...]
    scores: tuple[float, ...] | None
    absent: tuple[str, ...]
    sets: tuple[PlayedSet, ...]


@dataclass(frozen=True, slots=True)
class Pairings:
    """A part of an event's pairings, in the order in which they were issued. ``next`` goes on; null at the end."""

    tournament: str
    pairings: tuple[PlayedPairing, ...]
    next: str | None


async def tournaments(site: Site, given: Mapping[str, Any]) -> Tournaments:
    """Tournaments, the newest first"""
    before = int(given["cursor"]) if "cursor" in given else None
    rows, following = await read_list(site, given.get("limit", EVENTS), before)
    shown = tuple(_info(row.event, row.size, row.winner) for row in rows)
    return Tournaments(shown, None if following is None else str(following))


async def tournament(site: Site, given: Mapping[str, Any]) -> Tournament:
    """A tournament: field, standings, final"""
    view, _ = await read_event(site, given["slug"])
    order = view.order
    size = sum(one.seed is not None for one in view.shown.field) or len(view.shown.field)
    return Tournament(
        info=_info(view.event, size, view.winner),
        over=view.shown.over,
        field=tuple(Entrant(one.name, one.owner, one.team, one.seed, one.withdrawn) for one in view.shown.field),
        standings=view.table,
        final=None if order is None else Finalists(order.names, order.above, order.sets),
    )


async def tournament_pairings(site: Site, given: Mapping[str, Any]) -> Pairings:
    """A tournament's pairings with results, sets and matches"""
    view, _ = await read_event(site, given["slug"])
    first, limit = int(given.get("cursor", "0")), given.get("limit", PAIRINGS)
    found = [(stage, event, pairing) for stage, event in view.stages.items() for pairing in event.pairings]
    part = tuple(_pairing(view, *one) for one in found[first : first + limit])
    return Pairings(view.event.spec.slug, part, str(first + limit) if len(found) > first + limit else None)


def _info(event: StoredTournament, size: int, winner: str) -> TournamentInfo:
    spec = event.spec
    return TournamentInfo(
        slug=spec.slug,
        name=spec.name,
        format=spec.format,
        games=tuple(game.game for game in spec.games),
        seats=spec.seats,
        state=str(event.state),
        results=event.audiences["main"],
        final_results=event.audiences["final"],
        entrants=size,
        winner=winner or None,
        created_at=event.created_at,
        started_at=event.started_at,
        page=f"/tournaments/{spec.slug}",
    )


def _pairing(view: EventView, stage: str, event: Event, pairing: Pairing) -> PlayedPairing:
    result = event.results.get(pairing.id)
    return PlayedPairing(
        id=pairing.id,
        stage=stage,
        round=pairing.round,
        label=pairing.label,
        players=pairing.players,
        scores=None if result is None else result.scores,
        absent=() if result is None else tuple(sorted(result.absent)),
        sets=tuple(
            PlayedSet(view.sets.get((pairing.id, number)), tuple(game.match_id for game in played.games))
            for number, played in sorted(view.shown.sets(pairing).items())
        ),
    )


_SLUG: Final = Parameter("slug", "The tournament's slug.", SLUG.pattern, where="path")
_CURSOR: Final = Parameter("cursor", "What `next` of the part before said.", r"[0-9]{1,9}")


def _limit(most: int) -> Parameter:
    return Parameter("limit", "How many at most.", low=1, high=most)


OPERATIONS: Final = (
    Operation("/tournaments", tournaments, Tournaments, HOT_S, (_limit(EVENTS), _CURSOR)),
    Operation("/tournaments/{slug}", tournament, Tournament, HOT_S, (_SLUG,)),
    Operation("/tournaments/{slug}/pairings", tournament_pairings, Pairings, HOT_S, (_SLUG, _limit(PAIRINGS), _CURSOR)),
)

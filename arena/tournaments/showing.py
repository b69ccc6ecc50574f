"""What of an event may be shown to whom, as one document: for terminals, JSON and the archive's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.storage import tournaments as store
from arena.tournaments.formats.event import Event, Pairing
from arena.tournaments.formats.final import Order
from arena.tournaments.formats.standings import Row
from arena.tournaments.progress import STAGES, SetPlayed, Stage, State

VIEWERS: Final[tuple[str, ...]] = ("public", "participants", "organiser")
_OPEN_TO: Final[Mapping[str, tuple[str, ...]]] = {
    "public": ("public",),
    "participants": ("public", "participants"),
    "organiser": ("public", "participants", "hidden"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """An event as one viewer sees it: the stages of ``visible``, and nothing that follows from the others."""

    event: store.Tournament
    field: tuple[store.Participant, ...]
    state: State | None
    visible: frozenset[Stage]

    @property
    def table(self) -> tuple[Row, ...]:
        """The main stage's standings; nothing while they are hidden."""
        return self.state.table() if self.state and "main" in self.visible else ()

    @property
    def order(self) -> Order | None:
        """The final's order so far."""
        return self.state.final_order() if self.state and "final" in self.visible else None

    @property
    def places(self) -> tuple[str, ...]:
        """Everybody, best first, once both stages may be seen."""
        return self.state.final_table() if self.state and set(STAGES) <= self.visible else ()

    @property
    def over(self) -> str:
        """Why the event ended; a hidden stage's end is nobody's business either."""
        return self.event.reason if set(STAGES) <= self.visible else ""

    def stages(self) -> Sequence[tuple[Stage, Event]]:
        """Visible stages in which something was paired."""
        if self.state is None:
            return ()
        events: dict[Stage, Event] = {"main": self.state.main, "final": self.state.final}
        return [(stage, events[stage]) for stage in STAGES if stage in self.visible and events[stage].pairings]

    def sets(self, pairing: Pairing) -> Mapping[int, SetPlayed]:
        """The sets of a pairing by number."""
        return self.state.sets.get(pairing.id, {}) if self.state else {}


def viewer_of(account: str | None, field: Sequence[store.Participant], organisers: Sequence[str]) -> str:
    """As which of VIEWERS an account, or somebody without one, sees an event."""
    if account in organisers:
        return "organiser"
    return "participants" if account in {one.owner for one in field} else "public"


def visible_to(event: store.Tournament, viewer: str) -> frozenset[Stage]:
    """The stages whose results one of VIEWERS may see. Without a final there is one stage."""
    open_to = _OPEN_TO[viewer]
    seen = {stage for stage in STAGES if event.audiences[stage] in open_to}
    if event.spec.final is None:
        seen = seen | {"final"} if "main" in seen else set()
    return frozenset(seen)


def document(shown: Shown) -> dict[str, Any]:
    """All of it as JSON."""
    event, spec = shown.event, shown.event.spec
    order = shown.order
    return {
        "slug": spec.slug,
        "name": spec.name,
        "format": spec.format,
        "games": [{"game": one.game, "players": one.players, "config": dict(one.config)} for one in spec.games],
        "time_control": spec.time_control.to_json(),
        "deals": spec.deals,
        "state": str(event.state),
        "over": shown.over,
        "started_at": event.started_at,
        "finished_at": event.finished_at if shown.over else None,
        "audiences": dict(event.audiences),
        "shown": sorted(shown.visible),
        "field": [
            {"name": one.name, "owner": one.owner, "team": one.team, "seed": one.seed, "withdrawn": one.withdrawn}
            for one in shown.field
        ],
        "table": [_row(row) for row in shown.table],
        "final": None
        if order is None
        else {"order": list(order.names), "above": [round(p, 4) for p in order.above], "sets": order.sets},
        "places": list(shown.places),
        "pairings": [
            _pairing(shown, stage, staged, pairing) for stage, staged in shown.stages() for pairing in staged.pairings
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "name": row.name,
        "points": row.points,
        "pairings": row.pairings,
        "won": row.won,
        "drawn": row.drawn,
        "lost": row.lost,
        "tie_breaks": dict(row.tie_breaks),
        "withdrawn": row.withdrawn,
        "struck": row.struck,
    }


def _pairing(shown: Shown, stage: Stage, event: Event, pairing: Pairing) -> dict[str, Any]:
    result = event.results.get(pairing.id)
    return {
        "id": pairing.id,
        "stage": stage,
        "round": pairing.round,
        "label": pairing.label,
        "players": list(pairing.players),
        "scores": None if result is None else list(result.scores),
        "absent": [] if result is None else sorted(result.absent),
        "sets": [
            [
                {
                    "match_id": game.match_id,
                    "places": list(game.places),
                    "scores": list(game.scores),
                    "reasons": list(game.reasons),
                    "record": game.record,
                    "duration_ms": game.duration_ms,
                }
                for game in played.games
            ]
            for _, played in sorted(shown.sets(pairing).items())
        ],
    }

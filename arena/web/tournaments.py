"""Tournaments: the list, and a page each with standings, bracket or grid, and rounds; large for a projector.

Pages show what everybody may see: a hidden stage is on none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.storage import tournaments as store
from arena.storage.tournaments import Tournament, TournamentState
from arena.tournaments.bracket import bracket
from arena.tournaments.crosstable import Grid, grid
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Event, Pairing
from arena.tournaments.formats.final import Order
from arena.tournaments.formats.standings import Row
from arena.tournaments.progress import STAGES, Stage, State
from arena.tournaments.showing import Shown, visible_to
from arena.web.parts import Parts
from arena.web.site import NotHere, Site

PAGE: Final = 50
KEEP_S: Final = 3600.0
NEAR: Final = 4
"""Rounds before and after the shown one that can be gone to at once."""
PROJECTED: Final = 12
"""Rows that can be read from the last row of seats."""
PROJECTED_ROUNDS: Final = 4
"""Columns of a bracket, likewise."""

At = tuple[Stage, int]
"""A round of a stage."""


@dataclass(frozen=True)
class EventView:
    """An event as everybody may see it. ``sets``: ids of played sets by pairing and number."""

    shown: Shown
    sets: Mapping[tuple[str, int], str]

    @property
    def event(self) -> Tournament:
        """The event itself."""
        return self.shown.event

    @property
    def state(self) -> State | None:
        """What has happened, if the main stage may be seen."""
        return self.shown.state if "main" in self.shown.visible else None

    @cached_property
    def table(self) -> tuple[Row, ...]:
        """The main stage's standings."""
        return self.shown.table

    @cached_property
    def order(self) -> Order | None:
        """The final's order so far."""
        return self.shown.order

    @cached_property
    def stages(self) -> Mapping[Stage, Event]:
        """Visible stages in which something was paired."""
        return dict(self.shown.stages())

    @cached_property
    def rounds(self) -> tuple[At, ...]:
        """All visible rounds in which something was paired, in their order; of an event that is over, was played."""
        return tuple(
            (stage, number)
            for stage, event in self.stages.items()
            for number in sorted({one.round for one in event.pairings if not self.over or one.id in event.results})
        )

    @property
    def over(self) -> bool:
        """Whether nothing is played any more."""
        return self.event.state == TournamentState.FINISHED

    @cached_property
    def now(self) -> At | None:
        """The round that is being played, or else the last one."""
        if not self.rounds:
            return None
        if self.over:
            return self.rounds[-1]
        stage, event = list(self.stages.items())[-1]
        return stage, min((pairing.round for pairing in event.open), default=event.last_round)

    @cached_property
    def winner(self) -> str:
        """Who has won, once that is settled and may be known."""
        places = self.shown.places if self.over else ()
        return places[0] if places else ""

    @cached_property
    def progress(self) -> tuple[int, int]:
        """Visible pairings with a result, and all visible ones that were issued so far."""
        issued = [pairing for event in self.stages.values() for pairing in event.pairings]
        return sum(map(self.decided, issued)), len(issued)

    def decided(self, pairing: Pairing) -> bool:
        """Whether a visible pairing has its result."""
        return any(pairing.id in event.results for event in self.stages.values())

    @cached_property
    def participants(self) -> Mapping[str, store.Participant]:
        """The field by name."""
        return {one.name: one for one in self.shown.field}

    @cached_property
    def knockout(self) -> bool:
        """Whether losers are out: then points say nothing."""
        return self.state is not None and isinstance(self.state.form, Elimination)

    def rounds_of(self, stage: Stage) -> int:
        """How many rounds a stage has, as far as is known; of an event that is over, those that it came to."""
        if self.over:
            return max(number for of, number in self.rounds if of == stage)
        if stage == "main" and self.state is not None:
            return self.state.form.rounds(len(self.state.main.entrants))
        return self.stages[stage].last_round

    def rounds_near(self, at: At) -> Sequence[At]:
        """The rounds around one: some before and after it, the first and the last."""
        number, last = self.rounds.index(at), len(self.rounds) - 1
        return [one for k, one in enumerate(self.rounds) if k in (0, last) or abs(k - number) <= NEAR]

    def pairings(self, at: At) -> list[Pairing]:
        """Of one round."""
        return [pairing for pairing in self.stages[at[0]].pairings if pairing.round == at[1]]

    @cached_property
    def grid(self) -> Grid | None:
        """Everybody against everybody, or round by round, where the format has it."""
        return grid(self.state.form, self.state.main, self.table) if self.state else None

    def bracket(self, link: Any = lambda pairing_id: "", last_rounds: int = 0) -> Markup:
        """An elimination's; empty of any other format."""
        form = self.state.form if self.state else None
        if self.state is None or not isinstance(form, Elimination):
            return Markup("")
        return bracket(form, self.state.main, link, last_rounds)


@dataclass(slots=True)
class _Memory:
    """The last view of an event, as long as nothing has changed in it: a large one takes a while to read."""

    kept: tuple[tuple[Any, ...], EventView] | None = None

    def look(self, connection: Connection, slug: str) -> tuple[EventView, frozenset[str]]:
        """The view, and which pairings are being played now. Raises NotHere."""
        marker = store.marker(connection, slug)
        if not marker:
            raise NotHere(f"there is no tournament {slug!r}")
        kept = self.kept
        if kept is None or kept[0] != marker:
            self.kept = kept = marker, _read(connection, slug)
        event = kept[1].event
        running = event.state == TournamentState.RUNNING
        return kept[1], store.playing(connection, event.id) if running else frozenset()


def _read(connection: Connection, slug: str) -> EventView:
    event = store.get(connection, slug)
    state = None if event.state == TournamentState.OPEN else store.load(connection, event)
    shown = Shown(event, store.participants(connection, event.id), state, visible_to(event, "public"))
    return EventView(shown, store.set_ids(connection, event.id))


async def read_event(site: Site, slug: str) -> tuple[EventView, frozenset[str]]:
    """An event as everybody may see it, and which pairings are being played now. Raises NotHere."""

    async def new() -> _Memory:
        return _Memory()

    memory = await site.cache.get(("event", slug), KEEP_S, new)
    return await site.read(partial(memory.look, slug=slug))


@dataclass(frozen=True, slots=True)
class EventRow:
    """A row of the list. ``size`` of the field; ``winner`` once that is settled and may be known."""

    event: Tournament
    size: int
    winner: str


async def read_list(site: Site, limit: int, before: int | None) -> tuple[tuple[EventRow, ...], int | None]:
    """Events, the newest first, and before which id the next part goes on."""

    def read(connection: Connection) -> tuple[Sequence[Tournament], Mapping[int, int]]:
        events = store.newest(connection, limit + 1, before)
        return events, store.sizes(connection, [event.id for event in events])

    events, sizes = await site.read(read)
    rows = []
    for event in events[:limit]:
        settled = event.state == TournamentState.FINISHED and set(STAGES) <= visible_to(event, "public")
        winner = (await read_event(site, event.spec.slug))[0].winner if settled else ""
        rows.append(EventRow(event, sizes.get(event.id, 0), winner))
    return tuple(rows), rows[-1].event.id if len(events) > limit else None


async def list_topic(site: Site, rest: str) -> Parts:
    """Live parts of a page of the list; ``rest`` is the id before which it begins."""
    before = _number(rest)
    rows, following = await read_list(site, PAGE, before)
    return Parts(
        skeleton=f"tournaments {before or ''} {following or ''}",
        lists={"events": {f"t-{row.event.id}": site.part("_tournaments.html", "event_row", row) for row in rows}},
    )


async def index(request: Request) -> Response:
    """``/tournaments``; ``?before=`` goes on."""
    site: Site = request.app.state.site
    before = _number(request.query_params.get("before", ""))

    async def context() -> Mapping[str, Any]:
        return {"before": before, "following": (await read_list(site, PAGE, before))[1]}

    return await site.live_page(request, f"tournaments:{before or ''}", "tournaments.html", context)


async def event_topic(site: Site, rest: str) -> Parts:
    """Live parts of ``slug/stage-round``; without a round they follow the one that is being played."""
    slug, _, chosen = rest.partition("/")
    view, playing = await read_event(site, slug)
    at = _round(view, chosen)
    base = f"/tournaments/{slug}"
    shown = bool(view.table), view.order is not None, view.grid is not None, at is not None
    return Parts(
        skeleton=f"tournament {slug} {view.event.state} {' '.join(map(str, shown))}",
        blocks={
            "event-facts": site.part("_tournaments.html", "facts", view),
            "event-final": site.part("_tournaments.html", "final", view),
            "event-picture": site.part("_tournaments.html", "picture", view, _links(view, base)),
            "event-round": site.part("_tournaments.html", "round_head", view, at, base),
        },
        lists={
            "standings": _standings(site, view, view.table),
            "pairings": _pairings(site, view, at[0], view.pairings(at), playing) if at else {},
        },
    )


async def projector_topic(site: Site, slug: str) -> Parts:
    """Live parts of an event in large."""
    view, playing = await read_event(site, slug)
    at = view.now
    picture = view.bracket(last_rounds=PROJECTED_ROUNDS)
    return Parts(
        skeleton=f"projector {slug} {bool(view.table)} {view.order is not None} {bool(picture)}",
        blocks={
            "event-facts": site.part("_tournaments.html", "facts", view),
            "event-final": site.part("_tournaments.html", "final", view),
            "event-picture": Markup('<div id="event-picture">{}</div>').format(picture),
            "event-round": site.part("_tournaments.html", "round_name", at),
        },
        lists={
            "standings": _standings(site, view, view.table[:PROJECTED]),
            "pairings": _pairings(site, view, at[0], _open_first(view, at, playing), playing) if at else {},
        },
    )


async def page(request: Request) -> Response:
    """``/tournaments/{slug}``; ``?round=`` chooses a round, ``?projector=1`` shows it large and without chrome."""
    site: Site = request.app.state.site
    slug, chosen = request.path_params["slug"], request.query_params.get("round", "")
    large = request.query_params.get("projector", "") not in ("", "0")

    async def context() -> Mapping[str, Any]:
        view, _ = await read_event(site, slug)
        return {"view": view, "at": _round(view, chosen), "chosen": chosen}

    if large:
        return await site.live_page(request, f"projector:{slug}", "projector.html", context)
    if chosen:
        view, _ = await read_event(site, slug)
        if _round(view, chosen) is None:
            return RedirectResponse(f"/tournaments/{view.event.spec.slug}", 303)
    return await site.live_page(request, f"tournament:{slug}/{chosen}", "tournament.html", context)


def _standings(site: Site, view: EventView, rows: Sequence[Row]) -> dict[str, Markup]:
    return {
        f"e-{view.participants[row.name].seed}": site.part("_tournaments.html", "standing", view, row) for row in rows
    }


def _pairings(
    site: Site, view: EventView, stage: Stage, pairings: Sequence[Pairing], playing: frozenset[str]
) -> dict[str, Markup]:
    return {
        f"p-{one.id}": site.part("_tournaments.html", "pairing", view, stage, one, one.id in playing)
        for one in pairings
    }


def _open_first(view: EventView, at: At, playing: frozenset[str]) -> Sequence[Pairing]:
    """What is played now, then what will be, then what was."""
    return sorted(view.pairings(at), key=lambda one: (view.decided(one), one.id not in playing))[:PROJECTED]


def _round(view: EventView, chosen: str) -> At | None:
    """The round of ``stage-number``, or the present one if nothing was chosen; None if there is none such."""
    if not chosen:
        return view.now
    return next((at for at in view.rounds if f"{at[0]}-{at[1]}" == chosen), None)


def _links(view: EventView, base: str) -> Any:
    """Where a pairing of the main stage is shown."""
    rounds = {pairing.id: pairing.round for pairing in view.stages["main"].pairings} if "main" in view.stages else {}
    return lambda pairing_id: f"{base}?round=main-{rounds[pairing_id]}#p-{pairing_id}" if pairing_id in rounds else ""


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

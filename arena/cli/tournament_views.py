"""How ``arena tournament`` shows things in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.tournaments.crosstable import number
from arena.tournaments.formats.event import Event, Pairing, Result
from arena.tournaments.formats.final import Order
from arena.tournaments.formats.standings import Row
from arena.tournaments.plan import Plan
from arena.tournaments.runner import Moment
from arena.tournaments.showing import Shown

if TYPE_CHECKING:  # it brings scipy, which is slow to import
    from arena.tournaments.simulation import Measured

LIVE_ROWS = 20
KNOWN_SHOWN = 12


def standings_table(rows: Sequence[Row], title: str = "") -> Table:
    """Standings with the tie-breaks that were named."""
    names = list(rows[0].tie_breaks) if rows else []
    table = Table("#", "bot", "points", "W", "D", "L", *names, "", title=title or None)
    for row in rows:
        note = "struck" if row.struck else "withdrawn" if row.withdrawn else ""
        counts = (str(row.won), str(row.drawn), str(row.lost))
        broken = (number(row.tie_breaks[name]) for name in names)
        table.add_row(str(row.rank), row.name, number(row.points), *counts, *broken, note)
    return table


def order_table(order: Order, certainty: float) -> Table:
    """A final's order, and how sure it is that each is better than the next."""
    table = Table("#", "finalist", "P(better than the next)", title=f"final, {order.sets} sets")
    for place, name in enumerate(order.names, 1):
        sure = order.above[place - 1] if place <= len(order.above) else None
        colour = "" if sure is None else "green" if sure >= certainty else "yellow"
        table.add_row(str(place), name, "" if sure is None else Text(f"{sure:.1%}", style=colour))
    return table


def live(moment: Moment) -> RenderableType:
    """What is seen while an event is played."""
    state = moment.state
    event = state.final if state.final.pairings else state.main
    now = [pairing for pairing in event.pairings if pairing.id in {key for key, _ in moment.running}]
    lines = [Text(f"round {pairing.round}  {' - '.join(pairing.players)}", style="cyan") for pairing in now[:8]]
    head = Text(f"{state.played} sets played, {len(event.open)} pairings open, {state.minutes:.1f} min", style="bold")
    order = state.final_order()
    final = state.spec.final
    shown: list[RenderableType] = [standings_table(state.table()[:LIVE_ROWS])]
    if order is not None and final is not None:
        shown.insert(0, order_table(order, final.certainty))
    return Group(*shown, head, *lines)


def event_view(shown: Shown) -> RenderableType:
    """An event as its viewer may see it."""
    spec = shown.event.spec
    parts: list[RenderableType] = [Text(f"{spec.name}: {spec.format}, {shown.event.state}", style="bold")]
    if shown.state is None or not shown.visible:
        parts.append(Text("field: " + ", ".join(one.name for one in shown.field)))
    if shown.state is not None and not shown.visible:
        parts.append(Text("The results are not shown yet."))
    if shown.order is not None and spec.final is not None:
        parts.append(order_table(shown.order, spec.final.certainty))
    if shown.table:
        parts.append(standings_table(shown.table))
    for _, event in shown.stages():
        parts += [pairing_line(one, event) for one in event.open[:8]]
    if shown.over:
        parts.append(Text(f"over: {shown.over}"))
    return Group(*parts)


def pairing_line(pairing: Pairing, event: Event) -> Text:
    """A pairing on one line, with its result if it has one."""
    result: Result | None = event.results.get(pairing.id)
    score = "" if result is None else "  " + " : ".join(number(one) for one in result.scores)
    label = f"  ({pairing.label})" if pairing.label else ""
    return Text(f"round {pairing.round}  {' - '.join(pairing.players)}{'  bye' * pairing.bye}{score}{label}")


def plan_view(likely: Plan, longest: Plan) -> RenderableType:
    """A schedule, and the pairings that are known from the field alone."""
    table = Table("stage", "round", "pairings", "sets", "games", "starts", "ends")
    for one in likely.rounds:
        spans = (clock(one.start_s), clock(one.end_s))
        table.add_row(one.stage, str(one.number), str(len(one.pairings)), str(one.sets), str(one.games), *spans)
    known = [pairing for one in likely.rounds if one.known for pairing in one.pairings]
    lines = [Text(f"round {one.round}  {' - '.join(one.players)}{'  bye' * one.bye}") for one in known[:KNOWN_SHOWN]]
    if len(known) > KNOWN_SHOWN:
        lines.append(Text(f"and {len(known) - KNOWN_SHOWN} more that are known already"))
    if any(not one.known for one in likely.rounds):
        lines.append(Text("Later pairings follow from results."))
    total = Text(
        f"{likely.sets} sets, {likely.games} games, about {clock(likely.duration_s)}; at most {longest.sets} sets, "
        f"{longest.games} games, {clock(longest.duration_s)}, if everything is level and every clock runs down",
        style="bold",
    )
    return Group(table, *lines, total)


def clock(seconds: float) -> str:
    """h:mm:ss."""
    return str(timedelta(seconds=round(seconds)))


def simulation_table(measured: Sequence[Measured], bots: int) -> Table:
    """Formats side by side."""
    table = Table("format", "best wins", "±", "best in 3", "winner's rank", "games", "rounds", title=f"{bots} bots")
    for one in measured:
        table.add_row(
            one.candidate,
            f"{one.best_won:.0%}",
            f"{1.96 * one.error:.0%}",
            f"{one.best_in_three:.0%}",
            f"{one.winners_rank:.2f}",
            f"{one.games:,.0f}",
            f"{one.rounds:.0f}",
        )
    return table

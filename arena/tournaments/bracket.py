"""An elimination's bracket as inline SVG, for the arena's pages and the archive. Colours come from the style sheet.

Time goes from left to right, a column a round. A place that nobody plays for, because of a bye, is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Final

from markupsafe import Markup

from arena.tournaments.crosstable import number
from arena.tournaments.formats.elimination import PENDING, Elimination, Node, Slot, winner_of
from arena.tournaments.formats.event import Event

WIDTH: Final = 190
LINE: Final = 23
"""Height of one of the two names in a box."""
COLUMN: Final = 224
ROW: Final = 62
HEAD: Final = 26
MARGIN: Final = 4
LONGEST: Final = 16
"""Letters of a name that fit."""


@dataclass(slots=True)
class _Layout:
    """Where each node stands: column and row, the latter in units of a box, from the top."""

    nodes: Mapping[str, Node]
    rows: dict[str, float] = field(default_factory=dict)
    used: int = 0

    def place(self, node: Node) -> float:
        """The row of a node: between those before it in its own bracket, or a new one."""
        before = [self.place(self.nodes[one]) for one in _before(node, self.nodes)]
        if not before:
            before = [float(self.used)]
            self.used += 1
        self.rows[node.id] = mean(before)
        return self.rows[node.id]


def bracket(
    form: Elimination, event: Event, link: Callable[[str], str] = lambda pairing_id: "", last_rounds: int = 0
) -> Markup:
    """The bracket as far as it is known; empty before there is a field.

    ``link``: the address of a pairing, "" for none. ``last_rounds``: only so many columns from the right, 0 for all.
    """
    known = form.known(event) if len(event.entrants) > 1 else {}
    drawn = {node.id: node for node, players in known.items() if None not in players}
    first = max((node.round for node in drawn.values()), default=0) - last_rounds + 1 if last_rounds else 1
    drawn = {name: node for name, node in drawn.items() if node.round >= first}
    if not drawn:
        return Markup("")
    layout = _Layout(drawn)
    _arrange(layout)
    columns = sorted({node.round for node in drawn.values()})
    at = {
        name: (
            MARGIN + columns.index(node.round) * COLUMN,
            HEAD + MARGIN + round(layout.rows[name] * ROW),
        )
        for name, node in drawn.items()
    }
    players = {node.id: found for node, found in known.items()}
    parts = [_heads(drawn.values(), columns)] if form.losses == 1 else []
    if "third" in at:
        parts.append(_head(at["third"][0], at["third"][1] - 7, drawn["third"].label))
    parts += [_wire(at[before], at[name]) for name, node in drawn.items() for before in _feeding(node, drawn)]
    parts += [_box(node, players[name], event, at[name], link) for name, node in drawn.items()]
    width = len(columns) * COLUMN - (COLUMN - WIDTH) + 2 * MARGIN
    height = max(y for _, y in at.values()) + 2 * LINE + 2 * MARGIN
    return Markup(
        '<svg class="bracket" role="group" aria-label="Bracket" width="{0}" height="{1}" viewBox="0 0 {0} {1}">{2}</svg>'
    ).format(width, height, Markup("").join(parts))


def _arrange(layout: _Layout) -> None:
    """Rows for all nodes: the winners' bracket, below it the losers', the match for the third place below the final."""
    feeding = {before for node in layout.nodes.values() for before in _before(node, layout.nodes)}
    roots = sorted(
        (node for node in layout.nodes.values() if node.id not in feeding),
        key=lambda node: ("wflt".index(node.id[0]), -node.round, node.id),
    )
    for node in roots:
        layout.place(node)


def _feeding(node: Node, drawn: Mapping[str, Node]) -> list[str]:
    """The nodes whose winners play here."""
    if node.id == "final2":
        return ["final1"] if "final1" in drawn else []
    return [source.node for source in node.sources if source.node in drawn and source.outcome == "winner"]


def _before(node: Node, drawn: Mapping[str, Node]) -> list[str]:
    """Those of them in the same bracket; the grand final goes on from the winners'."""
    own = {"final1": "w", "final2": "f"}.get(node.id, node.id[0])
    return [name for name in _feeding(node, drawn) if name[0] == own]


def _heads(nodes: Iterable[Node], columns: Sequence[int]) -> Markup:
    """What each column of a single elimination is called."""
    names = {node.round: node.label for node in nodes if node.id[0] == "w"}
    return Markup("").join(
        _head(MARGIN + k * COLUMN, HEAD - 11, names.get(column, "")) for k, column in enumerate(columns)
    )


def _head(x: int, y: int, text: str) -> Markup:
    return Markup('<text class="head" x="{}" y="{}">{}</text>').format(x, y, text)


def _wire(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    x, y = start[0] + WIDTH, start[1] + LINE
    middle, to = end[0] - (COLUMN - WIDTH) // 2, end[1] + LINE
    return Markup('<path class="wire" d="M{} {}H{}V{}H{}"/>').format(x, y, middle, to, end[0])


def _box(
    node: Node, players: tuple[Slot, Slot], event: Event, at: tuple[int, int], link: Callable[[str], str]
) -> Markup:
    pairing, result = event.issued.get(node.id), event.results.get(node.id)
    winner = winner_of(pairing, result, event) if pairing is not None and result is not None else None
    x, y = at
    lines = Markup("")
    for k, player in enumerate(players):
        name = player if isinstance(player, str) else ""
        score = ""
        if result is not None and pairing is not None and name in pairing.players:
            score = "–" if result.absent else number(result.scores[pairing.players.index(name)])
        seed = event.by_name[name].seed if name else ""
        kind = "winner" if name and name == winner else "loser" if winner else "open"
        baseline = y + k * LINE + 16
        lines += Markup(
            '<g class="{}"><text class="seed" x="{}" y="{}">{}</text><text x="{}" y="{}">{}</text>'
            '<text class="score" x="{}" y="{}">{}</text></g>'
        ).format(
            kind,
            x + 24,
            baseline,
            seed,
            x + 31,
            baseline,
            _short(name) if name else "·",
            x + WIDTH - 8,
            baseline,
            score,
        )
    title = f"{node.label}: {' – '.join(one if isinstance(one, str) else '?' for one in players)}"
    box = Markup(
        '<title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="6"/><path class="rule" d="M{} {}h{}"/>{}'
    ).format(title, x, y, WIDTH, 2 * LINE, x, y + LINE, WIDTH, lines)
    address = link(node.id) if pairing is not None else ""
    if address:
        return Markup('<a class="node" href="{}">{}</a>').format(address, box)
    return Markup('<g class="node{}">{}</g>').format(" waits" if PENDING in players else "", box)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

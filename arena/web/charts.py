"""Small pictures as inline SVG. Colours come from the style sheet; no styles are inline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import Markup

SPARK: Final = (80, 20)
CHART: Final = (720, 240)
MAX_POINTS: Final = 360
ROUND_STEPS: Final = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)


def sparkline(values: Sequence[float | None], *, stretch: bool = False) -> Markup:
    """A line without axes, its end marked; gaps where a value is None; nothing to see of fewer than two values.

    ``stretch``: it fills whatever room it gets, and its end is not marked.
    """
    known = [value for value in values if value is not None]
    width, height = SPARK
    if len(known) < 2:
        return Markup('<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"></svg>').format(width, height)
    low, high = min(known), max(known)
    points = [
        None if value is None else (index / (len(values) - 1) * (width - 4) + 2, _scaled(value, low, high, height))
        for index, value in enumerate(values)
    ]
    if stretch:
        return Markup(
            '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true"><path d="{}"/></svg>'
        ).format(width, height, path(points))
    last = next(point for point in reversed(points) if point is not None)
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"/><circle cx="{:.1f}" cy="{:.1f}" r="2"/>'
        "</svg>"
    ).format(width, height, path(points), *last)


def bars(values: Sequence[float]) -> Markup:
    """One bar a value, the newest at the right."""
    width, height = SPARK
    top = max([*values, 1])
    step = width / max(len(values), 1)
    rectangles = Markup("").join(
        Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            index * step, height - size, max(step - 1, 0.8), size
        )
        for index, size in enumerate(max(value / top * (height - 1), 0.8) for value in values)
    )
    return Markup(
        '<svg class="spark bars" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(width, height, rectangles)


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart. ``hue`` is its colour; ``values`` are evenly spaced, each sure to ``margins`` if these are given."""

    label: str
    hue: int
    values: tuple[float, ...]
    margins: tuple[float, ...] = ()

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The lower and upper ends of the intervals; nothing without margins."""
        pairs = [(value - margin, value + margin) for value, margin in zip(self.values, self.margins, strict=False)]
        return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart: ``svg`` stretches to any size; ``ticks`` are for labels beside it, the highest first."""

    svg: Markup
    ticks: tuple[int, ...]
    low: float
    high: float


def line_chart(series: Sequence[Series], title: str) -> Chart | None:
    """A chart of the series over one scale with round ticks; None if there is nothing to draw.

    The scale holds all values and the last interval of each; wider ones, as of beginners, are cut off.
    """
    drawn = [replace(one, values=thin(one.values), margins=thin(one.margins)) for one in series]
    values = [value for one in drawn for value in one.values]
    values += [bound for one in drawn for bounds in one.bounds() for bound in bounds[-1:]]
    if not values:
        return None
    ticks = round_ticks(min(values), max(values))
    low, high = ticks[0], ticks[-1]
    width, height = CHART

    def placed(points: Sequence[float]) -> list[tuple[float, float]]:
        inside = [min(max(value, low), high) for value in points]
        return [(x, height - (value - low) / (high - low) * height) for x, value in _spaced(inside, width)]

    grid = Markup("").join(
        Markup('<line class="grid" x1="0" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(width, y, y)
        for y in (height - (tick - low) / (high - low) * height for tick in ticks)
    )
    bands = Markup("").join(
        Markup('<path class="band hue-{}" d="{}z"/>').format(one.hue, path([*placed(lower), *placed(upper)[::-1]]))
        for one in drawn
        for lower, upper in [one.bounds()]
        if lower
    )
    lines = Markup("").join(
        Markup('<path class="line hue-{}" d="{}"><title>{}</title></path>').format(
            one.hue, path(placed(one.values)), one.label
        )
        for one in drawn
        if one.values
    )
    svg = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}{}{}</svg>'
    ).format(width, height, title, grid, bands, lines)
    return Chart(svg, tuple(reversed(ticks)), low, high)


def round_ticks(low: float, high: float, most: int = 5) -> tuple[int, ...]:
    """Round numbers, ascending, that hold ``low`` and ``high`` between them; at least two."""
    for step in ROUND_STEPS:
        first, last = int(low // step) * step, -int(-high // step) * step
        last = max(last, first + step)
        if (last - first) // step < most:
            break
    return tuple(range(first, last + step, step))


def thin(values: Sequence[float], most: int = MAX_POINTS) -> tuple[float, ...]:
    """At most so many of the values, first and last among them."""
    if len(values) <= most:
        return tuple(values)
    return tuple(values[round(index * (len(values) - 1) / (most - 1))] for index in range(most))


def path(points: Sequence[tuple[float, float] | None]) -> str:
    """An SVG path through the points, lifted where one is missing."""
    parts, down = [], False
    for point in points:
        if point is not None:
            parts.append(f"{'L' if down else 'M'}{point[0]:.1f} {point[1]:.1f}")
        down = point is not None
    return "".join(parts)


def _spaced(values: Sequence[float], width: float) -> list[tuple[float, float]]:
    if len(values) == 1:
        return [(0.0, values[0]), (width, values[0])]
    return [(index / (len(values) - 1) * width, value) for index, value in enumerate(values)]


def _scaled(value: float, low: float, high: float, height: float) -> float:
    if high == low:
        return height / 2
    return height - 3 - (value - low) / (high - low) * (height - 6)

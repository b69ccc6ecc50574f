"""Plays an event in thought: for the dry run, for simulations, and for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from arena.tournaments.formats.event import Entrant, Event, Format, Pairing, Result, automatic_results


def rehearse(
    form: Format,
    event: Event,
    decide: Callable[[Pairing], Result],
    between: Callable[[Event], Event] = lambda event: event,
) -> Event:
    """The event at its end, where ``decide`` says how each pairing goes and ``between`` what happens before each issue."""
    while True:
        event = between(event)
        event = replace(event, results={**event.results, **automatic_results(event)})
        pairings = event.open or form.next_pairings(event)
        if not pairings:
            return event
        event = replace(event, pairings=(*event.pairings, *(one for one in pairings if one.id not in event.issued)))
        event = replace(event, results={**event.results, **automatic_results(event)})
        event = replace(event, results={**event.results, **{one.id: decide(one) for one in event.open}})


def field(names: Sequence[str] | int, seats: int = 2) -> Event:
    """An event about to begin: entrants by seed, or so many named "1", "2", ..."""
    listed = [str(k + 1) for k in range(names)] if isinstance(names, int) else names
    return Event(tuple(Entrant(name, seed) for seed, name in enumerate(listed, 1)), seats=seats)

"""A recorded match refereed again, and its events in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from arena.match.record import DamagedRecord, ParsedRecord, parse_record
from arena.match.referee import ChanceDrawn, Event, Played, Source
from arena.match.replay import verify
from engines import State

HIDDEN: Final = "something hidden"

Eyes: TypeAlias = int | Literal["all"] | None
"""A seat, everybody's at once, or None: a spectator's."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record as far as it could be refereed again. ``problem`` is None if all of it holds."""

    record: ParsedRecord
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    problem: str | None

    @property
    def players(self) -> int:
        """Seats."""
        return len(self.record.header["seats"])


def replayed(data: bytes) -> Replayed:
    """Referees a record file again. Raises DamagedRecord if there is nothing to show."""
    record = parse_record(data)
    try:
        verified = verify(record)
    except DamagedRecord as error:
        return Replayed(record, (), (), str(error))
    return Replayed(record, verified.events, verified.notes, None)


def describe(event: Event, eyes: Eyes) -> tuple[str, ...]:
    """An event in words, a text for each seat that acted, as far as ``eyes`` saw it."""
    game, before = event.before.game, event.before
    if isinstance(event, ChanceDrawn):
        seen = eyes == "all" or before.sees(eyes, None, event.outcome)
        return (game.text(event.outcome) if seen else HIDDEN,)
    return tuple(_part(before, part, eyes) for part in event.parts)


def _part(before: State, part: Played, eyes: Eyes) -> str:
    """Why something was played is told to those whose seat it is: a forced move tells about a hand."""
    inside = eyes in ("all", part.seat)
    if part.action is None:
        text = "nothing"
    elif inside or (eyes != "all" and before.sees(eyes, part.seat, part.action)):
        text = before.game.text(part.action)
    else:
        text = HIDDEN
    fault = f" – {part.fault.lower()}" if part.fault else ""
    if not inside:
        return f"{text}{fault}"
    why = {Source.FORCED: " (forced)", Source.DEFAULT: " (default)", Source.TIMER: " (timer)"}.get(part.source, "")
    return f"{text}{why}{fault}: {part.detail}" if fault and part.detail else f"{text}{why}{fault}"


def kind_of(event: Event) -> str:
    """``chance``, ``move`` or ``fault``."""
    if isinstance(event, ChanceDrawn):
        return "chance"
    return "fault" if any(part.fault for part in event.parts) else "move"


def state_after(event: Event) -> State:
    """The position that an event led to."""
    if isinstance(event, ChanceDrawn):
        return event.before.apply_chance(event.outcome)
    if event.ended:
        return event.before
    return event.before.apply({part.seat: part.action for part in event.parts if part.action is not None})

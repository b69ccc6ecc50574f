"""A recorded match as positions to step through, for anybody's eyes: a spectator's or one seat's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import engines
from arena.match.record import DamagedRecord, ParsedRecord, parse_record
from arena.match.referee import ChanceDrawn, Event, Played, Source
from arena.match.replay import verify
from engines import State


@dataclass(frozen=True, slots=True)
class Frame:
    """The position after ``n`` events, and the event that led there.

    ``board`` as one observer sees it, ``scores`` as they are public. ``actors``: the seats whose event it was; none for
    chance and at the beginning. ``text`` says what happened, ``kind`` is ``start``, ``chance``, ``move`` or ``fault``.
    """

    n: int
    board: str
    scores: tuple[int, ...]
    actors: tuple[int, ...]
    text: str
    kind: str
    at_ms: int

    def to_json(self) -> list[Any]:
        """A short form, since there are many."""
        return [self.board, self.scores, self.actors, self.text, self.kind, self.at_ms]


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


def frames(match: Replayed, seat: int | None) -> Iterator[Frame]:
    """All positions as ``seat`` (None: a spectator) could see them, the first and the last one included."""
    if not match.events:
        return
    first = match.events[0].before
    yield Frame(0, first.render(seat), first.scores(), (), "The match begins.", "start", 0)
    for event, following in zip(match.events, [*match.events[1:], None], strict=True):
        after = following.before if following is not None else _after(event)
        actors = () if isinstance(event, ChanceDrawn) else tuple(part.seat for part in event.parts)
        yield Frame(
            event.seq + 1,
            after.render(seat),
            after.scores(),
            actors,
            describe(event, seat),
            _kind(event),
            event.at_ms,
        )


def describe(event: Event, seat: int | None) -> str:
    """An event in words, as far as the observer could see it."""
    game = event.before.game
    if isinstance(event, ChanceDrawn):
        return game.text(event.outcome) if event.before.sees(seat, None, event.outcome) else "something hidden"
    return "; ".join(_part(game, event.before, part, seat) for part in event.parts)


def _part(game: engines.Game, before: State, part: Played, seat: int | None) -> str:
    if part.action is None:
        text = "nothing"
    elif seat == part.seat or before.sees(seat, part.seat, part.action):
        text = game.text(part.action)
    else:
        text = "something hidden"
    why = {Source.FORCED: " (forced)", Source.DEFAULT: " (default)", Source.TIMER: " (timer)"}.get(part.source, "")
    fault = f" – {part.fault.lower()}: {part.detail}" if part.fault else ""
    return f"{text}{why}{fault}"


def _kind(event: Event) -> str:
    if isinstance(event, ChanceDrawn):
        return "chance"
    return "fault" if any(part.fault for part in event.parts) else "move"


def _after(event: Event) -> State:
    """The position that the last event led to."""
    if isinstance(event, ChanceDrawn):
        return event.before.apply_chance(event.outcome)
    if event.ended:
        return event.before
    return event.before.apply({part.seat: part.action for part in event.parts if part.action is not None})

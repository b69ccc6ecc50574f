"""A film while it is made: what one pair of eyes sees of a table, frame by frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from arena.match.referee import Event
from arena.web.film import Picture, seen, shortened
from arena.web.replay import Eyes, state_after
from engines import State


class Reel:
    """The frames so far, as ``docs/boards.md`` has them, for the eyes of a seat or of a spectator."""

    def __init__(self, eyes: Eyes, first: State) -> None:
        self.frames: Final[list[dict[str, Any]]] = []
        self._eyes = eyes
        self._clocks = (None,) * first.players  # a person's own clock is told with each question
        self._pictures: deque[Picture] = deque()
        self._shortened = shortened(iter(self._pictures.popleft, None))
        self._take(None, first)

    def add(self, events: Sequence[Event]) -> None:
        """Goes on with what has happened."""
        for number, event in enumerate(events, 1):
            after = events[number].before if number < len(events) else state_after(event)
            self._take(event, after)

    def _take(self, event: Event | None, state: State) -> None:
        self._pictures.append(seen(event, state, self._eyes, self._clocks))
        self.frames.append(next(self._shortened))

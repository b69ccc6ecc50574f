"""The way out of a session: to the bot, to the workers and to the timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from google.protobuf.message import Message

from arena.gateway.session.model import (
    Changed,
    CloseStream,
    Effect,
    Failure,
    SessionLimits,
    Timer,
    TimerKind,
    ToWorker,
    Wake,
)
from arena.gateway.session.outbox import Outbox, Written, encode_event
from botarena.internal.v1 import relay_pb2 as rpb

QUEUE_EVENTS_A_GAME: Final = 4
QUEUE_BYTES_A_GAME: Final = 8 * 1024


class Outlet:
    """Gathers what a call into the session brings about. ``now_us`` is the time of that call.

    ``overflow`` is called when more waits for the bot than it would with no game running; see :meth:`is_overfull`.
    """

    def __init__(self, session_id: str, limits: SessionLimits, overflow: Callable[[], None]) -> None:
        self.now_us = 0
        self.stream: int | None = None
        """The number of the stream that is open."""
        self._session_id: Final = session_id
        self._limits: Final = limits
        self._overflow: Final = overflow
        self._streams = 0
        self.outbox = Outbox()
        """What waits for the bot."""
        self._compacted = False
        self._effects: list[Effect] = []

    # -- the bot

    def open(self) -> None:
        """A new stream has come, with nothing to write yet."""
        self._streams += 1
        self.stream = self._streams
        self._renew()

    def take(self) -> bytes:
        """The next frame for the bot; empty if nothing waits."""
        frame = self.outbox.take(self.now_us)
        if not self.outbox:
            self._compacted = False
        return frame

    def tell(self, message: Message, *, on_write: Written | None = None, vital: bool = False) -> None:
        """Queue one kind of ArenaEvent for the bot, if it is there. ``vital``: never dropped for a fresher state."""
        if self.stream is None:
            return
        self.restate(message, on_write=on_write, vital=vital)
        if self.is_overfull(games=0):
            self._overflow()

    def restate(self, message: Message, *, on_write: Written | None = None, vital: bool = False) -> None:
        """As :meth:`tell` for what makes up the state of a fresh stream or queue, however long it is."""
        self.outbox.push(encode_event(message), on_write=on_write, vital=vital)

    def is_overfull(self, *, games: int) -> bool:
        """Whether more waits than a bot with so many games may leave unread."""
        return (
            len(self.outbox) > self._limits.queue_events + QUEUE_EVENTS_A_GAME * games
            or self.outbox.size > self._limits.queue_bytes + QUEUE_BYTES_A_GAME * games
        )

    def compact(self) -> bool:
        """Drop what a fresh state replaces. False if that was done before and the bot has still not read it all."""
        if self._compacted:
            return False
        self._compacted = True
        self.outbox.compact()
        return True

    def close(self, last: Message | None = None, failure: Failure | None = None, *, flush: bool = False) -> None:
        """End the stream, if one is open: with what waits if ``flush``, with ``last``, and with ``failure``."""
        if self.stream is None:
            return
        waiting = self.outbox.take(self.now_us) if flush else b""
        self._effects.append(
            CloseStream(self.stream, waiting + (encode_event(last) if last is not None else b""), failure)
        )
        self.shut()

    def shut(self) -> None:
        """The stream is no more."""
        self.stream = None
        self._renew()

    def _renew(self) -> None:
        self.outbox = Outbox()
        self._compacted = False
        self.changed()

    # -- everybody else

    def to_worker(self, worker: str, event: rpb.GatewayEvent) -> None:
        """Tell a worker."""
        event.session = self._session_id
        self._effects.append(ToWorker(worker, event))

    def wake(self, at_us: int, kind: TimerKind, ref: str, number: int = 0) -> None:
        """Look at it again then."""
        self._effects.append(Wake(at_us, Timer(kind, ref, number)))

    def changed(self) -> None:
        """The registry shows something else now."""
        self._effects.append(Changed())

    def effects(self) -> list[Effect]:
        """All that has gathered; it is the caller's now."""
        effects, self._effects = self._effects, []
        return effects

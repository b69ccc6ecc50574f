"""What waits to be written to a bot's stream: bounded, and already encoded, so that its size is known."""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

from google.protobuf.message import Message

from botarena.v1 import play_pb2 as pb

FRAME_BYTES: Final = 128 * 1024
"""A frame to a bot is cut after the event that passes this size."""

_TAGS: Final = {
    f.message_type.name: bytes((f.number << 3 | 2,)) for f in pb.ArenaEvent.DESCRIPTOR.fields if f.message_type
}
_EVENTS_TAG: Final = b"\x0a"
"""Field 1, length-delimited: ``events`` of each kind of frame, a bot's and a relay's alike."""


class Written(Protocol):
    """Something that wants to know when it was written."""

    def written(self, now_us: int) -> None:
        """It goes out now."""


def encode_event(message: Message) -> bytes:
    """One kind of ArenaEvent, such as a Ping, as an element of PlayResponse.events.

    Equal to ``PlayResponse(events=[ArenaEvent(ping=message)]).SerializeToString()``, without the two copies that this
    would make of each request.
    """
    body = message.SerializeToString()
    head = _TAGS[message.DESCRIPTOR.name] + _varint(len(body))
    return b"".join((_EVENTS_TAG, _varint(len(head) + len(body)), head, body))


def encode_element(event: bytes) -> bytes:
    """An encoded event as an element of its frame; frames are such elements one after the other."""
    return _EVENTS_TAG + _varint(len(event)) + event


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    if value < 0x4000:  # most of them
        return bytes((value & 0x7F | 0x80, value >> 7))
    return bytes((value & 0x7F | 0x80,)) + _varint(value >> 7)


class Outbox(deque[tuple[bytes, Written | None, bool]]):
    """A queue of encoded events for one stream. ``size``: the bytes that wait."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def push(self, event: bytes, *, on_write: Written | None = None, vital: bool = False) -> None:
        """Add an event. One that is ``vital`` survives :meth:`compact`."""
        self.append((event, on_write, vital))
        self.size += len(event)

    def compact(self) -> None:
        """Drop all that a fresh state replaces."""
        vital = [entry for entry in self if entry[2]]
        self.clear()
        self.extend(vital)
        self.size = sum(len(event) for event, _, _ in vital)

    def take(self, now_us: int) -> bytes:
        """The next frame, empty if nothing waits. Whoever asked for it is told that it was written."""
        parts = []
        size = 0
        while self and size < FRAME_BYTES:
            event, on_write, _ = self.popleft()
            parts.append(event)
            size += len(event)
            if on_write is not None:
                on_write.written(now_us)
        self.size -= size
        return b"".join(parts)

"""What waits to be written to a bot's stream: bounded, and already encoded, so that its size is known."""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

from google.protobuf.message import Message

from botarena.v1 import play_pb2 as pb

FRAME_BYTES: Final = 128 * 1024
"""A frame to a bot is cut after the event that passes this size."""

_FIELDS: Final = {f.message_type.name: f.number for f in pb.ArenaEvent.DESCRIPTOR.fields if f.message_type}
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
    return encode_element(bytes([_FIELDS[message.DESCRIPTOR.name] << 3 | 2]) + _varint(len(body)) + body)


def encode_element(event: bytes) -> bytes:
    """An encoded event as an element of its frame; frames are such elements one after the other."""
    return _EVENTS_TAG + _varint(len(event)) + event


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class Outbox:
    """A queue of encoded events for one stream."""

    __slots__ = ("_bytes", "_events")

    def __init__(self) -> None:
        self._events: deque[tuple[bytes, Written | None, bool]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return self._bytes

    def push(self, event: bytes, *, on_write: Written | None = None, vital: bool = False) -> None:
        """Add an event. One that is ``vital`` survives :meth:`compact`."""
        self._events.append((event, on_write, vital))
        self._bytes += len(event)

    def compact(self) -> None:
        """Drop all that a fresh state replaces."""
        self._events = deque(entry for entry in self._events if entry[2])
        self._bytes = sum(len(event) for event, _, _ in self._events)

    def take(self, now_us: int) -> bytes:
        """The next frame, empty if nothing waits. Whoever asked for it is told that it was written."""
        parts = []
        size = 0
        while self._events and size < FRAME_BYTES:
            event, on_write, _ = self._events.popleft()
            parts.append(event)
            size += len(event)
            if on_write is not None:
                on_write.written(now_us)
        self._bytes -= size
        return b"".join(parts)

"""Ids of spans: random, but for a set's first one. Imported where traces are on alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator


class Ids(RandomIdGenerator):
    """Random ids, except within :meth:`next`."""

    def __init__(self) -> None:
        self._next: ContextVar[tuple[int, int] | None] = ContextVar("next span", default=None)

    @contextmanager
    def next(self, trace_id: int, span_id: int) -> Iterator[None]:
        """The span that starts within has these ids."""
        token = self._next.set((trace_id, span_id))
        try:
            yield
        finally:
            self._next.reset(token)

    def generate_trace_id(self) -> int:
        """As the SDK wants it."""
        chosen = self._next.get()
        return super().generate_trace_id() if chosen is None else chosen[0]

    def generate_span_id(self) -> int:
        """As the SDK wants it."""
        chosen = self._next.get()
        return super().generate_span_id() if chosen is None else chosen[1]

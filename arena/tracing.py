"""Traces by OpenTelemetry: one trace a set, from its pairing to its settlement, through all processes. Off by default.

The standard variables turn it on: ``OTEL_EXPORTER_OTLP_ENDPOINT`` or ``OTEL_TRACES_EXPORTER=otlp``; the extra
``bot-arena[otel]`` brings what it needs, and without them no tracer is imported.

Trace and root span of a set are computed from its id, so that whoever knows the id can go on with its trace: a doorbell
that is lost and rung again, or a worker that helps itself, loses nothing. Gateways, which know no set, are told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from arena.errors import UserError

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry's variables ask for traces."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "")
    return exporter == "otlp" or (exporter != "none" and any(environ.get(name) for name in ENDPOINTS))


class Traces:
    """This process's spans. Before :meth:`start`, and unless traces are wanted, nothing is done."""

    def __init__(self) -> None:
        self._tracer: Tracer | None = None
        self._provider: Any = None
        self._ids: Any = None

    @property
    def on(self) -> bool:
        """Whether spans go anywhere."""
        return self._tracer is not None

    def start(self, service: str, exporter: Any = None) -> None:
        """Begins to export, if it is wanted; to ``exporter`` in tests. Raises UserError if what it needs is not there."""
        if self.on or (exporter is None and not wanted(os.environ)):
            return
        try:
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - not imported unless it is on
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor  # noqa: PLC0415

            from arena.tracing_ids import Ids  # noqa: PLC0415

            if exporter is None:
                from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

                processor: Any = BatchSpanProcessor(OTLPSpanExporter())
            else:
                processor = SimpleSpanProcessor(exporter)
        except ModuleNotFoundError as error:
            raise UserError(f"traces need {error.name}: pip install 'bot-arena[otel]'") from None
        self._ids = Ids()
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", f"arena-{service}")})
        self._provider = TracerProvider(id_generator=self._ids, resource=resource)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("arena")

    def stop(self) -> None:
        """Exports what is left."""
        if self._provider is not None:
            self._provider.shutdown()
            self._tracer = self._provider = None

    def root(self, set_id: str, name: str, took_s: float, **attributes: Any) -> None:
        """The first span of a set's trace, which took so long and ends now."""
        if self._tracer is None:
            return
        from opentelemetry.context import Context  # noqa: PLC0415

        began_ns = time.time_ns() - round(took_s * 1e9)
        with self._ids.next(*_ids_of(set_id)):
            span = self._tracer.start_span(
                name, Context(), start_time=began_ns, attributes={"set_id": set_id, **attributes}
            )
        span.end()

    def span(self, name: str, set_id: str = "", parent: str = "", **attributes: Any) -> AbstractContextManager[Any]:
        """A span around the block: of a set's trace, or below ``parent`` (a traceparent), or below the present one."""
        if self._tracer is None:
            return nullcontext()
        context = _context(set_id, parent)
        return self._tracer.start_as_current_span(name, context, attributes=attributes)

    def begin(self, name: str, parent: str, **attributes: Any) -> Span | None:
        """A span below ``parent`` that somebody else ends; None if traces are off."""
        if self._tracer is None:
            return None
        return self._tracer.start_span(name, _context("", parent), attributes=attributes)

    def traceparent(self) -> str:
        """The present span as W3C's traceparent has it; empty if traces are off."""
        if self._tracer is None:
            return ""
        from opentelemetry.trace import get_current_span  # noqa: PLC0415

        held = get_current_span().get_span_context()
        return f"00-{held.trace_id:032x}-{held.span_id:016x}-{held.trace_flags:02x}" if held.is_valid else ""


TRACES: Final = Traces()
"""Of this process."""


def _ids_of(set_id: str) -> tuple[int, int]:
    digest = sha256(set_id.encode()).digest()
    return int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big")


def _context(set_id: str, parent: str) -> Any:
    """The OpenTelemetry context to start a span in; None means the present one."""
    if not set_id and not parent:
        return None
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context  # noqa: PLC0415

    if set_id:
        trace_id, span_id = _ids_of(set_id)
        flags = TraceFlags.SAMPLED
    else:
        _, trace, span, sampled = parent.split("-")
        trace_id, span_id, flags = int(trace, 16), int(span, 16), int(sampled, 16)
    return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, True, TraceFlags(flags))))

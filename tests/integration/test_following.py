"""One match followed through all processes of an arena: by its log lines, and as one trace at a real OTLP receiver."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from arena.errors import UserError
from arena.settings import load
from arena.tracing import wanted
from tests.integration.harness import DEMO_BOT, Arena, until

WHOLE = {"pairing", "doorbell", "claim", "set", "offer", "seat offered", "match", "seat", "settle"}
"""The spans of a set that a bot at a gateway plays in."""


class Receiver:
    """Takes what OTLP exporters send over HTTP."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        """Each span with the name of the service that it is of."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    of = {one.key: one.value.string_value for one in resource.resource.attributes}
                    for scope in resource.scope_spans:
                        receiver.spans += [(of["service.name"], span) for span in scope.spans]
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        yield
        self.server.shutdown()
        thread.join()
        self.server.server_close()

    def traces(self) -> dict[bytes, list[tuple[str, Any]]]:
        """Spans by trace."""
        found: dict[bytes, list[tuple[str, Any]]] = {}
        for service, span in list(self.spans):
            found.setdefault(span.trace_id, []).append((service, span))
        return found

    def whole(self) -> list[list[tuple[str, Any]]]:
        """The traces that have a span of each kind, one of a gateway's seat too, and whose set is over."""
        return [
            spans
            for spans in self.traces().values()
            if {span.name for _, span in spans} >= WHOLE
            and ("arena-gateway", "seat") in {(s, x.name) for s, x in spans}
        ]


def attributes(span: Any) -> dict[str, str]:
    """Those that are text."""
    return {one.key: one.value.string_value for one in span.attributes}


def test_a_set_is_one_connected_trace_and_a_match_can_be_followed_by_grep(tmp_path: Path) -> None:
    """Scheduler, worker and gateway export to one trace in which each span has its parent; their JSON lines name the match."""
    receiver = Receiver()
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "ARENA_LOG_FORMAT": "json",
    }
    arena = Arena(tmp_path, environment=environment)
    with receiver.running():
        arena.start()
        try:
            arena.start_bot(DEMO_BOT, arena.register("ann", "demo"), "--credit", "4")
            until(lambda: bool(receiver.whole()), 90, "a whole trace")
        finally:
            arena.stop()
    spans = receiver.whole()[0]
    by_id = {span.span_id: span for _, span in spans}
    assert {service for service, _ in spans} == {"arena-scheduler", "arena-worker", "arena-gateway"}
    roots = [span for _, span in spans if not span.parent_span_id]
    assert [span.name for span in roots] == ["pairing"]
    for _, span in spans:
        assert not span.parent_span_id or span.parent_span_id in by_id, span.name
    parents = {span.name: by_id[span.parent_span_id].name for _, span in spans if span.parent_span_id}
    assert parents == {
        "doorbell": "pairing",
        "claim": "pairing",
        "set": "pairing",
        "offer": "set",
        "match": "set",
        "settle": "match",
        "seat offered": "offer",
        "seat": "offer",
    }
    set_id = attributes(roots[0])["set_id"]
    match_id = next(attributes(span)["match_id"] for _, span in spans if span.name == "match")
    lines = [
        json.loads(line)
        for log in (arena.data / "logs").glob("*.log")
        for line in log.read_text().splitlines()
        if '"ts"' in line
    ]
    of_match = [line for line in lines if line.get("match_id") == match_id]
    assert {line["event"] for line in of_match} >= {"match.started", "seat.started", "seat.ended", "match.finished"}
    assert {line["process"] for line in of_match} >= {"worker", "gateway"}
    assert {line["set_id"] for line in of_match} == {set_id}
    assert "set.queued" in {line.get("event") for line in lines if line.get("set_id") == set_id}


def test_nothing_is_imported_when_traces_are_off() -> None:
    """Without OpenTelemetry's variables the arena imports no tracer and no exporter (redis-py imports other parts itself)."""
    modules = "arena.cli.processes, arena.ladder.process, arena.gateway.process, arena.host.worker"
    program = (
        f"import sys, {modules}; from arena.tracing import TRACES; TRACES.start('x'); "
        "TRACES.root('s_1', 'pairing', 0)\n"
        "with TRACES.span('claim', 's_1'): pass\n"
        "assert TRACES.traceparent() == ''; assert TRACES.begin('seat', '') is None\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk.trace', 'opentelemetry.exporter', "
        "'arena.tracing_ids'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_standard_variables_say_whether_traces_are_on() -> None:
    """An endpoint or an exporter turns them on, and either way of saying no turns them off."""
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    assert not wanted({})
    assert wanted(endpoint)
    assert wanted({"OTEL_TRACES_EXPORTER": "otlp"})
    assert not wanted({**endpoint, "OTEL_TRACES_EXPORTER": "none"})
    assert not wanted({**endpoint, "OTEL_SDK_DISABLED": "true"})


def test_a_log_format_that_there_is_not_is_refused(tmp_path: Path) -> None:
    """The setting is checked where it is read."""
    with pytest.raises(UserError, match="text, json"):
        load({"data_dir": tmp_path, "log.format": "xml"}, environ={})

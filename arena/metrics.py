"""Prometheus metrics, each with one home. No label ever holds a match, and bots appear only in the top of a table."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, start_http_server

LATENCY_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

MATCHES = Counter("arena_matches_total", "Finished matches by how their worst seat ended.", ["game", "reason"])
VOIDS = Counter("arena_voided_attempts_total", "Attempts without a result, by reason.", ["reason"])
DECISIONS = Counter("arena_decisions_total", "Decisions asked of bots.", ["game"])
DECISION_SECONDS = Histogram(
    "arena_decision_seconds", "Time from writing a request to the arrival of its answer.", buckets=LATENCY_BUCKETS_S
)
SETS_RUNNING = Gauge("arena_sets_running", "Sets that this worker plays now.")
LOOP_LATENESS_SECONDS = Gauge("arena_loop_lateness_seconds", "How late this process's event loop last ran a timer.")


def serve(listen: str, offset: int = 0) -> None:
    """Serves this process's metrics at ``host:port``, the port moved by ``offset``, from a thread of its own."""
    host, _, port = listen.rpartition(":")
    start_http_server(int(port) + offset, addr=host)

"""What a gateway counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from arena.gateway.core import GatewayCore
from arena.gateway.tallies import Tallies

_PREFIXES: Final = {
    "act_": ("arena_gateway_acts_refused", "Answers that did not count, by what was wrong.", "code"),
    "refused_": ("arena_gateway_streams_failed", "Streams of bots that were refused or ended, by reason.", "reason"),
}
_PLAIN: Final = {
    "decisions": ("arena_gateway_decisions", "Decisions asked of bots."),
    "frames": ("arena_gateway_frames", "Frames written to bots."),
    "events": ("arena_gateway_events", "Events in frames written to bots."),
    "expired": ("arena_gateway_expired", "Decisions without an answer in time."),
    "strikes": ("arena_gateway_strikes", "Strikes for floods and garbage."),
    "replaced": ("arena_gateway_replaced", "Streams replaced by a newer one of the same instance."),
    "compacted": ("arena_gateway_compacted", "Queues of slow readers replaced by the fresh state."),
    "voided": ("arena_gateway_voided", "Games voided because their worker stayed away."),
}
_OF_BOTS: Final = {
    "decisions": ("arena_gateway_bot_decisions", "Decisions asked of a bot."),
    "expired": ("arena_gateway_bot_expired", "Decisions that a bot did not answer in time."),
    "strikes": ("arena_gateway_bot_strikes", "A bot's strikes for floods and garbage."),
}


class GatewayCollector(Collector):
    """Reads a core's counts when scraped, from whatever thread."""

    def __init__(self, core: GatewayCore) -> None:
        self._core = core

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client wants it."""
        core = self._core
        total = core.tallies.total()
        sessions = core.sessions
        connected = [session for session in sessions if session.connected]
        yield GaugeMetricFamily("arena_gateway_sessions", "Bot processes connected.", len(connected))
        yield GaugeMetricFamily("arena_gateway_games", "Seats of running games.", sum(s.games for s in sessions))
        yield GaugeMetricFamily("arena_gateway_credit", "Matches that the bots take.", sum(s.credit for s in connected))
        late = CounterMetricFamily("arena_gateway_loop_late_seconds", "Time by which the event loop ran late.")
        late.add_metric([], core.clock.late_us / 1e6)
        yield late
        for key, (name, text) in _PLAIN.items():
            yield CounterMetricFamily(name, text, total.counts.get(key, 0))
        for prefix, (name, text, label) in _PREFIXES.items():
            family = CounterMetricFamily(name, text, labels=[label])
            for key, value in sorted(total.counts.items()):
                if key.startswith(prefix):
                    family.add_metric([key.removeprefix(prefix)], value)
            yield family
        answers = HistogramMetricFamily(
            "arena_gateway_answer_seconds", "From the write of a request to the arrival of its answer."
        )
        answers.add_metric([], total.answers.buckets(), total.answers.sum_s)
        yield answers
        yield from _of_bots(core.tallies)


def _of_bots(tallies: Tallies) -> Iterator[Metric]:
    bots = sorted(tallies.bots.items())
    for key, (name, text) in _OF_BOTS.items():
        family = CounterMetricFamily(name, text, labels=["bot"])
        for bot, tally in bots:
            family.add_metric([bot], tally.counts.get(key, 0))
        yield family
    refused = CounterMetricFamily(
        "arena_gateway_bot_acts_refused", "A bot's answers that did not count.", labels=["bot"]
    )
    answers = HistogramMetricFamily("arena_gateway_bot_answer_seconds", "How fast a bot answers.", labels=["bot"])
    for bot, tally in bots:
        refused.add_metric([bot], sum(value for key, value in dict(tally.counts).items() if key.startswith("act_")))
        times = tally.answers.read()
        answers.add_metric([bot], times.buckets(), times.sum_s)
    yield refused
    yield answers

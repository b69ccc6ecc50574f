"""What a gateway counts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from arena.gateway.metrics import GatewayCollector
from arena.gateway.tallies import NAMED, OTHERS, Tallies
from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import BareBot
from tests.gateway.harness import Arena, until


async def test_sessions_answers_and_refusals_are_counted() -> None:
    """After one answer, one duplicate and one bad token the figures say just that."""
    async with Arena() as arena, BareBot(arena.address, arena.issue("alice"), credit=3) as bot:
        registry = CollectorRegistry()
        registry.register(GatewayCollector(arena.core))
        seat = await arena.seat("alice")
        decision = seat.ask(game := seat.start())
        await bot.act(game, decision)
        await bot.act(game, decision)
        assert (await bot.expect("act_result")).code == pb.ActResult.CODE_DUPLICATE
        stranger = BareBot(arena.address, "wrong")
        stranger.pump()
        await stranger.ended()
        await stranger.close()

        def sample(name: str, **labels: str) -> float | None:
            return registry.get_sample_value(name, labels)

        await until(lambda: sample("arena_gateway_streams_failed_total", reason="bad_token") == 1)
        assert sample("arena_gateway_sessions") == 1
        assert sample("arena_gateway_games") == 1
        assert sample("arena_gateway_credit") == 3
        assert sample("arena_gateway_decisions_total") == 1
        assert sample("arena_gateway_acts_refused_total", code="duplicate") == 1
        assert sample("arena_gateway_answer_seconds_count") == 1
        assert sample("arena_gateway_answer_seconds_bucket", le="+Inf") == 1
        assert sample("arena_gateway_bot_decisions_total", bot="alice") == 1
        assert sample("arena_gateway_bot_acts_refused_total", bot="alice") == 1
        assert sample("arena_gateway_bot_answer_seconds_bucket", bot="alice", le="+Inf") == 1


def test_bots_beyond_a_hundred_share_a_name() -> None:
    """Labels stay few however many bots come, and nothing is lost from the total."""
    tallies = Tallies()
    for number in range(NAMED + 20):
        tallies.of(f"bot-{number}").answers.add(1_000)
        tallies.of(f"bot-{number}").counts["decisions"] += 1
    assert len(tallies.bots) == NAMED + 1
    assert tallies.bots[OTHERS].counts["decisions"] == 20
    assert tallies.total().counts["decisions"] == tallies.total().answers.total == NAMED + 20

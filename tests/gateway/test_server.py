"""The play server over real gRPC."""

from __future__ import annotations

from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import BareBot
from tests.gateway.harness import Arena


async def test_a_game_from_hello_to_its_end() -> None:
    """A bot connects, is offered a set, plays a decision and learns how the game ended."""
    async with Arena() as arena, BareBot(arena.address, arena.issue("alice")) as bot:
        assert bot.welcome is not None
        assert (bot.welcome.bot, bot.welcome.protocol) == ("alice", 1000)
        seat = await arena.seat("alice")
        offer_id = seat.offer()
        offered = await bot.expect("set_offered")
        await bot.write(pb.BotEvent(ready=pb.Ready(offer_id=offered.offer_id, nonce=b"n" * 16)))
        assert (await seat.expect("ready")).nonce == b"n" * 16
        game = seat.start(offer_id=offer_id)
        decision = seat.ask(game, legal=[3, 4])
        assert (await bot.expect("match_started")).game_id == game
        request = await bot.expect("decision_requested")
        assert [action.id for action in request.legal] == [3, 4]
        await bot.act(game, request.decision_id, 4)
        answer = await seat.expect("act")
        assert (answer.act.action_id, answer.act.decision_id) == (4, decision)
        assert 0 < answer.elapsed_us < 5_000_000
        seat.end(game, places=[1, 2])
        assert list((await bot.expect("match_ended")).places) == [1, 2]

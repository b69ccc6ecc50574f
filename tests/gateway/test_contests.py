"""Versions, challenges and trials over real gRPC: whose they are, what is refused and how."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from arena.gateway.services import add_services
from arena.storage import accounts
from botarena.v1 import bot_service_pb2 as bots_pb
from botarena.v1 import challenge_service_pb2 as challenges_pb
from botarena.v1 import trial_service_pb2 as trials_pb
from botarena.v1.bot_service_pb2_grpc import BotServiceStub
from botarena.v1.challenge_service_pb2_grpc import ChallengeServiceStub
from botarena.v1.trial_service_pb2_grpc import TrialServiceStub
from tests.gateway.test_services import bearer, refusal
from tests.web.seed import SeededArena
from tests.web.support import CHALLENGE, LADDERS, POP

Code = grpc.StatusCode


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> SeededArena:
    """Two accounts with a bot each, on two ladders."""
    return SeededArena(tmp_path_factory.mktemp("contests"), LADDERS, bots=("zephyr", "updraft"))


def token_of(arena: SeededArena, name: str) -> str:
    """A token of the account that owns a bot."""
    with arena.database.write() as connection:
        bot = accounts.find_bot(connection, name)
        assert bot is not None
        return accounts.create_token(connection, bot.account_id, label="")


@pytest.fixture
async def channel(arena: SeededArena) -> AsyncIterator[grpc.aio.Channel]:
    """A server with the services alone, dialled."""
    server = grpc.aio.server()
    add_services(server, arena.database, arena.records)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as opened:
        yield opened
    await server.stop(0)


async def test_versions_are_their_owners_to_retire(channel: grpc.aio.Channel, arena: SeededArena) -> None:
    """Without a token, with another's, of a version that is not there: refused. Then retired, restored, rolled back."""
    stub: Any = BotServiceStub(channel)
    mine, other = token_of(arena, "zephyr"), token_of(arena, "updraft")
    arena.add_bot("zephyr", "", "2")
    request = bots_pb.RetireVersionRequest(bot="zephyr", version="2")
    assert (await refusal(stub.RetireVersion(request)))[0] == Code.UNAUTHENTICATED
    assert (await refusal(stub.RetireVersion(request, metadata=bearer(other))))[0] == Code.NOT_FOUND
    unknown = bots_pb.RollBackRequest(bot="zephyr", version="7")
    assert (await refusal(stub.RollBack(unknown, metadata=bearer(mine))))[0] == Code.NOT_FOUND

    async def retired() -> dict[str, bool]:
        found = await stub.ListVersions(bots_pb.ListVersionsRequest(bot="zephyr"))
        return {one.version: one.retired for one in found.versions}

    async def latest() -> str:
        found = await stub.GetBot(bots_pb.GetBotRequest(bot="zephyr"))
        assert isinstance(found.bot.latest_version, str)
        return found.bot.latest_version

    assert await latest() == "2"
    await stub.RetireVersion(request, metadata=bearer(mine))
    assert (await latest(), (await retired())["2"]) == ("1.0", True)
    await stub.RestoreVersion(bots_pb.RestoreVersionRequest(bot="zephyr", version="2"), metadata=bearer(mine))
    assert (await latest(), (await retired())["2"]) == ("2", False)
    await stub.RollBack(bots_pb.RollBackRequest(bot="zephyr", version="1.0"), metadata=bearer(mine))
    assert await retired() == {"2": True, "1.0": False}


async def test_a_challenge_from_asking_to_cancelling(channel: grpc.aio.Channel, arena: SeededArena) -> None:
    """Asked for, looked at by anybody, listed for its owner, ended by its owner alone; the third too many is a quota."""
    stub: Any = ChallengeServiceStub(channel)
    mine, other = bearer(token_of(arena, "zephyr")), bearer(token_of(arena, "updraft"))
    request = challenges_pb.CreateChallengeRequest(
        ladder=CHALLENGE, bot="zephyr@1.0", opponents=["updraft", "greedy"], games=4, seed=7
    )
    assert (await refusal(stub.CreateChallenge(request)))[0] == Code.UNAUTHENTICATED
    code, message, _ = await refusal(stub.CreateChallenge(request, metadata=other))
    assert (code, message) == (Code.FAILED_PRECONDITION, "'zephyr' is not a bot of yours")
    asked = (await stub.CreateChallenge(request, metadata=mine)).challenge
    assert (asked.sets, asked.seed, list(asked.players)) == (2, 7, ["zephyr 1.0", "updraft 1.0", "greedy 1"])
    assert list(asked.away) == ["zephyr 1.0", "updraft 1.0"]
    looked = await stub.GetChallenge(challenges_pb.GetChallengeRequest(challenge_id=asked.challenge_id))
    assert looked.challenge == asked
    assert (await stub.ListChallenges(challenges_pb.ListChallengesRequest(), metadata=mine)).challenges[0] == asked
    assert not (await stub.ListChallenges(challenges_pb.ListChallengesRequest(), metadata=other)).challenges
    end = challenges_pb.CancelChallengeRequest(challenge_id=asked.challenge_id)
    assert (await refusal(stub.CancelChallenge(end, metadata=other)))[0] == Code.FAILED_PRECONDITION
    assert (await stub.CancelChallenge(end, metadata=mine)).challenge.over
    for _ in range(3):
        await stub.CreateChallenge(request, metadata=mine)
    code, message, _ = await refusal(stub.CreateChallenge(request, metadata=mine))
    assert code == Code.RESOURCE_EXHAUSTED
    assert "not over" in message
    missing = challenges_pb.GetChallengeRequest(challenge_id="c_none")
    assert (await refusal(stub.GetChallenge(missing)))[0] == Code.NOT_FOUND


async def test_a_trial_from_asking_to_cancelling(channel: grpc.aio.Channel, arena: SeededArena) -> None:
    """Hypotheses by default and as given, no numbers that make no sense, the same rules of whose it is."""
    stub: Any = TrialServiceStub(channel)
    mine, other = bearer(token_of(arena, "zephyr")), bearer(token_of(arena, "updraft"))
    about = {"ladder": POP, "new_version": "zephyr@1.0", "old_version": "random"}
    request = trials_pb.CreateTrialRequest(**about)
    assert (await refusal(stub.CreateTrial(request)))[0] == Code.UNAUTHENTICATED
    assert (await refusal(stub.CreateTrial(request, metadata=other)))[0] == Code.FAILED_PRECONDITION
    for wrong in ({"elo0": 30}, {"alpha": 0.9}, {"elo1": float("nan")}, {"elo1": float("inf")}, {"most_sets": 0}):
        refused = stub.CreateTrial(trials_pb.CreateTrialRequest(**about, **wrong), metadata=mine)
        assert (await refusal(refused))[0] == Code.FAILED_PRECONDITION
    asked = (await stub.CreateTrial(request, metadata=mine)).trial
    assert (asked.elo0, asked.elo1, asked.alpha, asked.beta, asked.most_sets) == (0, 20, 0.05, 0.05, 2_000)
    assert (asked.verdict, asked.llr, asked.over) == (trials_pb.Trial.VERDICT_NONE, 0, False)
    assert asked.upper_bound == -asked.lower_bound == pytest.approx(2.9444, abs=1e-4)
    assert (list(asked.away), len(asked.counts)) == (["zephyr 1.0"], 5)
    looked = await stub.GetTrial(trials_pb.GetTrialRequest(trial_id=asked.trial_id))
    assert looked.trial == asked
    assert [one.trial_id for one in (await stub.ListTrials(trials_pb.ListTrialsRequest(), metadata=mine)).trials] == [
        asked.trial_id
    ]
    end = trials_pb.CancelTrialRequest(trial_id=asked.trial_id)
    assert (await refusal(stub.CancelTrial(end, metadata=other)))[0] == Code.FAILED_PRECONDITION
    ended = (await stub.CancelTrial(end, metadata=mine)).trial
    assert (ended.over, ended.reason, list(ended.away)) == (True, "cancelled", [])

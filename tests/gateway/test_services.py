"""The unary services over real gRPC, on a database with real matches."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

import engines
from arena.gateway import services as services_module
from arena.gateway.calls import Paced
from arena.gateway.limits import Guesses
from arena.gateway.online import Online
from arena.gateway.registry import OnlineSession
from arena.gateway.services import add_services
from arena.match.record import parse_record
from arena.match.replay import verify
from arena.storage import accounts
from arena.storage import matches as stored_matches
from botarena.v1 import bot_service_pb2 as bots_pb
from botarena.v1 import game_service_pb2 as games_pb
from botarena.v1 import ladder_service_pb2 as ladders_pb
from botarena.v1 import match_service_pb2 as matches_pb
from botarena.v1 import trial_service_pb2 as trials_pb
from botarena.v1.bot_service_pb2_grpc import BotServiceStub
from botarena.v1.game_service_pb2_grpc import GameServiceStub
from botarena.v1.ladder_service_pb2_grpc import LadderServiceStub
from botarena.v1.match_service_pb2_grpc import MatchServiceStub
from botarena.v1.trial_service_pb2_grpc import TrialServiceStub
from tests.web.seed import SeededArena
from tests.web.support import CHALLENGE, LADDERS, POP


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> SeededArena:
    """A folder with a few matches."""
    made = SeededArena(tmp_path_factory.mktemp("services"), LADDERS, bots=("zephyr", "updraft"))
    for _ in range(2):
        made.play_any(CHALLENGE)
        made.play_any(POP)
    return made


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


async def refusal(call: Any) -> tuple[grpc.StatusCode, str, dict[str, Any]]:
    """How a call fails: code, message, details by type."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    error = caught.value
    details: dict[str, Any] = {}
    raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    for packed in Status.FromString(raw).details:
        for kind in (ErrorInfo, RetryInfo, BadRequest):
            if packed.Is(kind.DESCRIPTOR):
                details[kind.__name__] = detail = kind()
                packed.Unpack(detail)
    return error.code(), error.details() or "", details


async def record_of(stub: Any, match_id: str) -> bytes:
    """A record, put together."""
    call = stub.DownloadRecord(matches_pb.DownloadRecordRequest(match_id=match_id))
    return b"".join([piece.data async for piece in call])


def lose_record(arena: SeededArena, match_id: str) -> None:
    """Deletes a match's record file."""
    with arena.database.read() as connection:
        digest = stored_matches.match_page(connection, match_id).match.record_digest
    arena.records.path(digest).unlink()


def bearer(token: str) -> tuple[tuple[str, str]]:
    """The metadata of a caller."""
    return (("authorization", f"Bearer {token}"),)


async def test_r44_guesses_of_unary_calls_are_counted(arena: SeededArena) -> None:
    """An address that has shown too many bad tokens is refused by all services, unless its token is known to be good."""
    server = grpc.aio.server()
    guesses = Guesses(at_once=3)
    add_services(server, arena.database, arena.records, guesses=guesses)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with arena.database.write() as connection:
        made, token = accounts.register(connection, "guessed", "guessed-bot")
        fresh = accounts.create_token(connection, made.account_id, label="fresh")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        bots: Any = BotServiceStub(channel)
        trials: Any = TrialServiceStub(channel)
        assert (await bots.CreateToken(bots_pb.CreateTokenRequest(), metadata=bearer(token))).token
        guess = token[:-1] + "?"
        told = [await refusal(bots.CreateToken(bots_pb.CreateTokenRequest(), metadata=bearer(guess))) for _ in range(3)]
        assert {code for code, _, _ in told} == {grpc.StatusCode.UNAUTHENTICATED}
        calls = (
            bots.CreateToken(bots_pb.CreateTokenRequest(), metadata=bearer(fresh)),
            trials.CancelTrial(trials_pb.CancelTrialRequest(), metadata=bearer(guess)),
        )
        for call in calls:
            code, _, details = await refusal(call)
            assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS")
            assert details["RetryInfo"].retry_delay.seconds == 5
        assert (await bots.CreateToken(bots_pb.CreateTokenRequest(), metadata=bearer(token))).token
    assert guesses.may_look("ipv4:192.0.2.1", fresh, time.monotonic_ns() // 1000)
    await server.stop(0)


async def test_r8_an_address_calls_as_fast_as_it_may(arena: SeededArena) -> None:
    """Calls of all services count together, unknown things, and streams of records too."""
    server = grpc.aio.server(interceptors=(Paced(1, 5),))
    add_services(server, arena.database, arena.records)
    health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        games: Any = GameServiceStub(channel)
        matches: Any = MatchServiceStub(channel)
        health: Any = health_pb2_grpc.HealthStub(channel)
        (one,) = (await matches.ListMatches(matches_pb.ListMatchesRequest(page_size=1))).matches
        assert verify(parse_record(await record_of(matches, one.match_id)))
        assert (await refusal(games.GetGame(games_pb.GetGameRequest(name="chess"))))[0] is grpc.StatusCode.NOT_FOUND
        for _ in range(2):
            await games.ListGames(games_pb.ListGamesRequest())
        for call in (games.ListGames(games_pb.ListGamesRequest()), record_of(matches, one.match_id)):
            code, _, details = await refusal(call)
            assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS")
            assert details["RetryInfo"].retry_delay.seconds == 1
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING
    await server.stop(0)


async def test_games_and_their_tables(channel: grpc.aio.Channel) -> None:
    """Games come with options and rules, and the pages of a table give every id its text."""
    stub: Any = GameServiceStub(channel)
    listed = (await stub.ListGames(games_pb.ListGamesRequest())).games
    assert [game.name for game in listed] == list(engines.names())
    pop = (await stub.GetGame(games_pb.GetGameRequest(name="pop"))).game
    assert {option.name for option in pop.options} == set(engines.get("pop").options)
    assert (await stub.GetGame(games_pb.GetGameRequest(name="pop"))).rules.startswith("# ")
    texts: list[games_pb.EventText] = []
    token = ""
    while True:
        page = await stub.ListActions(games_pb.ListActionsRequest(game="pop", page_token=token, page_size=700))
        texts += page.events
        token = page.next_page_token
        if not token:
            break
    game = engines.get("pop")
    assert [event.id for event in texts] == list(range(game.num_actions + game.num_chance))
    assert all(game.text(event.id) == event.text for event in texts[::97])
    assert texts[-1].chance
    assert not texts[0].chance
    code, message, details = await refusal(stub.GetGame(games_pb.GetGameRequest(name="chess")))
    assert code == grpc.StatusCode.NOT_FOUND
    assert "pop" in message
    assert details["BadRequest"].field_violations[0].field == "name"
    code, _, _ = await refusal(stub.ListActions(games_pb.ListActionsRequest(game="pop", page_token="-1")))
    assert code == grpc.StatusCode.INVALID_ARGUMENT


async def test_an_account_from_registration_to_its_end(channel: grpc.aio.Channel) -> None:
    """Register, a second bot, a second token, its end; a revoked token opens nothing."""
    stub: Any = BotServiceStub(channel)
    made = await stub.Register(bots_pb.RegisterRequest(owner="Marie", bot="curie", request_id="1"))
    assert made.bot.owner == "Marie"
    own = bearer(made.token)
    assert (await stub.CreateBot(bots_pb.CreateBotRequest(bot="polonium"), metadata=own)).bot.owner == "Marie"
    second = await stub.CreateToken(bots_pb.CreateTokenRequest(label="laptop"), metadata=own)
    assert second.prefix in second.token
    await stub.RevokeToken(bots_pb.RevokeTokenRequest(prefix=second.prefix), metadata=own)
    code, _, details = await refusal(
        stub.CreateBot(bots_pb.CreateBotRequest(bot="radium"), metadata=bearer(second.token))
    )
    assert code == grpc.StatusCode.UNAUTHENTICATED
    assert details["ErrorInfo"].reason == "BAD_TOKEN"
    assert second.token not in details["ErrorInfo"].reason
    found = (await stub.GetBot(bots_pb.GetBotRequest(bot="CURIE"))).bot
    assert (found.name, found.online, found.house) == ("curie", False, False)


@pytest.mark.parametrize(
    ("owner", "bot", "code", "field"),
    [
        ("x", "fine-name", grpc.StatusCode.INVALID_ARGUMENT, "owner"),
        ("fine-name", "<b>", grpc.StatusCode.INVALID_ARGUMENT, "bot"),
        ("ADA", "fine-name", grpc.StatusCode.ALREADY_EXISTS, None),
        ("fine-name", "Zephyr", grpc.StatusCode.ALREADY_EXISTS, None),
        ("house", "fine-name", grpc.StatusCode.ALREADY_EXISTS, None),
    ],
)
async def test_names_that_cannot_be_had(
    channel: grpc.aio.Channel, owner: str, bot: str, code: grpc.StatusCode, field: str | None
) -> None:
    """A wrong or taken name is refused with the field, and leaves nothing behind."""
    stub: Any = BotServiceStub(channel)
    given, _, details = await refusal(stub.Register(bots_pb.RegisterRequest(owner=owner, bot=bot)))
    assert given == code
    if field:
        assert details["BadRequest"].field_violations[0].field == field
    if bot == "fine-name":
        assert (await refusal(stub.GetBot(bots_pb.GetBotRequest(bot=bot))))[0] == grpc.StatusCode.NOT_FOUND


async def test_calls_that_change_something_need_the_owners_token(channel: grpc.aio.Channel) -> None:
    """Without a token, with garbage, or for somebody else's token nothing happens."""
    stub: Any = BotServiceStub(channel)
    for metadata in ((), (("authorization", "Basic abc"),), bearer("arena_nonsense")):
        for call in (
            stub.CreateBot(bots_pb.CreateBotRequest(bot="b2"), metadata=metadata),
            stub.CreateToken(bots_pb.CreateTokenRequest(), metadata=metadata),
            stub.RevokeToken(bots_pb.RevokeTokenRequest(prefix="x"), metadata=metadata),
        ):
            assert (await refusal(call))[0] == grpc.StatusCode.UNAUTHENTICATED
    mine = await stub.Register(bots_pb.RegisterRequest(owner="owner-one", bot="bot-one"))
    theirs = await stub.Register(bots_pb.RegisterRequest(owner="owner-two", bot="bot-two"))
    prefix = theirs.token.split("_")[1]
    call = stub.RevokeToken(bots_pb.RevokeTokenRequest(prefix=prefix), metadata=bearer(mine.token))
    assert (await refusal(call))[0] == grpc.StatusCode.NOT_FOUND
    await stub.CreateToken(bots_pb.CreateTokenRequest(), metadata=bearer(theirs.token))


async def test_one_address_cannot_register_without_end(arena: SeededArena, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the burst a caller is told to wait, and for how long."""
    monkeypatch.setattr(services_module, "REGISTRATIONS", (1, 2))
    server = grpc.aio.server()
    add_services(server, arena.database, arena.records)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub: Any = BotServiceStub(channel)
        codes = []
        for _ in range(4):
            code, _, details = await refusal(stub.Register(bots_pb.RegisterRequest(owner="x", bot="y")))
            codes.append(code)
        assert codes[0] == grpc.StatusCode.INVALID_ARGUMENT
        assert codes[-1] == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details["RetryInfo"].retry_delay.ToMilliseconds() == 1000
    await server.stop(0)


async def test_a_ladder_comes_in_pages(channel: grpc.aio.Channel, arena: SeededArena) -> None:
    """Pages of two put together are the whole table, with ranks and ratings."""
    stub: Any = LadderServiceStub(channel)
    ladders = (await stub.ListLadders(ladders_pb.ListLaddersRequest())).ladders
    assert {ladder.name for ladder in ladders} == {CHALLENGE, POP}
    whole = (await stub.GetLeaderboard(ladders_pb.GetLeaderboardRequest(ladder=CHALLENGE))).rows
    assert [row.rank for row in whole] == [1, 2, 3, 4, 5]
    assert {row.rating_milli for row in whole if row.anchor} == {1_000_000}
    pieces, token = [], ""
    while True:
        page = await stub.GetLeaderboard(
            ladders_pb.GetLeaderboardRequest(ladder=CHALLENGE, page_size=2, page_token=token)
        )
        pieces += page.rows
        token = page.next_page_token
        if not token:
            break
    assert pieces == list(whole)
    assert (await refusal(stub.GetLeaderboard(ladders_pb.GetLeaderboardRequest(ladder="no"))))[0] == (
        grpc.StatusCode.NOT_FOUND
    )


async def test_matches_are_listed_and_their_records_verify(channel: grpc.aio.Channel) -> None:
    """All matches in pages, newest first; the record in pieces is the file that verifies."""
    stub: Any = MatchServiceStub(channel)
    found: list[matches_pb.MatchInfo] = []
    token = ""
    while True:
        page = await stub.ListMatches(matches_pb.ListMatchesRequest(page_size=3, page_token=token))
        found += page.matches
        token = page.next_page_token
        if not token:
            break
    assert len({match.match_id for match in found}) == len(found) == 10
    assert [match.finished_at for match in found] == sorted((match.finished_at for match in found), reverse=True)
    one = (await stub.GetMatch(matches_pb.GetMatchRequest(match_id=found[0].match_id))).match
    assert one == found[0]
    record = parse_record(await record_of(stub, one.match_id))
    assert verify(record).record.head.hex() == one.record_head
    for request in (
        matches_pb.ListMatchesRequest(bot="nobody"),
        matches_pb.ListMatchesRequest(ladder="nothing"),
    ):
        assert (await refusal(stub.ListMatches(request)))[0] == grpc.StatusCode.NOT_FOUND
    bad = stub.ListMatches(matches_pb.ListMatchesRequest(page_token="forged"))
    assert (await refusal(bad))[0] == grpc.StatusCode.INVALID_ARGUMENT


async def test_a_shared_deal_is_secret_here_too(channel: grpc.aio.Channel, arena: SeededArena) -> None:
    """Of a set with a shared deal that is not over no call gives anything away."""
    stub: Any = MatchServiceStub(channel)
    plan, keep = arena.begin(arena.queue(POP, ["zephyr", "updraft"], "shared"))
    first, second = plan.games
    arena.finish_game(plan, first, keep[first.match_id])
    request = matches_pb.GetMatchRequest(match_id=first.match_id)
    assert (await refusal(stub.GetMatch(request)))[0] == grpc.StatusCode.NOT_FOUND
    listed = (await stub.ListMatches(matches_pb.ListMatchesRequest())).matches
    assert first.match_id not in {match.match_id for match in listed}
    assert (await refusal(record_of(stub, first.match_id)))[0] == grpc.StatusCode.NOT_FOUND
    arena.finish_game(plan, second, keep[second.match_id])
    arena.settle(plan.set_id)
    assert (await stub.GetMatch(request)).match.match_id == first.match_id


async def test_a_lost_record_is_data_loss_and_a_bug_tells_nothing(
    channel: grpc.aio.Channel, arena: SeededArena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that is gone has its own code; an exception of ours shows no trace of itself."""
    stub: Any = MatchServiceStub(channel)
    plan = arena.play(POP, ["zephyr", "updraft"])
    one = (await stub.GetMatch(matches_pb.GetMatchRequest(match_id=plan.games[0].match_id))).match
    lose_record(arena, one.match_id)
    assert (await refusal(record_of(stub, one.match_id)))[0] == grpc.StatusCode.DATA_LOSS

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(stored_matches, "match_page", broken)
    code, message, _ = await refusal(stub.GetMatch(matches_pb.GetMatchRequest(match_id=one.match_id)))
    assert code == grpc.StatusCode.INTERNAL
    assert "secret" not in message
    assert "ZeroDivision" not in message


async def test_online_is_what_the_registry_said_a_moment_ago() -> None:
    """The registry is asked at most every other second, and while it is away nobody is online."""
    from arena.errors import Unavailable

    class Registry:
        asked = 0
        up = True

        async def list_online(self) -> list[OnlineSession]:
            self.asked += 1
            if not self.up:
                raise Unavailable("away")
            one = OnlineSession(7, "0", "s", "g", "r", 70, "b", "1", "o", 1, 0, {})
            return [one]

    registry = Registry()
    online = Online(registry)  # type: ignore[arg-type]
    assert await online.bots() == {7}
    assert await online.versions() == {70}
    assert registry.asked == 1
    registry.up = False
    online._until = 0.0
    assert await online.bots() == frozenset()
    assert await Online(None).versions() == frozenset()

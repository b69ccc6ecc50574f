"""The play server over real gRPC: what good, bad and broken clients get."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest import mock

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.errors import UserError
from arena.gateway import core
from arena.gateway.auth import LocalTokens, Principal
from arena.gateway.clock import SLACK_US, TICK_US, LoopClock
from arena.gateway.limits import KEPT
from arena.gateway.local import LocalGateway
from arena.gateway.server import READ_FRAMES, Admission, PlayServicer, start_play_server
from arena.gateway.session import Identity, SessionLimits
from arena.storage import accounts
from botarena.v1 import play_pb2 as pb
from tests.gateway.bots import METHOD, BareBot
from tests.gateway.harness import PATIENCE_S, Arena, until


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    """An arena on a TCP port."""
    async with Arena() as arena:
        yield arena


async def refusal(bot: BareBot, *frames: bytes) -> tuple[grpc.StatusCode, str, dict[str, Any]]:
    """Open a stream with these frames (Hello if none); how it is ended: code, message, details by type."""
    bot.pump()
    try:
        for frame in frames or (pb.PlayRequest(events=[pb.BotEvent(hello=bot.hello)]).SerializeToString(),):
            await bot.send(frame)
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        pass  # It was ended before it had all.
    code = await bot.ended()
    message = await bot.call.details()
    trailing = dict(await bot.call.trailing_metadata() or ())
    details: dict[str, Any] = {}
    if raw := trailing.get("grpc-status-details-bin"):
        for packed in Status.FromString(raw).details:
            for kind in (ErrorInfo, RetryInfo, BadRequest):
                if packed.Is(kind.DESCRIPTOR):
                    details[kind.__name__] = detail = kind()
                    packed.Unpack(detail)
    await bot.close()
    return code, message, details


async def test_a_game_from_hello_to_its_end(arena: Arena) -> None:
    """A bot connects, is offered a set, plays a decision and learns how the game ended."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
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


async def test_what_is_ready_goes_out_together(arena: Arena) -> None:
    """A hundred events that are ready at once share few frames, in order."""
    async with BareBot(arena.address, arena.issue("alice"), credit=60) as bot:
        seat = await arena.seat("alice")
        games = [seat.start() for _ in range(50)]
        for game in games:
            seat.ask(game)
        asked = [(await bot.expect("decision_requested")).game_id for _ in games]
        assert asked == games
        assert bot.frames < 20


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_bad_token_is_refused(arena: Arena, token: str) -> None:
    """Without a valid token in the metadata nothing is read, and the error does not repeat it."""
    code, message, details = await refusal(BareBot(arena.address, token))
    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert (details["ErrorInfo"].reason, details["ErrorInfo"].domain) == ("BAD_TOKEN", "botarena")
    assert "wrong" not in message


async def test_an_unknown_game_is_refused(arena: Arena) -> None:
    """The error names the games that there are, and the field that is wrong."""
    games = [pb.GameSupport(game="pop"), pb.GameSupport(game="chess")]
    code, message, details = await refusal(BareBot(arena.address, arena.issue("alice"), games=games))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "balloon-challenge, pop" in message
    assert details["ErrorInfo"].reason == "UNKNOWN_GAME"
    assert details["BadRequest"].field_violations[0].field == "hello.games[1].game"


async def test_a_number_of_players_that_a_game_does_not_have_is_refused(arena: Arena) -> None:
    """The error names the numbers that there are."""
    games = [pb.GameSupport(game="balloon-challenge", players=[3, 9])]
    _, message, _ = await refusal(BareBot(arena.address, arena.issue("alice"), games=games))
    assert "9 players" in message
    assert "2, 3, 4, 5" in message


async def test_r19_version_skew_names_the_range(arena: Arena) -> None:
    """A bot of another protocol version learns which ones would do."""
    code, message, details = await refusal(BareBot(arena.address, arena.issue("alice"), protocol=2003))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "2.3" in message
    assert "1.0 to 1.0" in message
    assert details["ErrorInfo"].reason == "VERSION_SKEW"


async def test_r1_an_oversized_frame_ends_the_stream_and_is_a_strike(arena: Arena) -> None:
    """Its clock runs, others play on, and the third time the bot is out."""
    token = arena.issue("big")
    async with BareBot(arena.address, arena.issue("other")) as other:
        for strike in range(3):
            async with BareBot(arena.address, token) as bot:
                if strike == 0:
                    seat = await arena.seat("big")
                    game = seat.start()
                    seat.ask(game, limit_ms=100)
                await bot.send(b"\x0a" * (arena.core.limits.frame_bytes + 1))
                assert await bot.ended() is grpc.StatusCode.RESOURCE_EXHAUSTED
            if strike == 0:
                assert (await seat.expect("expired")).disconnected
        code, _, details = await refusal(BareBot(arena.address, token))
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert 50 < details["RetryInfo"].retry_delay.seconds <= 60
        seat = await arena.seat("other")
        decision = seat.ask(game := seat.start())
        await other.act(game, decision)
        assert (await seat.expect("act")).act.decision_id == decision


@pytest.mark.parametrize("times", [1, READ_FRAMES - 1])
async def test_r1_however_large_a_frame_is_that_is_read_it_is_a_strike(arena: Arena, times: int) -> None:
    """Before Hello and after it: the third one, of whichever kind, is out."""
    token, frame = arena.issue("big"), b"\x0a" * (times * arena.core.limits.frame_bytes + 1)
    for _ in range(2):
        code, _, details = await refusal(BareBot(arena.address, token), frame)
        assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "FRAME_TOO_LARGE")
    async with BareBot(arena.address, token) as bot:
        await bot.send(frame)
        assert await bot.ended() is grpc.StatusCode.RESOURCE_EXHAUSTED
    code, _, details = await refusal(BareBot(arena.address, token))
    assert details["ErrorInfo"].reason == "FLOOD"
    assert 50 < details["RetryInfo"].retry_delay.seconds <= 60


async def test_r1_a_frame_beyond_all_measure_is_not_even_read(arena: Arena) -> None:
    """gRPC itself ends the stream, without a strike, as the bot might have hung up; the server goes on."""
    token, options = arena.issue("alice"), [("grpc.max_send_message_length", -1)]
    for _ in range(4):
        async with BareBot(arena.address, token, options=options) as bot:
            await bot.send(b"x" * (READ_FRAMES * arena.core.limits.frame_bytes + 1))
            assert await bot.ended() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert "larger than max" in (await bot.call.details())
    async with BareBot(arena.address, token):
        assert arena.core.tallies.total().counts["strikes"] == 0


@pytest.mark.parametrize("frame", [b"\xff\xff\xff", b"\x0a\x7f", b"\x0a\x04\x0a\x02\x0a\x09"])
async def test_r2_malformed_bytes_end_that_stream_only(arena: Arena, frame: bytes) -> None:
    """INVALID_ARGUMENT for the sender, before Hello and after it; the bot's other process goes on."""
    token = arena.issue("alice")
    async with BareBot(arena.address, token, instance="good") as good:
        code, _, details = await refusal(BareBot(arena.address, token), frame)
        assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_FRAME")
        async with BareBot(arena.address, token, instance="bad") as bad:
            await bad.send(frame)
            assert await bad.ended() is grpc.StatusCode.INVALID_ARGUMENT
        seat = await arena.seat("alice", "good")
        decision = seat.ask(game := seat.start())
        await good.act(game, decision)
        await seat.expect("act")


async def test_r3_deep_nesting_is_cheap(arena: Arena) -> None:
    """Groups nested ten thousand deep are refused like any other garbage."""
    deep = b"\x0a" + _varint(20_000) + b"\xf3\x01" * 10_000
    code, _, _ = await refusal(BareBot(arena.address, arena.issue("alice")), deep)
    assert code is grpc.StatusCode.INVALID_ARGUMENT


def _varint(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14])


async def test_r5_hello_is_due_in_time() -> None:
    """A stream that says nothing is ended."""
    async with Arena(admission=Admission(hello_s=0.2)) as arena:
        bot = BareBot(arena.address, arena.issue("alice"))
        bot.pump()
        assert await bot.ended() is grpc.StatusCode.DEADLINE_EXCEEDED
        await bot.close()


async def test_r5_streams_of_one_address_are_capped_before_the_token_is_looked_at() -> None:
    """The third of two is refused, whoever it is, and one that ends makes room."""
    async with Arena(admission=Admission(streams_per_address=2)) as arena:
        token = arena.issue("alice")
        async with BareBot(arena.address, token, instance="a"), BareBot(arena.address, token, instance="b") as second:
            code, _, details = await refusal(BareBot(arena.address, "bad token"))
            assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
            await second.close()
            session = arena.core.newest(1, "b")
            await until(lambda: session is None or not session.connected)
            async with BareBot(arena.address, token, instance="c"):
                pass


async def test_r7_a_flood_is_out_with_the_time_to_wait(arena: Arena) -> None:
    """Three strikes end the stream with RetryInfo, and the bot is not let in again."""
    token = arena.issue("flood")
    bot = BareBot(arena.address, token)
    hello = pb.PlayRequest(events=[pb.BotEvent(hello=bot.hello)]).SerializeToString()
    flood = pb.PlayRequest(events=[pb.BotEvent(act=pb.Act(game_id="x"))] * 500).SerializeToString()
    code, _, details = await refusal(bot, hello, flood)
    assert (code, details["RetryInfo"].retry_delay.seconds) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 60)
    code, _, details = await refusal(BareBot(arena.address, token))
    assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "FLOOD")


async def test_r8_a_flood_of_http2_pings_is_sent_away(arena: Arena) -> None:
    """A client that pings each second without a word gets GOAWAY; one that plays is left alone."""
    pings = [("grpc.keepalive_time_ms", 500), ("grpc.http2.max_pings_without_data", 0)]
    async with BareBot(arena.address, arena.issue("alice"), instance="plays") as bot:
        flood = BareBot(arena.address, arena.issue("alice"), options=pings)
        async with flood:
            assert await flood.ended() is grpc.StatusCode.UNAVAILABLE
        assert "ping" in (await flood.call.details()).lower()
        assert not bot.call.done()


@pytest.mark.parametrize("pause_s", [0, 0.005], ids=["as fast as it goes", "as fast as it is served"])
async def test_r8_a_flood_of_resets_costs_its_address_and_nobody_else(pause_s: float) -> None:
    """Of 2,000 streams that are reset as they are opened (CVE-2023-44487) those are looked at that an address may open, and few
    reach us at all if they come faster than we look; who plays meanwhile plays on, and other addresses get in."""
    async with Arena(admission=Admission(streams_per_address=8, starts_per_s=1)) as arena:
        asked = mock.AsyncMock(side_effect=arena.tokens.authenticate)
        async with BareBot(arena.address, arena.issue("plays")) as bot:
            seat = await arena.seat("plays")
            game = seat.start()
            with mock.patch.object(arena.tokens, "authenticate", asked):
                await open_and_reset(arena.address, arena.issue("flood"), 2_000, pause_s)
                decision = seat.ask(game)
                await bot.act(game, decision)
                await seat.expect("act")
                async with BareBot(arena.address, arena.issue("other")):
                    pass
            assert asked.await_count <= 2 * 8 + 10
            if not pause_s:
                assert arena.core.tallies.own.counts["refused_too_many_starts"] < 500


async def open_and_reset(address: str, token: str, times: int, pause_s: float) -> None:
    """Streams of Play from 127.0.0.2, each with its RST_STREAM right behind it; returns when the server has read them all."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=("127.0.0.2", 0))
    named = {":method": "POST", ":scheme": "http", ":path": METHOD, ":authority": "arena", "te": "trailers"}
    named |= {"content-type": "application/grpc", "authorization": f"Bearer {token}"}
    headers = b"".join(b"\0" + _text(name) + _text(value) for name, value in named.items())
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(SETTINGS, 0, 0))
    assert (await reader.readexactly(9))[3] == SETTINGS
    writer.write(_frame(SETTINGS, ACK, 0))
    for stream in range(1, 2 * times, 2):
        writer.write(_frame(HEADERS, END_HEADERS, stream, headers) + _frame(RST_STREAM, 0, stream, bytes(4)))
        if stream % 16 == 1:  # each eighth
            await writer.drain()
            await asyncio.sleep(pause_s)
    writer.write(_frame(PING, 0, 0, b"all read"))
    said = b""
    async with asyncio.timeout(PATIENCE_S):
        while _frame(PING, ACK, 0, b"all read") not in said:
            more = await reader.read(65_536)
            assert more, "sent away"
            said = said[-64:] + more
    writer.close()


HEADERS, RST_STREAM, SETTINGS, PING, ACK, END_HEADERS = 1, 3, 4, 6, 1, 4


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _text(text: str) -> bytes:
    """A string of HPACK, without Huffman coding."""
    return bytes([len(text)]) + text.encode()


async def test_r9_a_paused_process_takes_no_time_from_a_bot(arena: Arena) -> None:
    """While the gateway itself stands still for 400 ms, a decision of 250 ms neither expires nor is charged."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        seat = await arena.seat("alice")
        await asyncio.sleep(0.05)
        decision = seat.ask(game := seat.start(), limit_ms=250)
        await bot.expect("decision_requested")
        time.sleep(0.4)  # noqa: ASYNC251 (the point)
        await bot.act(game, decision)
        assert (await seat.expect("act")).elapsed_us < 150_000


async def test_r9_a_clock_stands_still_while_its_process_is_late() -> None:
    """At once, before any tick has measured how late it was, and afterwards; and it never goes back."""
    clock = LoopClock()
    clock.start()
    before = clock.now_us()
    time.sleep(0.2)  # noqa: ASYNC251 (the point)
    paused = clock.now_us()
    assert 0 <= paused - before <= TICK_US + SLACK_US
    await until(lambda: clock.late_us)
    assert clock.late_us >= 200_000 - TICK_US - SLACK_US
    assert clock.now_us() >= paused
    clock.stop()


async def test_r10_a_bot_that_comes_back_gets_the_same_request(arena: Arena) -> None:
    """A stream that breaks is no fault: the game goes on where the bot reconnects, and its clock has run."""
    token = arena.issue("alice")
    async with BareBot(arena.address, token) as bot:
        seat = await arena.seat("alice")
        decision = seat.ask(game := seat.start(), limit_ms=8_000)
        first = await bot.expect("decision_requested")
    await seat.expect("session_lost")
    async with BareBot(arena.address, token) as bot:
        assert bot.welcome is not None
        assert list(bot.welcome.running_games) == [game]
        assert (await bot.expect("match_started")).resumed
        second = await bot.expect("decision_requested")
        assert (second.decision_id, second.resent, second.view) == (decision, True, first.view)
        assert second.clock.limit_ms <= first.clock.limit_ms
        await bot.act(game, decision)
        await seat.expect("act")


async def test_r11_the_newest_of_two_connections_wins(arena: Arena) -> None:
    """The old stream is told REPLACED and ends with OK; another instance is left alone."""
    token = arena.issue("alice")
    async with BareBot(arena.address, token) as old, BareBot(arena.address, token, instance="2") as other:
        seat = await arena.seat("alice")
        decision = seat.ask(game := seat.start())
        async with BareBot(arena.address, token) as new:
            assert (await old.expect("draining")).reason == pb.Draining.REASON_REPLACED
            assert await old.ended() is grpc.StatusCode.OK
            assert (await new.expect("decision_requested")).decision_id == decision
            await new.act(game, decision)
            await seat.expect("act")
            assert not other.call.done()


@pytest.mark.parametrize("versions", [("1", "1"), ("1", "2")])
async def test_r11_two_copies_do_not_evict_each_other_for_ever(arena: Arena, versions: tuple[str, str]) -> None:
    """After a few rounds the newcomer is refused and told what is wrong, whether or not they are of one version."""
    tokens = [arena.issue("twins", version=version) for version in versions]
    bots = []
    for number in range(11):
        bot = BareBot(arena.address, tokens[number % 2])
        bots.append(bot)
        await bot.__aenter__()
    code, message, details = await refusal(BareBot(arena.address, tokens[1]))
    assert (code, details["ErrorInfo"].reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "FLOOD")
    assert "instance of its own" in message
    assert not bots[-1].call.done()
    for bot in bots:
        await bot.close()


async def test_a_refusal_is_told_though_hello_is_on_its_way() -> None:
    """However the two cross each other, a bot with a bad token learns that, and not that some write of its own failed."""
    async with Arena(admission=Admission(bad_tokens=1_000)) as arena:
        told = await asyncio.gather(*(refusal(BareBot(arena.address, "guess")) for _ in range(60)))
        assert {code for code, _, _ in told} == {grpc.StatusCode.UNAUTHENTICATED}


async def test_r44_guessing_tokens_is_slow() -> None:
    """An address that has shown too many bad tokens is refused before the next is looked at, a good one included."""
    async with Arena(admission=Admission(bad_tokens=3)) as arena:
        for _ in range(3):
            assert (await refusal(BareBot(arena.address, "guess")))[0] is grpc.StatusCode.UNAUTHENTICATED
        code, _, details = await refusal(BareBot(arena.address, arena.issue("alice")))
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details["RetryInfo"].retry_delay.seconds == 5


async def test_another_version_does_not_inherit_games(arena: Arena) -> None:
    """A new version under the same instance replaces the old process but not its seat at the table."""
    async with BareBot(arena.address, arena.issue("alice")) as old:
        seat = await arena.seat("alice")
        seat.ask(seat.start(), limit_ms=300)
        async with BareBot(arena.address, arena.issue("alice", version="2")) as new:
            assert new.welcome is not None
            assert list(new.welcome.running_games) == []
            assert (await old.expect("draining")).reason == pb.Draining.REASON_REPLACED
            assert (await seat.expect("expired")).disconnected


async def test_r16_a_herd_is_let_in_bit_by_bit() -> None:
    """Beyond the burst of starts bots are told to come back in a moment."""
    async with Arena(admission=Admission(starts_per_s=1, start_burst=2)) as arena:
        token = arena.issue("alice")
        async with BareBot(arena.address, token, instance="1"), BareBot(arena.address, token, instance="2"):
            code, _, details = await refusal(BareBot(arena.address, token, instance="3"))
            assert code is grpc.StatusCode.UNAVAILABLE
            assert details["RetryInfo"].retry_delay.seconds == 1


async def test_r16_a_bot_that_connects_too_often_takes_no_start_of_others() -> None:
    """Beyond its own burst a bot is told to come back in a moment, however often it asks, and the others are let in."""
    admission = Admission(starts_per_s=1, start_burst=3, bot_starts_per_s=1, bot_start_burst=2)
    async with Arena(admission=admission) as arena:
        often, other = arena.issue("alice"), arena.issue("bob")
        async with BareBot(arena.address, often, instance="1"), BareBot(arena.address, often, instance="2"):
            code, message, details = await refusal(BareBot(arena.address, often, instance="3"))
            assert code is grpc.StatusCode.UNAVAILABLE
            assert message == "This bot connects too often."
            assert details["RetryInfo"].retry_delay.seconds == 1
            async with BareBot(arena.address, other):
                assert len(arena.core.sessions) == 3


def test_r16_all_instances_of_a_bot_may_come_back_at_once() -> None:
    """After a gateway's restart 64 instances are let in, and what is remembered of bots is bounded."""
    servicer = PlayServicer(mock.Mock(), mock.Mock(), Admission())
    mine = Principal("7", 7, accounts.Principal(1, "ann", False, 7, "x", 3))
    also = Principal("8", 7, accounts.Principal(1, "ann", False, 8, "y", 3))
    assert all(servicer._starts_of(mine).take(0) for _ in range(64))
    assert servicer._starts_of(also) is servicer._starts_of(mine), "a bot has one bucket however many tokens it has"
    for number in range(KEPT + 10):
        servicer._starts_of(Principal(f"t{number}"))
    assert len(servicer._bot_starts) == KEPT


async def test_r16_a_new_bot_costs_the_same_however_many_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the number of bots whose conduct is remembered, not each new one has all that are there looked through."""
    monkeypatch.setattr(core, "CONDUCTS_KEPT", 50)
    looked_at = 0

    class Counted(Identity):
        def __getattribute__(self, name: str) -> Any:
            nonlocal looked_at
            looked_at += name == "bot_id"
            return super().__getattribute__(name)

    gateway = core.GatewayCore("test", games={})
    for number in range(500):
        gateway.connect(Counted(number, number, "alice", "1", "ann"), pb.Hello())
    assert len(gateway.sessions) == 500
    assert looked_at < 500 * 20


async def test_r16_draining_tells_when_to_come_back(arena: Arena) -> None:
    """A server that goes says so, ends its streams with OK, and serves them again once restarted."""
    token = arena.issue("alice")
    async with BareBot(arena.address, token) as bot:
        await arena.restart(reconnect_within_ms=700)
        draining = await bot.expect("draining")
        assert (draining.reason, draining.reconnect_within_ms) == (pb.Draining.REASON_SERVER, 700)
        assert await bot.ended() is grpc.StatusCode.OK
    async with BareBot(arena.address, token):
        pass


async def test_r18_plaintext_off_loopback_refuses_to_start(arena: Arena) -> None:
    """Without TLS only loopback addresses are served."""
    for address in ("0.0.0.0:0", "[::]:0", "example.org:7700"):
        with pytest.raises(UserError, match="TLS"):
            await start_play_server(arena.core, LocalTokens(), address)


async def test_an_address_in_use_is_an_error_that_says_so(arena: Arena) -> None:
    """A second server does not share the port in silence."""
    with pytest.raises(UserError, match="Cannot listen"):
        await start_play_server(arena.core, LocalTokens(), arena.address)


async def test_r20_half_close_ends_the_session_while_the_clock_runs(arena: Arena) -> None:
    """A bot that closes its side is gone; what it was asked expires."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        seat = await arena.seat("alice")
        seat.ask(seat.start(), limit_ms=200)
        await bot.call.done_writing()
        assert await bot.ended() is grpc.StatusCode.OK
        await seat.expect("session_lost")
        assert (await seat.expect("expired")).disconnected


async def test_r45_a_revoked_token_cuts_its_streams(arena: Arena) -> None:
    """The bot is told REVOKED and not to come back; streams of other tokens stay."""
    token = arena.issue("alice")
    async with BareBot(arena.address, token) as bot, BareBot(arena.address, arena.issue("bob")) as other:
        arena.core.revoke([token])
        assert (await bot.expect("draining")).reason == pb.Draining.REASON_REVOKED
        assert await bot.ended() is grpc.StatusCode.UNAUTHENTICATED
        assert not other.call.done()


async def test_a_silent_peer_is_cut() -> None:
    """A bot that answers no pings is taken for dead."""
    async with Arena(limits=SessionLimits(ping_interval_us=50_000, dead_after_us=150_000)) as arena:
        async with BareBot(arena.address, arena.issue("alice"), pong=False) as bot:
            assert await bot.ended() is grpc.StatusCode.UNAVAILABLE
        async with BareBot(arena.address, arena.issue("bob")) as bot:
            await asyncio.sleep(0.4)
            assert not bot.call.done()


async def test_r6_a_bot_that_does_not_read_is_cut_and_slows_nobody(arena: Arena) -> None:
    """What the transport cannot take gathers up to the bound, then the stream is ended, stuck as it is."""
    stuck = BareBot(arena.address, arena.issue("stuck"))
    await stuck.write(pb.BotEvent(hello=stuck.hello))
    async with BareBot(arena.address, arena.issue("bob")) as bob:
        seat = await arena.seat("stuck")
        game = seat.start()
        notice = pb.Notice(game_id=game, text="x" * 30_000)
        for _ in range(1_000):
            if not seat.session.connected:
                break
            seat.deliver(notice=notice)
            await asyncio.sleep(0)
        assert not seat.session.connected
        await seat.expect("session_lost")
        seat = await arena.seat("bob")
        decision = seat.ask(game := seat.start())
        await bob.act(game, decision)
        assert (await seat.expect("act")).elapsed_us < 1_000_000
    await stuck.close()


async def test_health(arena: Arena) -> None:
    """The standard health service answers for the server and for PlayService."""
    async with grpc.aio.insecure_channel(arena.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", "botarena.v1.PlayService"):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_local_gateway_tells_processes_of_one_bot_apart(tmp_path: Path) -> None:
    """Two processes of the same bot with tokens of their own are two sessions, found by their tokens."""
    async with LocalGateway(str(tmp_path / "play.sock")) as gateway:
        identity = Identity(1, 1, "random", "1", "house")
        tokens = [gateway.issue(identity), gateway.issue(identity)]
        waiting = [asyncio.ensure_future(gateway.wait_session(token, timeout_s=5)) for token in tokens]
        async with BareBot(gateway.address, tokens[0]) as one, BareBot(gateway.address, tokens[1]) as two:
            assert one.welcome is not None
            assert two.welcome is not None
            assert await asyncio.gather(*waiting) == [one.welcome.session, two.welcome.session]
            gateway.revoke(tokens[0])
            assert await one.ended() is grpc.StatusCode.UNAUTHENTICATED
            assert not two.call.done()


async def test_a_bot_whose_frames_cannot_be_read_any_more_is_not_there(arena: Arena) -> None:
    """Whatever went wrong in reading them: if it counted as connected, nobody would ever hear of it again."""
    async with BareBot(arena.address, arena.issue("alice")) as bot:
        seat = await arena.seat("alice")
        game = seat.start()
        seat.ask(game)
        with mock.patch.object(arena.core, "receive", side_effect=ValueError("out of range")):
            await bot.act(game, 1)
            assert (await seat.expect("session_lost")).open[0].game_id == game

"""What becomes of running games when a stream breaks, a server drains, or the process is told to stop."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from typing import Any

import grpc
import pytest

import botarena
from botarena import connection
from botarena.address import Target
from botarena.v1 import play_pb2 as pb

from .scripted import PATIENCE_S, playing, scripted_arena


class Recorder(botarena.Bot):
    """Plays the first action and notes what it was told."""

    made: list[Recorder]

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.made.append(self)

    def on_match_start(self, match: botarena.Match) -> None:
        self.told.append(("start", match.resumed))

    def on_event(self, event: botarena.Event) -> None:
        self.told.append(event.seq)

    def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
        self.told.append(("act", view.decision_id))
        return legal[0]

    def on_end(self, result: botarena.Result) -> None:
        self.told.append(result.outcome)


def recorder() -> type[Recorder]:
    return type("Fresh", (Recorder,), {"made": []})


async def finished(task: asyncio.Task[None]) -> None:
    await asyncio.wait_for(task, PATIENCE_S)


async def test_running_games_go_on_after_a_cut() -> None:
    """The same instance goes on; Hello names the session; an answer the arena may not have had is given again without
    asking the bot; events told twice are heard once; a game that is no longer running is over."""
    bot = recorder()
    async with scripted_arena() as arena:
        task = playing(bot, arena, credit=2)
        stream = await arena.stream()
        await stream.welcome()
        for game_id in ("g1", "g2"):
            stream.start(game_id)
        event = pb.ObservedEvent(seq=4, actor=pb.ObservedEvent.ACTOR_CHANCE, text="x")
        stream.send(events_observed=pb.EventsObserved(game_id="g1", events=[event]))
        stream.ask("g1", 0)
        answer = await stream.expect("act")
        stream.end(grpc.StatusCode.UNAVAILABLE, "gone")
        stream = await arena.stream()
        assert (await stream.welcome(running=["g1"])).resume_session == "s1"
        stream.start("g1", resumed=True)
        stream.send(events_observed=pb.EventsObserved(game_id="g1", events=[event]))
        stream.ask("g1", 0, resent=True)
        assert await stream.expect("act") == answer
        stream.ask("g1", 1)
        assert (await stream.expect("act")).decision_id == 1
        stream.finish("g1")
        stream.done()
        await finished(task)
    kept, dropped = bot.made
    assert kept.told == [("start", False), 4, ("act", 0), ("act", 1), "finished"]
    assert dropped.told == [("start", False), "unknown"]


@pytest.mark.parametrize("asked_again", ["while thinking", "later"])
async def test_a_decision_that_was_being_made_during_the_cut_is_made_once(asked_again: str) -> None:
    """act is not called again for a request that is sent again; its answer goes out on the new stream, once the arena
    has asked there."""
    calls: list[int] = []
    begun, release = threading.Event(), threading.Event()

    def act(view: Any, legal: Any, clock: Any) -> Any:
        calls.append(view.decision_id)
        begun.set()
        assert release.wait(PATIENCE_S)
        return legal[0]

    async with scripted_arena() as arena:
        task = playing(act, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        stream.end(grpc.StatusCode.UNAVAILABLE)
        stream = await arena.stream()
        await stream.welcome(running=["g1"])
        if asked_again == "while thinking":
            stream.ask("g1", 0, resent=True)
            await stream.quiet()
            release.set()
        else:
            release.set()
            await stream.quiet()
            stream.ask("g1", 0, resent=True)
        assert (await stream.expect("act")).decision_id == 0
        stream.ask("g1", 1)
        assert (await stream.expect("act")).decision_id == 1
        assert calls == [0, 1]
        stream.done()
        await finished(task)


async def test_a_new_process_takes_over_a_running_game() -> None:
    """A game that the process never saw begins is started as resumed and played."""
    bot = recorder()
    async with scripted_arena() as arena:
        task = playing(bot, arena)
        stream = await arena.stream()
        await stream.welcome(running=["g1"])
        stream.start("g1", resumed=True)
        stream.ask("g1", 5, resent=True)
        assert (await stream.expect("act")).decision_id == 5
        stream.done()
        await finished(task)
    assert bot.made[0].told == [("start", True), ("act", 5)]


async def test_r88_a_silent_arena_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream on which neither events nor pings come is given up and opened anew."""
    monkeypatch.setattr(connection, "WELCOME_S", 0.2)
    async with scripted_arena() as arena:
        task = playing(lambda view, legal, clock: legal[0], arena)
        silent_from_the_start = await arena.stream()
        await asyncio.wait_for(silent_from_the_start.gone.wait(), PATIENCE_S)
        silent_later = await arena.stream()
        await silent_later.welcome(ping_interval_ms=20)
        await asyncio.wait_for(silent_later.gone.wait(), PATIENCE_S)
        stream = await arena.stream()
        await stream.welcome()
        await stream.quiet()
        stream.done()
        await finished(task)


async def test_r16_draining_spreads_the_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Draining the wait is a random part of what the arena says, also a long one; after a cut only 0.5 s."""
    spans: list[float] = []

    def uniform(low: float, high: float) -> float:
        spans.append(high)
        return low

    monkeypatch.setattr(connection.random, "uniform", uniform)
    async with scripted_arena() as arena:
        task = playing(lambda view, legal, clock: legal[0], arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.send(draining=pb.Draining(reason=pb.Draining.REASON_SERVER, reconnect_within_ms=20_000))
        stream.end()
        stream = await arena.stream()
        await stream.welcome()
        stream.end(grpc.StatusCode.UNAVAILABLE)
        stream = await arena.stream()
        await stream.welcome()
        stream.done()
        await finished(task)
    assert spans[0] == 20.0
    assert spans[1] <= 1.0


async def test_a_server_that_comes_back_elsewhere_in_time_is_found(tmp_path: Any) -> None:
    """A gateway that is gone for a while (its socket does not even exist) is found again, and the game goes on."""
    address = f"unix:{tmp_path}/arena.sock"
    bot = recorder()
    async with scripted_arena(address) as arena:
        task = playing(bot, arena, token="")
        stream = await arena.stream()
        assert "authorization" not in stream.metadata
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        await stream.expect("act")
    await asyncio.sleep(0.3)
    async with scripted_arena(address) as arena:
        stream = await arena.stream()
        await stream.welcome(running=["g1"])
        stream.ask("g1", 1)
        await stream.expect("act")
        stream.finish("g1")
        stream.done()
        await finished(task)
    assert len(bot.made) == 1


async def test_a_drained_bot_takes_nothing_new_and_finishes_what_runs() -> None:
    """SIGTERM sends SetCredit{drain}; a set that is offered then is not accepted; the running game is played on, also
    over a new stream, where the arena is told again."""
    async with scripted_arena() as arena:
        task = playing(lambda view, legal, clock: legal[0], arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        await stream.quiet()
        signal.raise_signal(signal.SIGTERM)
        assert (await stream.expect("set_credit")).drain
        stream.send(set_offered=pb.SetOffered(offer_id="o1"))
        await stream.quiet()
        stream.end(grpc.StatusCode.UNAVAILABLE)
        stream = await arena.stream()
        await stream.welcome(running=["g1"])
        assert (await stream.expect("set_credit")).drain
        stream.ask("g1", 0)
        await stream.expect("act")
        stream.finish("g1")
        stream.done()
        await finished(task)


async def test_a_second_ctrl_c_ends_at_once() -> None:
    """Although act never returns."""
    begun, never = threading.Event(), threading.Event()

    def act(view: Any, legal: Any, clock: Any) -> Any:
        begun.set()
        never.wait()

    async with scripted_arena() as arena:
        task = playing(act, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        signal.raise_signal(signal.SIGINT)
        assert (await stream.expect("set_credit")).drain
        signal.raise_signal(signal.SIGINT)
        done, _ = await asyncio.wait([task], timeout=PATIENCE_S)
        assert done
        assert isinstance(task.exception(), connection.Interrupted)
    never.set()


async def test_two_programs_in_one_process_give_the_signals_back() -> None:
    """Although they end in the order in which they began; till then each is told of each signal."""
    before = signal.getsignal(signal.SIGTERM)
    async with scripted_arena() as first, scripted_arena() as second:
        tasks, streams = [], []
        for arena in (first, second):
            tasks.append(playing(lambda view, legal, clock: legal[0], arena))
            streams.append(await arena.stream())
            await streams[-1].welcome()
            streams[-1].start("g1")
            await streams[-1].quiet()
        signal.raise_signal(signal.SIGTERM)
        for stream in streams:
            assert (await stream.expect("set_credit")).drain
        for stream, task in zip(streams, tasks, strict=True):
            assert signal.getsignal(signal.SIGTERM) is not before
            stream.finish("g1")
            stream.done()
            await finished(task)
    assert signal.getsignal(signal.SIGTERM) is before


async def test_a_drain_without_a_stream_or_games_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A process that waits for its next attempt to connect has nothing to finish."""
    monkeypatch.setattr(connection, "retry_delay_s", lambda failures: 1000.0)
    async with scripted_arena() as arena:
        address = arena.address
    arena.address = address  # where nobody listens any more
    task = playing(lambda view, legal, clock: legal[0], arena)
    async with asyncio.timeout(PATIENCE_S):
        while "trying again" not in caplog.text:  # noqa: ASYNC110 - a log has no event to wait for
            await asyncio.sleep(0.01)
    signal.raise_signal(signal.SIGTERM)
    await finished(task)


async def test_a_drain_between_two_streams_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A process that was connected, plays nothing, and waits to connect again ends when it is told to."""
    monkeypatch.setattr(connection, "retry_delay_s", lambda failures: 1000.0)
    async with scripted_arena() as arena:
        task = playing(lambda view, legal, clock: legal[0], arena)
        await (await arena.stream()).welcome()
    async with asyncio.timeout(PATIENCE_S):
        while "trying again" not in caplog.text:  # noqa: ASYNC110 - a log has no event to wait for
            await asyncio.sleep(0.01)
    signal.raise_signal(signal.SIGTERM)
    await finished(task)


async def test_nobody_there_is_said_in_one_line() -> None:
    """When patience is over the process says where it looked and what to check."""
    async with scripted_arena() as arena:
        pass
    started = time.monotonic()
    with pytest.raises(botarena.Unreachable, match=f"no arena answers at {arena.address} .*is it up") as caught:
        await finished(playing(lambda view, legal, clock: legal[0], arena, patience_s=0.1))
    assert "\n" not in str(caught.value)
    assert time.monotonic() - started < PATIENCE_S


@pytest.mark.parametrize("text", ["", "nowhere", "host:", "host:99999", "host:http", "unix:", "https://host:1"])
def test_a_wrong_address_is_said_before_dialling(text: str) -> None:
    """Each is refused with an example of a right one."""
    with pytest.raises(botarena.Misconfigured, match=r"e\.g\."):
        Target.parse(text)


def test_a_token_goes_in_plain_text_over_loopback_only() -> None:
    """TLS to every other machine, unless the author says insecure."""
    plain = ["localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/a"]
    assert not any(Target.parse(text).tls for text in plain)
    away = ["arena.example:443", "10.0.0.1:1", "localhost.example:1", "127.0.0.1.example:1"]
    assert all(Target.parse(text).tls for text in away)
    assert not Target.parse("10.0.0.1:1", insecure=True).tls

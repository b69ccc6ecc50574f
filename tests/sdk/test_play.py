"""The SDK against a scripted arena: what a bot's author and the arena may rely on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import Any

import grpc
import pytest

import botarena
from botarena import connection
from botarena.v1 import play_pb2 as pb

from .scripted import PATIENCE_S, playing, scripted_arena


def first(view: Any, legal: Any, clock: Any) -> Any:
    return legal[0]


async def finished(task: asyncio.Task[None]) -> None:
    await asyncio.wait_for(task, PATIENCE_S)


@pytest.mark.parametrize("wrong", [{"version": 2}, {"name": 7}])
def test_a_number_for_a_name_is_told_where_it_is_written(wrong: dict[str, Any]) -> None:
    """An easy slip, and protobuf's own words for it name neither."""
    ((what, given),) = wrong.items()
    with pytest.raises(TypeError, match=f'{what} is a string: {what}="{given}"'):
        botarena.bot("pop", **wrong)


async def test_a_function_plays_a_whole_match() -> None:
    """Hello says what the decorator said; Ready has a nonce; the act answers what was asked; DONE ends the process."""

    @botarena.bot("echo", "pop", name="eve", version="7", players=[2, 3], text=True, history="full")
    def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
        assert (view.game, view.seat, view.json, view.text) == ("echo", 1, {"n": 7}, "board")
        assert view.match.config == {"long": True}
        assert legal.default.text == "b"
        assert 0 < clock.left_ms <= clock.limit_ms == 3000
        return "b", botarena.Annotation(comment="sure", value=0.25, nodes=3, pv=("b", "a"))

    async with scripted_arena() as arena:
        task = playing(act, arena, credit=4, instance="two")
        stream = await arena.stream()
        assert stream.metadata["authorization"] == "Bearer secret"
        hello = await stream.welcome()
        assert (hello.bot, hello.version, hello.instance, hello.credit) == ("eve", "7", "two", 4)
        assert [(game.game, list(game.players)) for game in hello.games] == [("echo", [2, 3]), ("pop", [2, 3])]
        assert hello.wants == pb.Wants(text=True, history=pb.Wants.HISTORY_FULL)
        assert hello.protocol == 1000
        assert hello.sdk.startswith("botarena-python/")
        nonces = set()
        for offer in ("o1", "o2"):
            stream.send(set_offered=pb.SetOffered(offer_id=offer, game="echo"))
            ready = await stream.expect("ready")
            assert ready.offer_id == offer
            nonces.add(ready.nonce)
        assert {len(nonce) for nonce in nonces} == {16}
        assert len(nonces) == 2
        stream.start("g1")
        stream.ask("g1", 0, view=pb.View(json='{"n": 7}', text="board"))
        answer = await stream.expect("act")
        assert (answer.game_id, answer.decision_id, answer.WhichOneof("choice"), answer.action_id) == (
            "g1",
            0,
            "action_id",
            11,
        )
        assert answer.annotation == pb.Annotation(comment="sure", eval_milli=250, nodes=3, pv=["b", "a"])
        stream.finish("g1")
        stream.done()
        await finished(task)


async def test_a_class_hears_everything_in_order() -> None:
    """An instance a game: start, the events once each, act, and the result with both receipts, on one thread."""
    told: list[Any] = []

    class Listener(botarena.Bot):
        def on_match_start(self, match: botarena.Match) -> None:
            told.append(("start", match.game_id, match.seats[0].bot, threading.get_ident()))

        def on_event(self, event: botarena.Event) -> None:
            told.append(("event", event))

        def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
            told.append(("act", view.played_for_you))
            return legal.by_text("a").id

        def on_end(self, result: botarena.Result) -> None:
            told.append(("end", result, threading.get_ident()))

    async with scripted_arena() as arena:
        task = playing(Listener, arena)
        stream = await arena.stream()
        hello = await stream.welcome()
        assert hello.wants.history == pb.Wants.HISTORY_DELTA
        stream.start("g1")
        dealt = pb.ObservedEvent(seq=0, actor=pb.ObservedEvent.ACTOR_CHANCE, text="deal ?")
        played = pb.ObservedEvent(seq=1, actor=pb.ObservedEvent.ACTOR_SEAT, seat=0, id=11, text="b")
        stream.send(events_observed=pb.EventsObserved(game_id="g1", events=[dealt]))
        stream.send(events_observed=pb.EventsObserved(game_id="g1", events=[dealt, played]))
        mine = pb.PlayedForYou(action_id=10, text="a", reason=pb.PlayedForYou.REASON_FORCED)
        stream.ask("g1", 3, played_for_you=[mine])
        await stream.expect("act")
        stream.finish(
            "g1",
            places=[2, 1],
            scores=[-3, 9],
            reasons=[pb.SEAT_REASON_TIMEOUT, 77],  # type: ignore[list-item]  # a reason of the future
            match_id="m",
            set_id="s",
            record_head=b"h",
            receipt=b"z",
            secret=b"x",
        )
        stream.done()
        await finished(task)
    start, event_0, event_1, act, end = told
    assert start[:3] == ("start", "g1", "them")
    assert event_0 == ("event", botarena.Event(0, "chance", None, None, "deal ?"))
    assert event_1 == ("event", botarena.Event(1, "seat", 0, 11, "b"))
    assert act == ("act", (botarena.PlayedForYou(10, "a", "forced"),))
    result = end[1]
    assert (result.outcome, result.place, result.score, result.reasons) == ("finished", 1, 9, ("timeout", "unknown_77"))
    assert result.receipts == botarena.Receipts(
        match_id="m",
        arena_key=b"k" * 32,
        commitment=b"c" * 32,
        opening=b"r" * 64,
        head=b"h",
        secret=b"x",
        closing=b"z",
    )
    assert start[3] == end[2] != threading.get_ident()


async def test_a_slow_act_delays_neither_pings_nor_other_games() -> None:
    """While one game thinks, a ping is answered and another game is played."""
    release = threading.Event()

    def act(view: Any, legal: Any, clock: Any) -> int:
        if view.match.game_id == "slow":
            assert release.wait(PATIENCE_S)
        return int(legal.ids[0])

    async with scripted_arena() as arena:
        task = playing(act, arena, credit=2)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("slow")
        stream.start("fast")
        stream.ask("slow", 0)
        stream.ask("fast", 0)
        assert (await stream.expect("act")).game_id == "fast"
        await stream.quiet()
        release.set()
        assert (await stream.expect("act")).game_id == "slow"
        stream.done()
        await finished(task)


async def test_async_acts_share_a_loop_of_their_own() -> None:
    """Two games' async acts wait for each other, which one loop allows and one after the other would not."""
    met: set[str] = set()
    both = asyncio.Event()

    async def act(view: Any, legal: Any, clock: Any) -> Any:
        met.add(view.match.game_id)
        if len(met) == 2:
            both.set()
        await both.wait()
        return legal[1]

    async with scripted_arena() as arena:
        task = playing(act, arena, credit=2)
        stream = await arena.stream()
        await stream.welcome()
        for game_id in ("g1", "g2"):
            stream.start(game_id)
            stream.ask(game_id, 0)
        assert {(await stream.expect("act")).game_id for _ in range(2)} == {"g1", "g2"}
        stream.done()
        await finished(task)


async def test_what_is_unknown_is_ignored() -> None:
    """An event of a future kind and one for a game that never started change nothing."""
    future = pb.ArenaEvent()
    future.ParseFromString(bytes([0xFA, 0x06, 0x03, 0x0A, 0x01, 0x78]))  # field 111, a message
    assert future.WhichOneof("event") is None
    async with scripted_arena() as arena:
        task = playing(first, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.send_frame([future, pb.ArenaEvent()])
        stream.ask("never-started", 0)
        stream.finish("never-started")
        await stream.quiet()
        stream.start("g1")
        stream.ask("g1", 0)
        assert (await stream.expect("act")).action_id == 10
        stream.done()
        await finished(task)


@pytest.mark.parametrize(
    "answer",
    [ZeroDivisionError("oops"), 99, "nonsense", None, True, (10, 3)],
    ids=["raises", "id", "text", "none", "bool", "note"],
)
async def test_a_failing_act_gives_up_its_game_at_once(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """What raises or is not legal is logged and answered with no action of the game; other games go on."""

    def act(view: Any, legal: Any, clock: Any) -> Any:
        if view.match.game_id == "good":
            return legal[0]
        if view.decision_id > 0:
            return legal[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with scripted_arena() as arena:
        task = playing(act, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("bad")
        stream.ask("bad", 0)
        wrong = await stream.expect("act")
        assert wrong.WhichOneof("choice") == "text"
        assert wrong.text.startswith("failed: ")
        stream.ask("bad", 1)
        assert (await stream.expect("act")).text == wrong.text
        stream.start("good")
        stream.ask("good", 0)
        assert (await stream.expect("act")).action_id == 10
        stream.done()
        await finished(task)
    assert "act raised in a game of echo" in caplog.text


async def test_strict_ends_the_process_with_the_authors_exception() -> None:
    """With strict, what act raised comes out of play()."""

    def act(view: Any, legal: Any, clock: Any) -> Any:
        raise ZeroDivisionError("oops")

    async with scripted_arena() as arena:
        task = playing(act, arena, strict=True)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        stream.ask("g1", 0)
        with pytest.raises(ZeroDivisionError, match="oops"):
            await finished(task)


async def test_an_overtaken_decision_is_not_thought_about() -> None:
    """Of several decisions that piled up behind a slow one only the newest is put to the bot."""
    asked: list[int] = []
    begun, release = threading.Event(), threading.Event()

    def act(view: Any, legal: Any, clock: Any) -> Any:
        asked.append(view.decision_id)
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
        stream.ask("g1", 1)
        stream.ask("g1", 2)
        await stream.quiet()
        release.set()
        assert (await stream.expect("act")).decision_id == 2
        assert asked == [0, 2]
        stream.done()
        await finished(task)


def test_frames_are_full_but_never_too_long() -> None:
    """Events go out in order, as many in a frame as fit; an annotation that fits in no frame is left out."""
    lengths = [10, 400, 400, 400, 5000, 10, 10]
    outbox = deque(
        pb.BotEvent(act=pb.Act(decision_id=number, annotation=pb.Annotation(comment="x" * length)))
        for number, length in enumerate(lengths)
    )
    frames = []
    while outbox:
        frames.append(connection.next_frame(outbox, 1000))
    assert max(frame.ByteSize() for frame in frames) <= 1000
    sent = [[(event.act.decision_id, len(event.act.annotation.comment)) for event in frame.events] for frame in frames]
    assert sent == [[(0, 10), (1, 400), (2, 400)], [(3, 400), (4, 0), (5, 10), (6, 10)]]


async def test_the_arenas_frame_limit_holds() -> None:
    """What Welcome says of frames is kept to."""

    def act(view: Any, legal: Any, clock: Any) -> Any:
        return legal[0], "x" * 25_000

    async with scripted_arena() as arena:
        task = playing(act, arena)
        stream = await arena.stream()
        await stream.welcome(max_frame_bytes=20_000)
        stream.start("g1")
        stream.ask("g1", 0)
        assert not (await stream.expect("act")).HasField("annotation")
        stream.done()
        await finished(task)


@pytest.mark.parametrize(
    ("code", "error", "exit_code"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, botarena.Refused, 3),
        (grpc.StatusCode.PERMISSION_DENIED, botarena.Refused, 3),
        (grpc.StatusCode.FAILED_PRECONDITION, botarena.VersionSkew, 4),
        (grpc.StatusCode.NOT_FOUND, botarena.Misconfigured, 2),
        (grpc.StatusCode.INVALID_ARGUMENT, botarena.Misconfigured, 2),
    ],
)
async def test_r19_a_refused_hello_says_why_in_one_line(
    code: grpc.StatusCode, error: type[botarena.BotArenaError], exit_code: int
) -> None:
    """Version skew and other refusals stop the process with the arena's own words; it does not come back."""
    async with scripted_arena() as arena:
        task = playing(first, arena)
        stream = await arena.stream()
        await stream.expect("hello")
        stream.end(code, "speak 2.0 to 2.4")
        with pytest.raises(error, match=r"speak 2\.0 to 2\.4; ") as caught:
            await finished(task)
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == exit_code
        assert arena.streams.empty()


async def test_a_good_session_stops_for_its_token_alone() -> None:
    """After Welcome a status may come from anything on the way, and the bot comes back; not so if its token is gone."""
    async with scripted_arena() as arena:
        task = playing(first, arena)
        for code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION):
            stream = await arena.stream()
            await stream.welcome()
            stream.end(code, "hiccup")
        stream = await arena.stream()
        await stream.welcome()
        stream.end(grpc.StatusCode.UNAUTHENTICATED, "revoked")
        with pytest.raises(botarena.Refused, match="revoked"):
            await finished(task)


async def test_the_process_waits_for_the_last_on_end() -> None:
    """An author who writes a file there gets it whole."""
    written: list[bool] = []

    class Slow(botarena.Bot):
        def on_end(self, result: botarena.Result) -> None:
            time.sleep(0.2)
            written.append(True)

    async with scripted_arena() as arena:
        task = playing(Slow, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        stream.finish("g1")
        stream.done()
        await finished(task)
        assert written


@pytest.mark.parametrize(
    ("reason", "error"),
    [(pb.Draining.REASON_REPLACED, botarena.Replaced), (pb.Draining.REASON_REVOKED, botarena.Refused)],
)
async def test_r11_replaced_or_revoked_does_not_fight_back(
    reason: pb.Draining.Reason.ValueType, error: type[Exception]
) -> None:
    """A process that is told not to come back stops, though a game is running."""
    async with scripted_arena() as arena:
        task = playing(first, arena)
        stream = await arena.stream()
        await stream.welcome()
        stream.start("g1")
        stream.send(draining=pb.Draining(reason=reason))
        with pytest.raises(error):
            await finished(task)
        assert arena.streams.empty()


def test_r16_retries_are_spread_and_bounded() -> None:
    """The first retry comes within 0.5 s, later ones double up to 30 s, and each is a random part of that."""
    for failures, most in [(0, 0.5), (1, 1.0), (3, 4.0), (6, 30.0), (500, 30.0)]:
        delays = [connection.retry_delay_s(failures) for _ in range(400)]
        assert 0.8 * most < max(delays) <= most
        assert min(delays) < 0.2 * most

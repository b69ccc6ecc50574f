"""What is rare on a stream, and what a later version of the protocol may bring."""

from __future__ import annotations

from typing import Final

from google.protobuf.message import Message

from arena.conformance.link import Slowness
from arena.conformance.scenario import Mismatch, NotApplicable, recommended, required
from arena.conformance.stage import Stage
from arena.conformance.stream import choice
from arena.conformance.table import Table
from botarena.v1 import play_pb2 as pb

LARGE_BYTES: Final = 1 << 20
SLOW: Final = Slowness(latency_s=0.02, chunk_bytes=512)
UNKNOWN: Final = bytes.fromhex("b8b702" + "05" + "c2b702" + "03" + "6e6577")
"""Fields 4983 and 4984, which no message has: the number 5 and the bytes "new"."""
NEW_KIND: Final = pb.ArenaEvent.FromString(bytes.fromhex("82fa01" + "04" + "0a026869"))
"""An event of kind 4000."""


def strange(message: Message) -> None:
    """Adds fields that nobody knows to a message and all that it holds."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                strange(part)
    message.MergeFromString(UNKNOWN)


@required("resent", "answers a request that comes again, marked resent, because the answer was lost")
async def resent(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    stream.send_frame(table.ask())
    await stage.act(stream, table)
    stream.send_frame(table.again()[1:])
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@recommended("resent-same", "answers a request that comes again as it did before, since the first answer counts")
async def resent_same(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    for _ in range(3):
        stream.send_frame(table.ask())
        first = await stage.act(stream, table)
        for _ in range(2):
            stream.send_frame(table.again()[1:])
            again = await stage.act(stream, table)
            if choice(again) != choice(first):
                raise Mismatch(f"answered {choice(first)} and then, asked again, {choice(again)}")
        table.take(first)


@required("stale", "goes on after an old request and one of a game that is over have come again")
async def stale(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    stream.send_frame(table.ask())
    old = table.again()[1:]
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)
    stream.send_frame([table.void(), *old])
    stream.send_frame(table.ask())
    within_s = table.request.clock.limit_ms / 1000 + 10
    while True:  # answers to what is over do no harm: the arena says STALE
        act: pb.Act = await stream.expect("act", within_s)
        if act.game_id == table.game_id:
            break
    table.take(act)
    await stage.play(stream, table)


@required("verdicts", "goes on whatever ActResult says of an answer, and whatever Notice tells")
async def verdicts(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    for code in pb.ActResult.Code.values():
        await stage.play(stream, table, 1)
        asked = table.request
        result = pb.ActResult(game_id=asked.game_id, decision_id=asked.decision_id, code=code, detail="as a test")
        stream.send(act_result=result)
    for kind in pb.Notice.Kind.values():
        stream.send(notice=pb.Notice(kind=kind, text="as a test", game_id=table.game_id))
    await stage.play(stream, table)


@required("void", "goes on with the next game after MatchEnded without a result, also in the middle of a decision")
async def void(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    await stage.play(stream, table, 1)
    stream.send_frame([table.void()])
    await stage.play(stream, table)


@required("resumed", "goes on with a game that another process of the bot began")
async def resumed(stage: Stage) -> None:
    await stage.start()
    stream = await stage.stream()
    table = Table(await stream.shake_hands())
    table.ask()
    stream.welcome(running=[table.game_id])
    stream.send_frame(table.again())
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@required("one-frame", "takes in many events of one frame, in order")
async def one_frame(stage: Stage) -> None:
    await stage.start()
    stream = await stage.stream()
    hello = await stream.shake_hands()
    tables = [Table(hello, name=f"g{number}", seed=10 * number + 1) for number in range(3)]
    stream.welcome()
    stream.send_frame([pb.ArenaEvent(notice=pb.Notice(text="hello")), *(e for table in tables for e in table.ask())])
    waiting = {table.game_id: table for table in tables}
    while waiting:
        act: pb.Act = await stream.expect("act", 20)
        table = waiting.pop(act.game_id, None)
        if table is None:
            raise Mismatch(f"answered for game {act.game_id!r}, which was not open")
        table.take(act)
    await stage.play(stream, tables[0])


@required("unknown-kinds", "ignores events of kinds that it does not know, and empty frames")
async def unknown_kinds(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    stream.send_frame([NEW_KIND])
    stream.send_frame([])
    stream.send_frame([pb.ArenaEvent(), NEW_KIND, *table.ask(), NEW_KIND])
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@required("unknown-fields", "ignores fields that it does not know, in whatever message")
async def unknown_fields(stage: Stage) -> None:
    await stage.start()
    stream = await stage.stream()
    table = Table(await stream.shake_hands())
    stream.welcome()
    for _ in range(3):
        events = table.ask()
        for event in events:
            strange(event)
        stream.send_frame(events)
        table.take(await stage.act(stream, table))
    ended = table.void()
    strange(ended)
    stream.send_frame([ended])
    await stage.play(stream, table)


@required("unknown-values", "goes on after enum values that it does not know")
async def unknown_values(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    events = table.ask()
    asked = events[-1].decision_requested
    asked.played_for_you.append(pb.PlayedForYou(action_id=asked.default_action, reason=99))  # type: ignore[arg-type]
    seen = pb.ObservedEvent(seq=0, actor=99, text="something ?")  # type: ignore[arg-type]
    events.insert(-1, pb.ArenaEvent(events_observed=pb.EventsObserved(game_id=table.game_id, events=[seen])))
    stream.send_frame(events)
    table.take(await stage.act(stream, table))
    stream.send(notice=pb.Notice(kind=99, text="as a test"))  # type: ignore[arg-type]
    result = pb.ActResult(game_id=table.game_id, decision_id=1, code=99)  # type: ignore[arg-type]
    stream.send(act_result=result)
    ended = table.void()
    ended.match_ended.end = 99  # type: ignore[assignment]
    ended.match_ended.reasons.append(99)  # type: ignore[arg-type]
    stream.send_frame([ended])
    await stage.play(stream, table)


@required("new-game", "plays a game that it was never written for, if it says that it plays every game")
async def new_game(stage: Stage) -> None:
    stream = await stage.connect()
    if stream.hello.games:
        raise NotApplicable("the bot names the games that it plays")
    started = pb.MatchStarted(game_id="g_new", game="brand-new", players=2, seat=1, config_json="{}")
    legal = [pb.Action(id=70_000 + index, text=f"move {index}") for index in range(2)]
    asked = pb.DecisionRequested(
        game_id="g_new",
        decision_id=(1 << 32) - 1,
        view=pb.View(seat=1, seq=1, json='{"anything": [1, true, null, "text"]}'),
        legal=legal,
        clock=pb.Clock(bank_ms=10_000, limit_ms=3_000),
        default_action=70_000,
    )
    stream.send_frame([pb.ArenaEvent(match_started=started), pb.ArenaEvent(decision_requested=asked)])
    act: pb.Act = await stream.expect("act")
    chosen = {choice(pb.Act(action_id=action.id)) for action in legal} | {repr(action.text) for action in legal}
    if (act.game_id, act.decision_id) != ("g_new", asked.decision_id) or choice(act) not in chosen:
        raise Mismatch(f"answered {choice(act)} to decision {act.decision_id} of {act.game_id!r}")


@required("large-frame", "takes a frame of 1 MiB")
async def large_frame(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    text = "a long story " * 1000
    notices = [pb.ArenaEvent(notice=pb.Notice(text=text)) for _ in range(LARGE_BYTES // len(text))]
    stream.send_frame([*notices, *table.ask()])
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@required("slow-network", "plays over a network that brings 512 bytes at a time, 20 ms apart")
async def slow_network(stage: Stage) -> None:
    stream = await stage.connect(slowness=SLOW)
    await stage.play(stream, Table(stream.hello), 5)

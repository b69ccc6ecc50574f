"""The connection breaks, at every kind of message, and the game goes on."""

from __future__ import annotations

import asyncio
from typing import Final

from arena.conformance.scenario import Mismatch, recommended
from arena.conformance.stage import RECONNECT_S, Stage
from arena.conformance.stream import Stream, choice
from arena.conformance.table import Table
from botarena.v1 import play_pb2 as pb

DRAIN_MS: Final = 1000
DRAINS: Final = 6
SPREAD_S: Final = 0.1
"""Of six random waits of up to 1 s two are longer than this, but for one case in 18,000."""
SILENCE_S: Final = 30.0
IN_FLIGHT_S: Final = 0.05
"""So long a message is given to reach the bot before the connection breaks."""


async def _begin(stage: Stage) -> tuple[Stream, Table]:
    """A stream on which a game runs and a decision has been made."""
    stream = await stage.connect()
    table = Table(stream.hello)
    await stage.play(stream, table, 1)
    return stream, table


async def _cut(stage: Stage, *running: str) -> Stream:
    """Breaks the connection and waits for the program to come back."""
    stage.link.cut()
    return await stage.reconnected(running=running)


async def _go_on(stage: Stage, table: Table) -> None:
    """Breaks the connection with a decision open, asks again on the next stream, and plays on."""
    stream = await _cut(stage, table.game_id)
    stream.send_frame(table.again())
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@recommended("cut-hello", "comes back when the connection breaks before Welcome")
async def cut_hello(stage: Stage) -> None:
    await stage.start()
    await (await stage.stream()).shake_hands()
    stream = await _cut(stage)
    await stage.play(stream, Table(stream.hello))


@recommended("cut-welcome", "comes back when the connection breaks after Welcome, and names its session")
async def cut_welcome(stage: Stage) -> None:
    await (await stage.connect()).quiet()
    stream = await _cut(stage)
    if stream.hello.resume_session != "s_1":
        raise Mismatch(f"sent Hello.resume_session {stream.hello.resume_session!r} instead of 's_1'")
    await stage.play(stream, Table(stream.hello))


@recommended("cut-offer", "is Ready on the next stream when the connection breaks at SetOffered")
async def cut_offer(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    stream.send_frame([table.offer("o_cut")])
    await asyncio.sleep(IN_FLIGHT_S)
    stream = await _cut(stage)
    stream.send_frame([table.offer("o_cut")])
    if (ready := await stream.expect("ready")).offer_id != "o_cut":
        raise Mismatch(f"sent Ready to {ready.offer_id!r} where 'o_cut' was offered")
    await stage.play(stream, table)


@recommended("cut-start", "plays a game whose MatchStarted was the last thing before the break")
async def cut_start(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    events = table.ask()
    stream.send_frame(events[:1])
    await asyncio.sleep(IN_FLIGHT_S)
    await _go_on(stage, table)


@recommended("cut-events", "goes on when the connection breaks at EventsObserved")
async def cut_events(stage: Stage) -> None:
    stream, table = await _begin(stage)
    events = table.ask()
    stream.send_frame(events[:-1])
    await asyncio.sleep(IN_FLIGHT_S)
    await _go_on(stage, table)


@recommended("cut-decision", "answers a request on the next stream when the connection breaks at DecisionRequested")
async def cut_decision(stage: Stage) -> None:
    stream, table = await _begin(stage)
    stream.send_frame(table.ask())
    await asyncio.sleep(IN_FLIGHT_S)
    await _go_on(stage, table)


@recommended("cut-act", "gives the same answer again when the connection breaks after Act")
async def cut_act(stage: Stage) -> None:
    stream, table = await _begin(stage)
    stream.send_frame(table.ask())
    first = await stage.act(stream, table)
    stream = await _cut(stage, table.game_id)
    stream.send_frame(table.again())
    again = await stage.act(stream, table)
    if choice(again) != choice(first):
        raise Mismatch(f"answered {choice(first)} before the break and {choice(again)} after it")
    table.take(again)
    await stage.play(stream, table)


@recommended("cut-verdict", "goes on when the connection breaks at ActResult")
async def cut_verdict(stage: Stage) -> None:
    stream, table = await _begin(stage)
    asked = table.request
    code = pb.ActResult.CODE_DUPLICATE
    stream.send(act_result=pb.ActResult(game_id=asked.game_id, decision_id=asked.decision_id, code=code))
    table.ask()
    await asyncio.sleep(IN_FLIGHT_S)
    await _go_on(stage, table)


@recommended("cut-end", "drops a game that ended while it was away, and plays the next one")
async def cut_end(stage: Stage) -> None:
    stream, table = await _begin(stage)
    stream.send_frame(table.ask())
    table.void()
    stream = await _cut(stage)
    await stage.play(stream, table)


@recommended("cut-ended", "goes on when the connection breaks at MatchEnded, and when that comes twice")
async def cut_ended(stage: Stage) -> None:
    stream, table = await _begin(stage)
    ended = table.void()
    stream.send_frame([ended])
    await asyncio.sleep(IN_FLIGHT_S)
    stream = await _cut(stage)
    stream.send_frame([ended])
    await stage.play(stream, table)


@recommended("cut-notice", "goes on when the connection breaks at Notice and Ping")
async def cut_notice(stage: Stage) -> None:
    stream, table = await _begin(stage)
    table.ask()
    stream.send(notice=pb.Notice(kind=pb.Notice.KIND_RATING, text="as a test"))
    stream.send(ping=pb.Ping(nonce=5))
    await asyncio.sleep(IN_FLIGHT_S)
    await _go_on(stage, table)


@recommended("gateway-lost", "goes on at another gateway, which makes a new session and learns of the game only later")
async def gateway_lost(stage: Stage) -> None:
    stream, table = await _begin(stage)
    stream.send_frame(table.ask())
    first = await stage.act(stream, table)
    stage.link.cut()
    stream = await stage.stream(RECONNECT_S)
    await stream.shake_hands()
    stream.welcome(session="s_2")
    await stream.quiet()
    stream.send_frame(table.again())
    again = await stage.act(stream, table)
    if choice(again) != choice(first):
        raise Mismatch(f"answered {choice(first)} at one gateway and {choice(again)} at the next")
    table.take(again)
    await stage.play(stream, table)


@recommended("silence", "notices within 30 s that a connection is dead on which not even Pings come any more")
async def silence(stage: Stage) -> None:
    stream, table = await _begin(stage)
    stream.send_frame(table.ask())
    await stage.act(stream, table)
    stage.link.silence()
    stream = await stage.stream(SILENCE_S)
    await stream.shake_hands()
    stream.welcome(running=[table.game_id])
    stream.send_frame(table.again())
    table.take(await stage.act(stream, table))


@recommended("draining", "comes back after Draining SERVER within the time it names, and the game goes on")
async def draining(stage: Stage) -> None:
    stream, table = await _begin(stage)
    table.ask()
    stream.send(draining=pb.Draining(reason=pb.Draining.REASON_SERVER, reconnect_within_ms=DRAIN_MS))
    stream.end()
    stream = await stage.reconnected(running=[table.game_id])
    stream.send_frame(table.again())
    table.take(await stage.act(stream, table))
    await stage.play(stream, table)


@recommended("draining-spread", "waits a random part of Draining.reconnect_within_ms, so that a herd comes back spread")
async def draining_spread(stage: Stage) -> None:
    stream = await stage.connect()
    waits_s = []
    for _ in range(DRAINS):
        stream.send(draining=pb.Draining(reason=pb.Draining.REASON_SERVER, reconnect_within_ms=DRAIN_MS))
        stream.end()
        sent_at = asyncio.get_running_loop().time()
        stream = await stage.reconnected()
        waits_s.append(stream.opened_at - sent_at)
    waits_s.remove(max(waits_s))  # a machine with much to do may be late once
    if max(waits_s) < SPREAD_S:
        raise Mismatch(f"came back within {max(waits_s) * 1000:.0f} ms, {len(waits_s)} times out of {DRAINS}")

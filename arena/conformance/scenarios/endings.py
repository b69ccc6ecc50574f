"""The arena does not want the bot, or somebody wants to stop it."""

from __future__ import annotations

import asyncio
import signal
from typing import Final

import grpc

from arena.conformance.link import Link
from arena.conformance.scenario import Mismatch, recommended, required
from arena.conformance.stage import CONNECT_S, RECONNECT_S, TOKEN, Stage
from arena.conformance.stream import SOON_S
from arena.conformance.table import Table
from botarena.v1 import play_pb2 as pb

BAD_TOKEN: Final = "The token is not valid, or not valid any more."  # noqa: S105 - the name of an error
SKEW: Final = "The bot speaks protocol 9.0, this arena 1.0 to 1.0."
BUSY: Final = "Too many bots connect at once."
WATCH_S: Final = 5.0
"""So long a refused program is watched."""
MOST_REFUSED: Final = 3
MOST_BUSY: Final = 20
"""A program that waits a random part of 0.5 s, 1 s, 2 s, ... opens five streams in that time; never so many."""
SHORT_LINES: Final = 5

EXIT_SETTINGS: Final = 2
EXIT_REFUSED: Final = 3
EXIT_SKEW: Final = 4
EXIT_REPLACED: Final = 5


async def _refused(stage: Stage, code: grpc.StatusCode, details: str) -> None:
    """Starts the program where every stream is refused, and watches it until it ends or has been seen for long enough."""
    stage.gateway.refusal = (code, details)
    await stage.start()
    await stage.stream()
    await stage.ended_within(WATCH_S)


def _no_storm(stage: Stage, most: int) -> None:
    if (opened := len(stage.gateway.streams)) > most:
        raise Mismatch(f"opened {opened} streams in {WATCH_S:g} s")


async def _ends_with(stage: Stage, status: int, says: str = "") -> None:
    """Raises Mismatch unless the program ends with this status and has printed ``says`` and little else."""
    found = await stage.ended()
    if found != status:
        raise Mismatch(f"ended with status {found}")
    output = stage.output()
    if says and says.rstrip(".") not in output:  # in a sentence that goes on with what to do
        raise Mismatch(f"did not print the arena's words, {says!r}")
    if says and len(lines := output.strip().splitlines()) > SHORT_LINES:
        raise Mismatch(f"printed {len(lines)} lines")


@required("wrong-token", "gives up after UNAUTHENTICATED, or at least tries rarely: at most 3 streams in 5 s")
async def wrong_token(stage: Stage) -> None:
    await _refused(stage, grpc.StatusCode.UNAUTHENTICATED, BAD_TOKEN)
    _no_storm(stage, MOST_REFUSED)


@required("version-skew", "gives up after FAILED_PRECONDITION, or at least tries rarely: at most 3 streams in 5 s")
async def version_skew(stage: Stage) -> None:
    await _refused(stage, grpc.StatusCode.FAILED_PRECONDITION, SKEW)
    _no_storm(stage, MOST_REFUSED)


@required("busy", "does not storm an arena that has no room: at most 20 streams in 5 s of UNAVAILABLE")
async def busy(stage: Stage) -> None:
    await _refused(stage, grpc.StatusCode.UNAVAILABLE, BUSY)
    _no_storm(stage, MOST_BUSY)


@recommended("busy-patience", "comes back to an arena that had no room, and plays")
async def busy_patience(stage: Stage) -> None:
    stage.gateway.refusal = (grpc.StatusCode.UNAVAILABLE, BUSY)
    await stage.start()
    await stage.stream()
    await stage.stream(RECONNECT_S)
    stage.gateway.refusal = None
    stream = await stage.stream(RECONNECT_S)
    while stage.gateway.streams[-1] is not stream:
        stream = await stage.stream(RECONNECT_S)
    await stream.shake_hands()
    stream.welcome()
    await stage.play(stream, Table(stream.hello))


@recommended(
    "wrong-token-exit", "ends with status 3 after UNAUTHENTICATED and prints what the arena said, in a line or two"
)
async def wrong_token_exit(stage: Stage) -> None:
    await _refused(stage, grpc.StatusCode.UNAUTHENTICATED, BAD_TOKEN)
    await _ends_with(stage, EXIT_REFUSED, BAD_TOKEN)


@recommended(
    "version-skew-exit", "ends with status 4 after FAILED_PRECONDITION and prints what the arena said, in a line or two"
)
async def version_skew_exit(stage: Stage) -> None:
    await _refused(stage, grpc.StatusCode.FAILED_PRECONDITION, SKEW)
    await _ends_with(stage, EXIT_SKEW, SKEW)


@recommended("bad-address", "ends with status 2 when ARENA_ADDRESS is no address")
async def bad_address(stage: Stage) -> None:
    await stage.launch("nowhere", TOKEN)
    await _ends_with(stage, EXIT_SETTINGS, "nowhere")


@recommended("late-arena", "waits for an arena that is not up yet")
async def late_arena(stage: Stage) -> None:
    path = str(stage.folder / "late.sock")
    await stage.launch(f"unix:{path}", TOKEN)
    if await stage.ended_within(3.0):
        raise Mismatch(f"ended with status {stage.exit_status} after less than 3 s")
    async with Link(stage.gateway.path, unix_path=path):
        stream = await stage.stream(CONNECT_S)
        await stream.shake_hands()
        stream.welcome()
        await stage.play(stream, Table(stream.hello), 1)


@recommended("replaced", "ends with status 5 after Draining REPLACED and does not fight back")
async def replaced(stage: Stage) -> None:
    stream = await stage.connect()
    stream.send(draining=pb.Draining(reason=pb.Draining.REASON_REPLACED))
    stream.end()
    await _stays_away(stage, EXIT_REPLACED)


@recommended("revoked", "ends with status 3 after Draining REVOKED")
async def revoked(stage: Stage) -> None:
    stream = await stage.connect()
    stream.send(draining=pb.Draining(reason=pb.Draining.REASON_REVOKED))
    stream.end(grpc.StatusCode.UNAUTHENTICATED, "The token was revoked.")
    await _stays_away(stage, EXIT_REFUSED)


async def _stays_away(stage: Stage, status: int) -> None:
    ended = await stage.ended_within(WATCH_S)
    if (opened := len(stage.gateway.streams)) > 1:
        raise Mismatch(f"opened {opened - 1} more stream{'s' if opened > 2 else ''}")
    if not ended:
        raise Mismatch(f"was still running {WATCH_S:g} s later")
    await _ends_with(stage, status)


@recommended("sigterm-idle", "asks to drain (SetCredit) at SIGTERM, and ends with status 0 after Draining DONE")
async def sigterm_idle(stage: Stage) -> None:
    stream = await stage.connect()
    await stream.quiet()
    stage.signal(signal.SIGTERM)
    if not (await stream.expect("set_credit")).drain:
        raise Mismatch("sent SetCredit without drain")
    stream.send(draining=pb.Draining(reason=pb.Draining.REASON_DONE))
    stream.end()
    await _ends_with(stage, 0)


@recommended("sigterm-game", "finishes the running game after SIGTERM, and ends with status 0 after Draining DONE")
async def sigterm_game(stage: Stage) -> None:
    stream = await stage.connect()
    table = Table(stream.hello)
    await stage.play(stream, table, 1)
    stage.signal(signal.SIGTERM)
    if not (await stream.expect("set_credit")).drain:
        raise Mismatch("sent SetCredit without drain")
    stream.send_frame(table.ask())
    table.take(await stage.act(stream, table))
    stream.send_frame([table.void(), pb.ArenaEvent(draining=pb.Draining(reason=pb.Draining.REASON_DONE))])
    stream.end()
    await _ends_with(stage, 0)


@recommended("sigterm-twice", "ends at once at the second SIGTERM, whatever runs")
async def sigterm_twice(stage: Stage) -> None:
    stream = await stage.connect()
    stream.send_frame([Table(stream.hello).start()])
    await stream.quiet()
    stage.signal(signal.SIGTERM)
    await stream.expect("set_credit")
    await asyncio.sleep(0.5)
    if stage.exit_status is not None:
        raise Mismatch(f"ended with status {stage.exit_status} at the first, with a game running")
    stage.signal(signal.SIGTERM)
    await stage.ended(SOON_S)

"""A whole game of a real engine over a scripted stream, one program at every seat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random

import engines
from botarena import codecs
from botarena.v1 import play_pb2 as pb
from engines.playout import pick

from .scripted import PATIENCE_S, ScriptedArena, Stream


@asynccontextmanager
async def program(
    arena: ScriptedArena, *command: str, env: dict[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot's process on ``arena``; ended by force if it is still there at the end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={"ARENA_ADDRESS": arena.address, "ARENA_TOKEN": "secret", "PATH": "/usr/bin:/bin", **(env or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """Exit code and standard error of a process that ends by itself."""
    _, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode is not None
    return process.returncode, err.decode()


async def first_stream(arena: ScriptedArena, process: asyncio.subprocess.Process) -> Stream:
    """The stream that the process opens; fails with its standard error if it ends instead."""
    stream, end = asyncio.create_task(arena.stream()), asyncio.create_task(process.wait())
    await asyncio.wait({stream, end}, return_when=asyncio.FIRST_COMPLETED)
    end.cancel()
    if not stream.done():
        stream.cancel()
        raise AssertionError(await ended(process))
    return stream.result()


async def play_game(
    stream: Stream, name: str, *, players: int, seed: int, most: int = 10_000, wants: pb.Wants | None = None
) -> list[str]:
    """Deals and referees one game; the bot answers for all seats and gets the texts and typed actions it ``wants``.

    Returns the texts of what happened, at most ``most``."""
    wants = wants or pb.Wants()
    game, rng, told, asked = engines.get(name), Random(seed), [], 0
    state = game.new_state(players)
    for seat in range(players):
        stream.send(
            match_started=pb.MatchStarted(
                game_id=f"seat-{seat}", game=name, players=players, seat=seat, bot_seed=seed + seat
            )
        )
    while not state.is_terminal and len(told) < most:
        if outcomes := state.chance():
            outcome = pick(outcomes, rng)
            told.append(game.text(outcome))
            state = state.apply_chance(outcome)
            continue
        joint = {seat: legal[0] for seat in state.actors() if len(legal := state.legal(seat)) == 1}
        thinking = [seat for seat in state.actors() if seat not in joint]
        for seat in thinking:
            asked += 1
            view = pb.View(seat=seat, seq=len(told))
            codecs.encode_view(name, state.view(seat), view)
            if wants.text:
                view.text = state.render(seat)
            request = _request(game, seat, asked, view, state.legal(seat))
            if wants.typed_actions:
                for action in request.legal:
                    codecs.encode_action(name, game.typed(action.id), action.typed)
            stream.send(decision_requested=request)
        for _ in thinking:
            act = await stream.expect("act")
            seat = int(act.game_id.removeprefix("seat-"))
            assert act.action_id in state.legal(seat)
            joint[seat] = act.action_id
        told += [game.text(joint[seat]) for seat in sorted(joint)]
        state = state.apply(joint)
    for seat in range(players):
        stream.finish(f"seat-{seat}", places=state.placements(), scores=state.scores())
    return told


def _request(
    game: engines.Game, seat: int, decision_id: int, view: pb.View, legal: Sequence[int]
) -> pb.DecisionRequested:
    return pb.DecisionRequested(
        game_id=f"seat-{seat}",
        decision_id=decision_id,
        view=view,
        legal=[pb.Action(id=action, text=game.text(action)) for action in legal],
        clock=pb.Clock(bank_ms=60_000, limit_ms=60_000),
        default_action=legal[0],
    )

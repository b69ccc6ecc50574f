"""Chess games between two engines by python-chess, so many at once: ``rival_chess.py GAMES_AT_ONCE ENGINE SECONDS``.

Each move is asked with ``go nodes 1``. Prints what was done as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import chess
import chess.engine

MOST_PLIES = 200
ONE_NODE = chess.engine.Limit(nodes=1)


async def lane(engine: str, until: list[float], counted: list[int]) -> None:
    """Games between two processes of the engine, one after the other, until the time in ``until``."""
    players = [(await chess.engine.popen_uci(engine))[1] for _ in range(2)]
    game = 0
    while time.perf_counter() < until[0]:
        board = chess.Board()
        game += 1
        while not board.is_game_over() and board.ply() < MOST_PLIES and time.perf_counter() < until[0]:
            played = await players[board.turn].play(board, ONE_NODE, game=game)
            board.push(played.move)
            counted[0] += 1
    for player in players:
        await player.quit()


async def main(lanes: int, engine: str, seconds: float) -> None:
    """Plays and prints."""
    until, counted = [time.perf_counter() + 60], [0]
    tasks = [asyncio.create_task(lane(engine, until, counted)) for _ in range(lanes)]
    while counted[0] < 20:  # noqa: ASYNC110 - what the first moves cost does not count
        await asyncio.sleep(0.01)
    began, before = time.perf_counter(), counted[0]
    until[0] = began + seconds
    await asyncio.gather(*tasks)
    print(json.dumps({"moves": counted[0] - before, "seconds": until[0] - began}))


asyncio.run(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))

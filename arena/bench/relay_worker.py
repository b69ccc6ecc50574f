"""A worker of which a bench wants nothing but play: ``relay_worker.py REDIS_URL MATCHES PART PARTS BOT_ID...``.

Plays so many matches at once between bots that are connected to gateways, one set after the other, and keeps no result. Of all
matches of the bench it has each ``PARTS``-th, from ``PART`` on.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena import loops
from arena.bench.stage import GAME, UNHURRIED
from arena.gateway.registry import SessionRegistry, connect_redis
from arena.host.play import Finished
from arena.host.port import Port
from arena.host.remote import Gateways
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.match.spec import Player
from botarena.v1 import play_pb2 as pb

SETS: Final = 1_000_000
"""More than any bench waits for."""


async def main(redis_url: str, matches: Sequence[int], part: int, bots: Sequence[int]) -> None:
    """Plays the matches of these numbers until the process is ended. Raises what ends one of them."""
    redis = connect_redis(redis_url)
    async with Gateways(SessionRegistry(redis), f"bench-{part}", lambda: 1) as found, asyncio.TaskGroup() as group:
        for number in matches:
            table = (bots[number % len(bots)], bots[(number + 1) % len(bots)])
            group.create_task(_play_on(found, table, number))


async def _play_on(gateways: Gateways, table: tuple[int, int], number: int) -> None:
    """Plays sets between two bots, one after the other, for nobody."""
    key = Ed25519PrivateKey.generate()
    for turn in range(SETS):
        game = GameJob(f"m_{number}_{turn}", 0, 1, (0, 1))
        job = SetJob(
            set_id=f"s_{number}_{turn}",
            attempt=1,
            game=GAME,
            config={},
            players=(Player("a", "1", "bench"), Player("b", "1", "bench")),
            games=(game,),
            time_control=UNHURRIED,
            deal_mode="own",
            rated=False,
            seed=number,
        )
        ports = _BenchPorts(gateways, table)
        try:
            await play_set(job, ports, _NoJournal(), key)
        except NotReady:  # 500 offers at once may take longer than one bot has to answer
            continue
        finally:
            ports.release()


class _BenchPorts:
    """The sessions of two bots at a gateway."""

    def __init__(self, gateways: Gateways, table: tuple[int, int]) -> None:
        self._gateways = gateways
        self._table = table
        self._acquired: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        if position not in self._acquired:
            self._acquired[position] = await self._gateways.acquire(self._table[position], "0")
        return self._acquired[position]

    async def close_game(self) -> None:
        pass

    def release(self) -> None:
        for position in self._acquired:
            self._gateways.release(self._table[position], "0")


class _NoJournal:
    """Results that nobody wants."""

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        pass

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, pb.RatingChange]:
        return {}


if __name__ == "__main__":
    matches, part, parts, *bots = map(int, sys.argv[2:])
    loops.run(main(sys.argv[1], range(part, matches, parts), part, bots))

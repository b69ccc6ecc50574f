"""All tables of this process: opened, played with house bots in processes of their own, ended when nobody is there."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.endless import again_and_again
from arena.errors import ArenaError
from arena.host.house import HouseBots
from arena.host.port import Port
from arena.host.sets import play_set
from arena.web.play.chair import Chair
from arena.web.play.order import PERSON, Order
from arena.web.play.table import Refused, Table
from bots.house import catalogue

log = logging.getLogger(__name__)

IDLE_S: Final = 900.0
"""How long a table stays open, or a game goes on, with nobody of those who sit there connected."""
WAITING_S: Final = 1800.0
"""How long a table waits for people."""
KEEP_S: Final = 1800.0
"""How long a table that is over stays as it is for those who look at it no more; its record stays longer."""
KEPT: Final = 256
"""Tables in memory at most, however many are opened and left within that time."""
SWEEP_S: Final = 5.0
NICENESS: Final = 5
"""House bots here stand back behind the pages."""
SEARCHERS: Final = 4
"""Processes of bots that search, which take a processor while they think."""


class Lounge:
    """``tables`` at once, ``per_address`` of them opened by one address; ``keep`` puts a record away."""

    def __init__(
        self, logs: Path, keep: Callable[[str, bytes], Awaitable[None]], *, tables: int, per_address: int
    ) -> None:
        self._keep = keep
        self._most = tables
        self._per_address = per_address
        self._tables: dict[str, Table] = {}
        self._games: dict[str, asyncio.Task[None]] = {}
        self._house = HouseBots(logs, NICENESS)
        self._opened = contextlib.AsyncExitStack()
        self._house_lock = asyncio.Lock()
        self._house_is_there = False
        self._key = Ed25519PrivateKey.generate()  # the arena's own key signs what is rated; it is not for the pages

    def get(self, table_id: str) -> Table | None:
        """A table that is here now."""
        return self._tables.get(table_id)

    @property
    def running(self) -> list[Table]:
        """Tables that wait or are played."""
        return [table for table in self._tables.values() if table.running]

    def open(self, order: Order, name: str, address: str) -> Table:
        """A new table, whose opener sits there already; it begins when all chairs are taken. Raises Refused."""
        running = self.running
        if len(running) >= self._most:
            raise Refused(503, "all tables are taken; try again in a while")
        if sum(table.address == address for table in running) >= self._per_address:
            raise Refused(429, "you have as many tables open as one may have; end one of them first")
        searching = sum(chair.bot is not None and _searches(chair.bot) for table in running for chair in table.chairs)
        if searching + sum(name != PERSON and _searches(catalogue.find(name)) for name in order.others) > SEARCHERS:
            raise Refused(503, "all bots that search are busy; try another opponent, or again in a while")
        over = [one.id for one in self._tables.values() if not one.running]
        for table_id in over[: max(0, len(self._tables) + 1 - KEPT)]:
            del self._tables[table_id]
        table = Table(order, name, address)
        self._tables[table.id] = table
        self.begin(table)
        return table

    def open_again(self, table: Table, chair: Chair, address: str) -> tuple[Table, Chair]:
        """The same game for the same people, opened by one of them; the others are invited. Raises Refused."""
        if table.running:
            raise Refused(409, "this game is not over")
        again = self.open(table.order, chair.name, address)
        free = [other.invite for other in again.chairs if not other.taken]
        others = [other.seat for other in table.chairs if other.bot is None and other is not chair and not other.left]
        table.follow(again.id, dict(zip(others, free, strict=False)))
        return again, again.chairs[again.opener_seat]

    def begin(self, table: Table) -> None:
        """Starts the game if everybody is there and it has not begun."""
        if table.complete and table.phase == "waiting" and table.id not in self._games:
            task = asyncio.create_task(self._play(table), name=f"table {table.id}")
            self._games[table.id] = task
            task.add_done_callback(lambda _: self._games.pop(table.id, None))

    async def run(self) -> None:
        """Ends and forgets what nobody looks at, until cancelled."""

        async def sweep() -> None:
            self.sweep(time.monotonic())

        await again_and_again(sweep, pause_s=SWEEP_S, what="ending tables that nobody looks at", log=log)

    def sweep(self, now: float) -> None:
        """As things are at ``now`` on the monotonic clock, in seconds."""
        for table in list(self._tables.values()):
            quiet_s = now - table.since
            if table.running and not table.attended and quiet_s > IDLE_S:
                self._end(table, "nobody was here any more")
            elif table.phase == "waiting" and now - table.opened > WAITING_S:
                self._end(table, "not everybody has come")
            elif not table.running and not table.watched and quiet_s > KEEP_S:
                del self._tables[table.id]

    def hush(self) -> None:
        """Ends all streams."""
        for table in self._tables.values():
            table.close()

    async def close(self) -> None:
        """Ends all games and bots."""
        for table in self.running:
            self._end(table, "the arena ends")
        await asyncio.gather(*self._games.values(), return_exceptions=True)
        await self._opened.aclose()

    def _end(self, table: Table, why: str) -> None:
        table.end(why)
        if game := self._games.get(table.id):
            game.cancel()

    async def _play(self, table: Table) -> None:
        table.play()
        ports = _Ports(self, table)
        try:
            await play_set(table.job(), ports, table, self._key, table.watch)
        except ArenaError as error:
            # A bot did not start or was not ready, or the engine failed: nobody at the table did it.
            log.warning("table %s: %s", table.id, error)
            table.end("the arena could not play this game; that is nobody's loss")
        finally:
            await ports.release()
        if table.record is not None:
            try:
                await self._keep(table.id, table.record)
            except ArenaError as error:
                log.warning("the record of table %s is kept in memory only: %s", table.id, error)

    async def house(self) -> HouseBots:
        """The house bots; nothing of them runs before the first table."""
        async with self._house_lock:
            if not self._house_is_there:
                await self._opened.enter_async_context(self._house)
                self._house_is_there = True
        return self._house


class _Ports:
    """Where those who sit at a table are reached. Bots that search have a process a chair, the others one for all tables."""

    def __init__(self, lounge: Lounge, table: Table) -> None:
        self._lounge = lounge
        self._table = table
        self._own: list[Port] = []

    async def open(self, position: int) -> Port:
        bot = self._table.chairs[position].bot
        if bot is None:
            return self._table.person(position).port
        house = await self._lounge.house()
        if not _searches(bot):
            return await house.port(bot.name, bot.version)
        port = await house.own_port(bot.name, bot.version)
        self._own.append(port)
        return port

    async def close_game(self) -> None:
        pass

    async def release(self) -> None:
        if self._own:
            house = await self._lounge.house()
            await asyncio.gather(*(house.stop(port) for port in self._own))


def _searches(bot: catalogue.HouseBot) -> bool:
    return bot.playouts > 0

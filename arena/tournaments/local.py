"""An event on one machine, without a server: house bots and programs, the same host and referee as on an arena."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.errors import ArenaError
from arena.host.house import HOUSE
from arena.host.play import Finished, Voided
from arena.host.port import Port
from arena.host.processes import BotDidNotConnect, LocalBots, Program
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.match.spec import Player
from arena.storage.records import RecordStore
from arena.tournaments.formats.event import Pairing
from arena.tournaments.progress import GamePlayed, SetOrder, SetPlayed
from arena.tournaments.runner import Absent
from arena.tournaments.spec import TournamentSpec
from botarena.v1.play_pb2 import RatingChange

ATTEMPTS: Final = 3
"""How often a set that the machine spoilt, or a program that does not come, is tried."""
IDLE: Final = 16
"""Programs kept running between their sets; those that have waited longest are ended."""


class LocalBackend:
    """Plays sets with programs of this machine. Use as ``async with LocalBackend(...) as backend``."""

    def __init__(
        self, spec: TournamentSpec, programs: Mapping[str, Program], records: RecordStore, key: Ed25519PrivateKey
    ) -> None:
        self._spec = spec
        self._records = records
        self._key = key
        self._folder = tempfile.TemporaryDirectory(prefix="arena-")
        self._pool = _Pool(programs, LocalBots(Path(self._folder.name)))

    async def __aenter__(self) -> LocalBackend:
        await self._pool.bots.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._pool.bots.__aexit__(*exc_info)
        self._folder.cleanup()

    async def play(self, order: SetOrder) -> SetPlayed | Absent:
        """The set, played from its beginning."""
        games: dict[int, GamePlayed] = {}
        for attempt in range(1, ATTEMPTS + 1):
            ports = _SetPorts(self._pool, order.pairing, shared=self._spec.deals == "shared")
            journal = _Journal(self._records, games)
            if self._spec.deals == "shared":
                games.clear()  # a shared deal stands or falls as a whole
            job = self._job(order, attempt)
            rest = replace(job, games=tuple(game for game in job.games if game.index not in games))
            try:
                await play_set(rest, ports, journal, self._key)
                return SetPlayed(tuple(games[index] for index in sorted(games)))
            except _Missing as error:
                if attempt == ATTEMPTS:
                    return Absent(frozenset({error.name}))
            except NotReady as error:
                if attempt == ATTEMPTS:
                    return Absent(frozenset(order.pairing.players[position] for position in error.positions))
            except Voided as error:
                if attempt == ATTEMPTS:
                    raise ArenaError(
                        f"{order.pairing.id}: a game failed {ATTEMPTS} times by no bot's fault: {error}"
                    ) from error
            finally:
                await ports.close()
        raise AssertionError("the last attempt returns or raises")

    def _job(self, order: SetOrder, attempt: int) -> SetJob:
        game, players = self._spec.games[order.game], order.pairing.players
        names = [self._pool.programs[name] for name in players]
        return SetJob(
            set_id=self._id("s", order),
            attempt=attempt,
            game=game.game,
            config=game.config,
            players=tuple(Player(one.name, one.version, one.owner) for one in names),
            games=tuple(
                GameJob(
                    self._id(f"m{k}", order),
                    k,
                    attempt,
                    tuple((seat + k) % len(players) for seat in range(len(players))),
                )
                for k in range(len(players))
            ),
            time_control=self._spec.time_control,
            deal_mode=self._spec.deals,
            rated=False,
            seed=self._seed(order),
        )

    def _seed(self, order: SetOrder) -> int | None:
        """A seed of the set's own, so that no two sets have the same deals."""
        if self._spec.seed is None:
            return None
        text = f"{self._spec.seed}/{order.pairing.id}/{order.number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    def _id(self, kind: str, order: SetOrder) -> str:
        """Random, or with a seed the same again, since deals follow from it."""
        if self._spec.seed is None:
            return f"{kind[0]}_{secrets.token_hex(8)}"
        text = f"{self._spec.seed}/{kind}/{order.pairing.id}/{order.number}"
        return f"{kind[0]}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class _Missing(ArenaError):
    """An entrant's program does not start or connect."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} did not come: {why}")
        self.name = name


class _Pool:
    """Running programs that no set uses now."""

    def __init__(self, programs: Mapping[str, Program], bots: LocalBots) -> None:
        self.programs = programs
        self.bots = bots
        self._idle: list[tuple[str, Port]] = []

    async def take(self, name: str) -> Port:
        """A process of this entrant, running or new. Raises _Missing."""
        for item in tuple(self._idle):
            if item[0] == name:
                self._idle.remove(item)
                if not item[1].gone:
                    return item[1]
        try:
            return await self.bots.start(self.programs[name])
        except (BotDidNotConnect, OSError) as error:
            raise _Missing(name, str(error)) from error

    async def give(self, name: str, port: Port) -> None:
        """The set has no more use for it."""
        self._idle.append((name, port))
        while len(self._idle) > IDLE:
            await self.bots.stop(self._idle.pop(0)[1])

    async def end(self, *ports: Port) -> None:
        await self.bots.stop(*ports)


class _SetPorts:
    """The processes of one set. Programs must not live from one game of a shared deal into the next, house bots may."""

    def __init__(self, pool: _Pool, pairing: Pairing, *, shared: bool) -> None:
        self._pool = pool
        self._names = pairing.players
        self._shared = shared
        self._ports: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        port = self._ports.get(position)
        if port is None or port.gone:
            self._ports[position] = await self._pool.take(self._names[position])
        return self._ports[position]

    async def close_game(self) -> None:
        if self._shared:
            await self._end([k for k in self._ports if self._pool.programs[self._names[k]].owner != HOUSE])

    async def close(self) -> None:
        if self._shared:
            await self.close_game()
        for position, port in self._ports.items():
            await self._pool.give(self._names[position], port)
        self._ports.clear()

    async def _end(self, positions: Sequence[int]) -> None:
        await self._pool.end(*(self._ports.pop(position) for position in positions))


class _Journal:
    """Keeps each game's record on disk, and its result for the set."""

    def __init__(self, records: RecordStore, games: dict[int, GamePlayed]) -> None:
        self._records = records
        self._games = games

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        pass

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, RatingChange]:
        digest = await asyncio.to_thread(self._records.write, finished.record.to_bytes())
        outcome = finished.outcome
        seats = [game.order.index(position) for position in range(len(game.order))]
        self._games[game.index] = GamePlayed(
            match_id=game.match_id,
            places=tuple(outcome.places[seat] for seat in seats),
            scores=tuple(outcome.scores[seat] for seat in seats),
            reasons=tuple(str(outcome.reasons[seat]) for seat in seats),
            record=digest,
            duration_ms=finished.duration_ms,
        )
        return {}

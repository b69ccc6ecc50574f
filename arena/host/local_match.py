"""Games between programs of this machine without a server: the same host and referee as on the arena."""

from __future__ import annotations

import hashlib
import secrets
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import engines
from arena.errors import ArenaError, UserError
from arena.host.helpers import Take, play_beside, together
from arena.host.play import Finished, Voided
from arena.host.port import Port
from arena.host.processes import LocalBots, Program, processors
from arena.host.sets import GameDeal, GameJob, NotReady, SetJob, play_set
from arena.match.deal import DealMode
from arena.match.spec import Player, TimeControl
from botarena.v1.play_pb2 import RatingChange

ATTEMPTS = 3
"""How often a game that the machine spoilt is tried."""


@dataclass(frozen=True, slots=True)
class LocalMatch:
    """What ``arena match`` plays: ``games`` games over rotating seats, in sets of one game a seating.

    ``fresh``: positions whose program must not live from one game of a shared deal into the next. ``skip``: numbers of
    sets that were played before.
    """

    game: str
    config: Mapping[str, bool | int]
    programs: tuple[Program, ...]
    games: int
    time_control: TimeControl
    deal_mode: DealMode = "own"
    seed: int | None = None
    concurrency: int = 1
    fresh: frozenset[int] = frozenset()
    skip: frozenset[int] = frozenset()

    def sets(self) -> list[SetJob]:
        """The sets to play, in order; the last one is short if the games do not fill it."""
        rules = engines.get(self.game)
        seats = len(self.programs)
        config = rules.complete_config(seats, self.config)
        players = tuple(Player(program.name, program.version, program.owner) for program in self.programs)
        jobs = []
        for first in range(0, self.games, seats):
            number = first // seats
            games = tuple(
                GameJob(
                    match_id=self._id("m", first + shift),
                    index=shift,
                    attempt=1,
                    order=tuple((seat + shift) % seats for seat in range(seats)),
                )
                for shift in range(min(seats, self.games - first))
            )
            jobs.append(
                SetJob(
                    set_id=self._id("s", number),
                    attempt=1,
                    game=self.game,
                    config=config,
                    players=players,
                    games=games,
                    time_control=self.time_control,
                    deal_mode=self.deal_mode,
                    rated=False,
                    seed=self.seed,
                )
            )
        return jobs

    def _id(self, kind: str, number: int) -> str:
        """Random, or the same again for the same seed, so that a seed repeats whole matches."""
        if self.seed is None:
            return f"{kind}_{secrets.token_hex(8)}"
        return f"{kind}_{hashlib.sha256(f'{self.seed}/{kind}/{number}'.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class LocalGame:
    """A finished game: ``number`` counts the games of the match from 0, ``set_number`` its sets."""

    number: int
    set_number: int
    order: tuple[int, ...]
    finished: Finished


async def play_local(
    match: LocalMatch, on_game: Callable[[LocalGame], None], people: Mapping[int, Port] | None = None
) -> list[LocalGame]:
    """Plays the whole match and returns its games in order; ``on_game`` hears of each as it ends.

    ``people``: ports of those positions that are no program. They sit at one game at a time, so concurrency must be 1.
    Raises UserError with the program's output where a bot does not connect or is not ready.
    """
    queue = deque((number, job) for number, job in enumerate(match.sets()) if number not in match.skip)
    lanes = min(match.concurrency, len(queue))
    games: list[LocalGame] = []

    async def take() -> tuple[int, SetJob] | None:
        return queue.popleft() if queue else None

    def keep(game: LocalGame) -> None:
        games.append(game)
        on_game(game)

    key = Ed25519PrivateKey.generate().private_bytes_raw()
    play = partial(_play_lanes, match, key, people or {}, lanes >= processors(), lanes == 1)
    if lanes > 1 and processors() > 1:
        await play_beside(play, lanes, take, keep)
    else:
        await play(lanes, take, keep)
    return sorted(games, key=lambda game: game.number)


async def _play_lanes(
    match: LocalMatch,
    key: bytes,
    people: Mapping[int, Port],
    crowded: bool,
    alone: bool,
    lanes: int,
    take: Take,
    keep: Callable[[LocalGame], None],
) -> None:
    """Plays as many sets at once, until none is left. ``crowded``, ``alone``: see LocalBots."""
    signs = Ed25519PrivateKey.from_private_bytes(key)
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        async with LocalBots(Path(folder), crowded=crowded, alone=alone) as bots:
            await together(_lane(match, _LanePorts(match, bots, people), take, signs, keep) for _ in range(lanes))


async def _lane(
    match: LocalMatch,
    ports: _LanePorts,
    take: Take,
    key: Ed25519PrivateKey,
    keep: Callable[[LocalGame], None],
) -> None:
    """Plays sets with one process a bot."""
    while (following := await take()) is not None:
        number, job = following
        journal = _Keep(match, number, keep)
        for attempt in range(1, ATTEMPTS + 1):
            done = journal.done
            rest = tuple(replace(game, attempt=attempt) for game in job.games if game.index not in done)
            try:
                await play_set(replace(job, attempt=attempt, games=rest), ports, journal, key)
                break
            except NotReady as error:
                names = ", ".join(match.programs[position].name for position in error.positions)
                raise UserError(f"{names} did not answer the offer of a set with Ready within 10 s") from error
            except Voided as error:
                if attempt == ATTEMPTS:
                    raise ArenaError(f"a game failed {ATTEMPTS} times through no bot's fault: {error}") from error
    await ports.close()


class _LanePorts:
    """One process a bot; a program that ended is started again with the next game."""

    def __init__(self, match: LocalMatch, bots: LocalBots, people: Mapping[int, Port]) -> None:
        self._match = match
        self._bots = bots
        self._people = people
        self._ports: dict[int, Port] = {}

    async def open(self, position: int) -> Port:
        port = self._people.get(position) or self._ports.get(position)
        if port is not None and not port.gone:
            return port
        self._ports[position] = await self._bots.start(self._match.programs[position])
        return self._ports[position]

    async def close_game(self) -> None:
        if self._match.deal_mode == "shared":
            await self._bots.stop(*(self._ports.pop(position) for position in self._match.fresh & self._ports.keys()))

    async def close(self) -> None:
        await self._bots.stop(*self._ports.values())


class _Keep:
    """The journal of a set that is played for its caller only."""

    def __init__(self, match: LocalMatch, set_number: int, keep: Callable[[LocalGame], None]) -> None:
        self._first = set_number * len(match.programs)
        self._set_number = set_number
        self._keep = keep
        self.done: set[int] = set()

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        pass

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, RatingChange]:
        self.done.add(game.index)
        self._keep(LocalGame(self._first + game.index, self._set_number, game.order, finished))
        return {}

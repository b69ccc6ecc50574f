"""Running matches for those who watch them: what a spectator may see, once a second, and only while somebody looks.

The pages say in Redis which match is looked at; the worker that plays it puts the spectator's film into Redis, for the pages to fetch.
Nothing here is on the path of a move: a watched match keeps a list of events that the referee keeps anyway, and a thread draws.
Deals that other games share are shown to nobody, and what happens within a second is shown together, so that the time that a move
took is not told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError

from arena.endless import again_and_again
from arena.host.play import Watcher
from arena.host.sets import GameJob, SetJob
from arena.match.referee import Event

log = logging.getLogger(__name__)

EVERY_S: Final = 1.0
MOST: Final = 8
"""Matches that one worker shows at a time; of others there is no picture until one of these is over."""
KEPT_S: Final = 60
LOOKED_AT_S: Final = 5


def looked_at_key(match_id: str) -> str:
    """Exists as long as somebody watches the match."""
    return f"arena:looked-at:{match_id}"


def film_key(match_id: str, attempt: int) -> str:
    """A list: the film without its frames, then its frames, each as JSON."""
    return f"arena:film:{match_id}:{attempt}"


@dataclass(eq=False, slots=True)
class _Game:
    """One game that is played here. ``sent`` counts what is in Redis."""

    job: SetJob
    game: GameJob
    events: list[Event] = field(default_factory=list)
    over: bool = False
    sent: int = 0
    reel: Any = None

    def lines(self) -> list[bytes]:
        """What a viewer has not got yet. Runs in a thread; ``events`` only grows."""
        from arena.web.film import heading  # noqa: PLC0415 - most workers draw nothing
        from arena.web.play.reel import Reel  # noqa: PLC0415

        events = self.events[:]
        if not events:
            return []
        fresh = []
        if self.reel is None:
            self.reel = Reel(None, events[0].before)
            players = [self.job.players[position] for position in self.game.order]
            fresh.append(heading(self.game.match_id, self.job.game, self.job.config, None, players))
        known = len(self.reel.frames)
        self.reel.add(events[known - 1 :])
        return [orjson.dumps(one) for one in (*fresh, *self.reel.frames[0 if fresh else known :])]

    def forget(self) -> None:
        """The next viewer is told everything anew."""
        self.reel, self.sent = None, 0


class Broadcast:
    """Of one worker. For one event loop."""

    def __init__(self) -> None:
        self._games: dict[str, _Game] = {}

    @contextmanager
    def of(self, job: SetJob) -> Iterator[Watcher | None]:
        """What is to hear the events of a set's games in their order; None if nobody may see them yet."""
        if job.deal_mode != "own":
            yield None
            return
        waiting = iter(job.games)
        now: list[_Game] = []

        def watch(events: Sequence[Event]) -> None:
            if events and events[0].seq == 0:
                for before in now:
                    before.over = True
                now[:] = [_Game(job, game) for game in islice(waiting, 1)]
                self._games.update({one.game.match_id: one for one in now})
            for one in now:
                one.events += events

        try:
            yield watch
        finally:
            for game in now:
                game.over = True

    async def run(self, redis: Redis) -> None:
        """Until cancelled."""

        async def show() -> None:
            try:
                await self.show(redis)
            except RedisError as error:
                log.info("nobody can watch now: %s", error)

        await again_and_again(show, pause_s=EVERY_S, what="showing matches", log=log)

    async def show(self, redis: Redis) -> None:
        """Puts what is new of the matches that are looked at into Redis, and forgets those that are over. Raises RedisError."""
        games = list(self._games.values())
        if not games:
            return
        self._games = {match_id: game for match_id, game in self._games.items() if not game.over}
        looked_at = await redis.mget([looked_at_key(one.game.match_id) for one in games])
        shown = [game for game, eyes in zip(games, looked_at, strict=True) if eyes][:MOST]
        for game in games:
            if game not in shown:
                game.forget()
                continue
            try:
                await _send(redis, game)
            except RedisError:
                raise
            except Exception:  # its rules', when they draw it; the others are shown all the same
                log.exception("the match %s cannot be shown", game.game.match_id)
                self._games.pop(game.game.match_id, None)


async def _send(redis: Redis, game: _Game) -> None:
    lines = await asyncio.to_thread(game.lines)
    if not lines:
        return
    key = film_key(game.game.match_id, game.game.attempt)
    async with redis.pipeline(transaction=True) as pipeline:
        if game.sent:
            pipeline.rpushx(key, *lines)  # type: ignore[arg-type]
        else:
            pipeline.delete(key)
            pipeline.rpush(key, *lines)
        pipeline.expire(key, KEPT_S)
        kept = (await pipeline.execute())[-2]
    game.sent += len(lines)
    if kept != game.sent:
        game.forget()  # Redis has lost what was there

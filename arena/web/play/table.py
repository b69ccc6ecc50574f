"""One table: its chairs, its game, and what each of those who look at it is told."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from random import SystemRandom
from typing import Any, Final, Literal

import engines
from arena.errors import UserError
from arena.host.play import Finished
from arena.host.sets import GameDeal, GameJob, SetJob
from arena.match.referee import Event, Outcome
from arena.web.play.chair import BrowserPerson, Chair
from arena.web.play.order import PACES, PERSON, Order, name_of
from arena.web.play.reel import Reel
from arena.web.words import HUES, hue
from botarena.v1.play_pb2 import RatingChange
from bots.house import catalogue

PING_S: Final = 15.0
GATHER_S: Final = 0.04
"""What happens within this time is sent together: a chain of forced moves is one message."""
SPECTATORS: Final = 50
"""And as many windows for one seat."""

Phase = Literal["waiting", "playing", "over", "ended"]
"""Waiting for people; being played; over with a result and a record; ended without."""


class Refused(UserError):
    """What somebody asked of a table is not theirs to ask, or not now. ``status`` is HTTP's word for why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Table:
    """For one event loop. ``id`` is public; a chair's secret is what makes one of those who look the person on it."""

    def __init__(self, order: Order, opener: str, address: str = "") -> None:
        """``opener``: a name for the person on the first chair; ``address``: where they are, for limits."""
        self.id: Final = f"t_{secrets.token_hex(8)}"
        self.order: Final = order
        self.address: Final = address
        self.phase: Phase = "waiting"
        self.problem = ""
        self.record: bytes | None = None
        self.opener_seat, self.chairs = _chairs(order, opener)
        self.opened = self.since = time.monotonic()
        """Since when this phase, or nobody who sits here being connected, has lasted; on the monotonic clock."""
        self._following: tuple[str, Mapping[int, str]] = ("", {})
        """The table at which the same people play again, and by seat of this one what lets them sit down there."""
        self._people = {chair.seat: BrowserPerson(self.touch) for chair in self.chairs if chair.bot is None}
        first = engines.get(order.game).new_state(order.players, **order.config)
        self._reels = {eyes: Reel(eyes, first) for eyes in (None, *self._people)}
        self._outcome: Outcome | None = None
        self._viewers: Counter[int | None] = Counter()
        self._changed = asyncio.Event()
        self._version = 0
        self._closed = False

    # ---------------------------------------------------------------- who may do what

    def chair_of(self, secret: str) -> Chair:
        """The chair of the person who has this secret. Raises Refused."""
        for chair in self.chairs:
            if chair.opens_to(secret):
                return chair
        raise Refused(403, "this is nobody's seat at this table")

    def join(self, code: str, name: str) -> Chair:
        """Somebody sits down on the chair that they were invited to. Raises Refused."""
        for chair in self.chairs:
            if self.phase == "waiting" and chair.invites(code):
                chair.sit(unlike(name_of(name), [other.name for other in self.chairs]))
                self.touch()
                return chair
        raise Refused(410, "this invitation is no longer good: somebody has sat down there, or the table is closed")

    def choose(self, chair: Chair, decision_id: int, text: str) -> None:
        """A person's choice. Raises Refused if it is not theirs to make now."""
        asked = self._people[chair.seat].asked
        if asked is None or asked.decision_id != decision_id or asked.chosen.done():
            raise Refused(409, "this decision is not open any more")
        if text not in asked.legal:
            raise Refused(422, "this is not legal here")
        asked.chosen.set_result(asked.legal[text])

    def leave(self, chair: Chair) -> None:
        """A person goes for good. Before the game the chair is free again, or the table ends if they opened it; a game goes on
        as it does when a bot has disconnected."""
        if self.phase == "waiting" and chair.seat == self.opener_seat:
            self.end(f"{chair.name} has left")
        elif self.phase == "waiting":
            chair.stand_up()
            self.touch()
        elif self.phase == "playing":
            chair.left = True
            self._people[chair.seat].port.leave()
            self.touch()

    # ---------------------------------------------------------------- the game

    @property
    def complete(self) -> bool:
        """Whether somebody sits on each chair."""
        return all(chair.taken for chair in self.chairs)

    @property
    def running(self) -> bool:
        """Whether it waits or is played."""
        return self.phase in ("waiting", "playing")

    @property
    def attended(self) -> bool:
        """Whether anybody who sits here is connected."""
        return any(seat is not None and count > 0 for seat, count in self._viewers.items())

    @property
    def watched(self) -> bool:
        """Whether anybody is connected."""
        return self._viewers.total() > 0

    def job(self) -> SetJob:
        """What is to be played: a set of one unrated game, with a deal of its own."""
        positions = tuple(chair.seat for chair in self.chairs)
        return SetJob(
            set_id=f"s_{self.id[2:]}",
            attempt=1,
            game=self.order.game,
            config=self.order.config,
            players=tuple(chair.player for chair in self.chairs),
            games=(GameJob(match_id=f"m_{self.id[2:]}", index=0, attempt=1, order=positions),),
            time_control=PACES[self.order.pace],
            deal_mode="own",
            rated=False,
        )

    def person(self, seat: int) -> BrowserPerson:
        """The person on a seat."""
        return self._people[seat]

    def watch(self, events: Sequence[Event]) -> None:
        """The game has gone on: each pair of eyes is shown its part of it."""
        for reel in self._reels.values():
            reel.add(events)
        self._wake()

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        """As a journal: nothing is to be kept."""

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, RatingChange]:
        """As a journal: there is a result, and nobody's rating changes."""
        self.record = finished.record.to_bytes()
        self._outcome = finished.outcome
        self._enter("over")
        return {}

    def play(self) -> None:
        """The game begins."""
        self._enter("playing")

    def end(self, problem: str) -> None:
        """There will be no result."""
        self.problem = problem
        self._enter("ended")

    def follow(self, table_id: str, codes: Mapping[int, str]) -> None:
        """The same people are invited to another table: ``codes`` by seat of this one."""
        self._following = table_id, codes
        self.touch()

    # ---------------------------------------------------------------- what is told

    async def events(self, seat: int | None, have: int) -> AsyncIterator[str]:
        """Server-sent events for the person on a seat, or a spectator, who has so many frames. Raises Refused.

        Each message holds frames that are new (``from``: the number of the first) and, if it has changed, the ``state``.
        """
        if self._viewers[seat] >= SPECTATORS:
            raise Refused(503, "as many look at this table as can")
        return self._stream(seat, have)

    async def _stream(self, seat: int | None, have: int) -> AsyncIterator[str]:
        frames, version = self._reels[seat].frames, -1
        have = min(have, len(frames))
        self._viewers[seat] += 1
        self.touch()
        try:
            while not self._closed:
                changed, message = self._changed, dict[str, Any]()
                if have < len(frames):
                    message |= {"from": have, "frames": frames[have:]}
                    have = len(frames)
                if version != self._version:
                    message["state"] = self.state(seat)
                    version = self._version
                yield f"data: {json.dumps(message, separators=(',', ':'))}\n\n" if message else ": still here\n\n"
                try:
                    async with asyncio.timeout(PING_S):
                        await changed.wait()
                        await asyncio.sleep(GATHER_S)
                except TimeoutError:
                    pass
        finally:
            self._viewers[seat] -= 1
            if seat is not None and not self.attended and self.running:
                self.since = time.monotonic()
            self.touch()

    def state(self, seat: int | None) -> dict[str, Any]:
        """All that is to be known beside the frames, as JSON, by a seat or a spectator: nothing here is hidden by the rules
        but what the seat itself is asked."""
        game = engines.get(self.order.game)
        shown: dict[str, Any] = {
            "phase": self.phase,
            "problem": self.problem,
            "title": game.title,
            "config": dict(self.order.config),
            "seats": [
                {**self._seat(chair), "hue": colour} for chair, colour in zip(self.chairs, self._hues(), strict=True)
            ],
            "spectators": max(0, self._viewers[None]),
        }
        if self._outcome is not None:
            reasons = [str(reason) for reason in self._outcome.reasons]
            shown["result"] = {"places": self._outcome.places, "scores": self._outcome.scores, "reasons": reasons}
        if seat is None:
            return shown
        person = self._people[seat]
        shown |= {"you": seat, "commitment": person.commitment.hex()}
        if person.asked is not None:
            asked = person.asked
            shown["ask"] = {
                "id": asked.decision_id,
                "legal": list(asked.legal),
                "left_ms": max(0, int((asked.until - time.monotonic()) * 1000)),
                "bank_ms": asked.bank_ms,
                "timer": asked.limit_ms != asked.bank_ms,
            }
        if self.phase == "waiting" and seat == self.opener_seat:
            shown["invites"] = [{"seat": one.seat, "code": one.invite} for one in self.chairs if not one.taken]
        table_id, codes = self._following
        if seat in codes:
            shown["again"] = {"table": table_id, "code": codes[seat]}
        return shown

    def close(self) -> None:
        """Ends all streams: they never end by themselves, and a server that stops waits for them."""
        self._closed = True
        self._wake()

    def touch(self) -> None:
        """The state has changed."""
        self._version += 1
        self._wake()

    def _seat(self, chair: Chair) -> dict[str, Any]:
        if chair.bot is not None:
            return {"bot": chair.name, "kind": "bot", "about": chair.bot.summary}
        return {
            "bot": chair.name if chair.taken else "",
            "kind": PERSON,
            "here": self._viewers[chair.seat] > 0,
            "left": chair.left,
        }

    def _hues(self) -> list[int]:
        """Colours by seat: the bots have the ones that they have everywhere, as far as no two would be alike."""
        given: list[int] = []
        for chair in self.chairs:
            colour = hue(chair.bot.name if chair.bot is not None else chair.name)
            while colour in given:
                colour = (colour + 1) % HUES
            given.append(colour)
        return given

    def _enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, time.monotonic()
        self.touch()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _chairs(order: Order, opener: str) -> tuple[int, list[Chair]]:
    """The opener's seat, where they sit, and all chairs by seat."""
    sitters: list[str | None] = [None, *order.others]
    if order.shuffle:
        SystemRandom().shuffle(sitters)
    chairs: list[Chair] = []
    for seat, sitter in enumerate(sitters):
        if sitter is None or sitter == PERSON:
            chairs.append(Chair(seat, ""))
        else:
            chairs.append(Chair(seat, unlike(sitter, [chair.name for chair in chairs]), catalogue.find(sitter)))
    opener_seat = sitters.index(None)
    chairs[opener_seat].sit(unlike(name_of(opener), [chair.name for chair in chairs]))
    return opener_seat, chairs


def unlike(name: str, others: Sequence[str]) -> str:
    """The name, with a number behind it if somebody else has it."""
    number = 1
    while (shown := name if number == 1 else f"{name} {number}") in others:
        number += 1
    return shown

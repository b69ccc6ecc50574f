"""Who sits at a table: a house bot, or a person with a secret of their own."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.host.person import PersonPort
from arena.match.spec import Player
from botarena.v1 import play_pb2 as pb
from bots.house import catalogue

TOKEN_BYTES: Final = 16
PERSON_OWNER: Final = "person"
HOUSE_OWNER: Final = "house"


@dataclass(frozen=True, slots=True)
class Asked:
    """An open decision: ids of the legal actions by their text. ``until`` on the monotonic clock, in seconds.

    ``limit_ms`` is what this decision may take, ``bank_ms`` what the clock has.
    """

    decision_id: int
    legal: Mapping[str, int]
    until: float
    limit_ms: int
    bank_ms: int
    chosen: asyncio.Future[int]


@dataclass(eq=False, slots=True)
class Chair:
    """One seat. Of a person: ``invite`` lets somebody sit down once, and ``secret`` is then theirs alone."""

    seat: int
    name: str
    bot: catalogue.HouseBot | None = None
    invite: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    secret: str = ""
    left: bool = False

    @property
    def taken(self) -> bool:
        """Whether somebody sits there."""
        return self.bot is not None or self.secret != ""

    @property
    def player(self) -> Player:
        """As it stands in the record."""
        if self.bot is not None:
            return Player(self.bot.name, self.bot.version, HOUSE_OWNER)
        return Player(self.name, "1", PERSON_OWNER)

    def opens_to(self, secret: str) -> bool:
        """Whether this is the secret of the person who sits here."""
        return self.secret != "" and hmac.compare_digest(self.secret.encode(), secret.encode())

    def invites(self, code: str) -> bool:
        """Whether this is what lets somebody sit down here."""
        return not self.taken and hmac.compare_digest(self.invite.encode(), code.encode())

    def sit(self, name: str) -> str:
        """Somebody sits down; gives the secret."""
        self.name, self.secret = name, secrets.token_urlsafe(TOKEN_BYTES)
        return self.secret

    def stand_up(self) -> None:
        """The chair is free for whoever is invited anew."""
        self.name, self.secret, self.invite = "", "", secrets.token_urlsafe(TOKEN_BYTES)


class BrowserPerson:
    """A person at a browser, as their port sees them; what happens is shown to them by the table's film."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """``changed`` is called when a decision opens or closes."""
        self.port: Final = PersonPort(self)
        self.asked: Asked | None = None
        self.commitment = b""
        self._changed = changed

    def start(self, started: pb.MatchStarted) -> None:
        self.commitment = started.commitment

    def observe(self, events: Sequence[pb.ObservedEvent]) -> None:
        pass

    async def choose(self, request: pb.DecisionRequested) -> int:
        self.asked = Asked(
            request.decision_id,
            {action.text: action.id for action in request.legal},
            time.monotonic() + request.clock.limit_ms / 1000,
            request.clock.limit_ms,
            request.clock.bank_ms,
            asyncio.get_running_loop().create_future(),
        )
        self._changed()
        try:
            return await self.asked.chosen
        finally:
            self.asked = None
            self._changed()

    def end(self, ended: pb.MatchEnded) -> None:
        pass

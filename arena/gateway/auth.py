"""Who may connect as which bot."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from arena.errors import ArenaError
from arena.gateway.session import Failure, Identity, Reason
from botarena.v1 import play_pb2 as pb

if TYPE_CHECKING:
    from arena.storage import accounts


class Refused(ArenaError):
    """A stream that is not let in, and why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Principal:
    """Whom a token speaks for. ``token_id`` names the token where it can be revoked; ``bot_id``: the one bot that it is for."""

    token_id: str
    bot_id: int | None = None
    account: accounts.Principal | None = None


class Authenticator(Protocol):
    """Knows tokens and bots."""

    async def authenticate(self, token: str) -> Principal | None:
        """Whose token it is; None if it is nobody's (any more)."""
        ...

    async def identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        """The bot and version that this principal may be. Raises Refused."""
        ...


class LocalTokens:
    """Tokens for the processes that this process starts, one each, kept in memory."""

    def __init__(self) -> None:
        self._identities: dict[str, Identity] = {}

    def issue(self, identity: Identity) -> str:
        """A new token for one process that plays as ``identity``."""
        token = secrets.token_urlsafe(24)
        self._identities[token] = identity
        return token

    def revoke(self, token: str) -> None:
        """Let nobody in with it from now on."""
        self._identities.pop(token, None)

    async def authenticate(self, token: str) -> Principal | None:
        """As Authenticator."""
        identity = self._identities.get(token)
        return None if identity is None else Principal(token, identity.bot_id)

    async def identify(self, principal: Principal, hello: pb.Hello) -> Identity:
        """As Authenticator. The token alone says who it is: one program may sit here twice, under two names."""
        identity = self._identities.get(principal.token_id)
        if identity is None:
            raise Refused(Failure(Reason.TOKEN_REVOKED, "The token was revoked."))
        return identity

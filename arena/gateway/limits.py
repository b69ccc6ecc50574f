"""Who calls, and how often an address, a bot or a token may do something."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from arena.addresses import counted_as
from arena.gateway.session import TokenBucket

KEPT: Final = 4096
BAD_TOKENS: Final = 50
PER_TOKEN: Final = 10
"""So many times what an address may show of bad tokens, all addresses together may of those that begin as one token does."""
NAME_CHARS: Final = 32


def address_of(context: Any) -> str:
    """Where a call or stream comes from, as limits count it; empty for a unix socket."""
    family, _, peer = unquote(context.peer()).partition(":")
    return counted_as(peer.rpartition(":")[0]) if family in ("ipv4", "ipv6") else ""


def bearer_of(context: Any) -> str:
    """The token in the metadata; empty if there is none."""
    given = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    scheme, _, token = str(given[0]).partition(" ") if given else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


class Buckets:
    """A bucket of ``rate`` a second and ``burst`` at once for each of many; of too many, whoever asked longest ago is forgotten."""

    def __init__(self, rate: int, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def of(self, whose: str) -> TokenBucket:
        """The bucket of one of them."""
        bucket = self._buckets.setdefault(whose, TokenBucket(self._rate, self._burst))
        self._buckets.move_to_end(whose)
        if len(self._buckets) > KEPT:
            self._buckets.popitem(last=False)
        return bucket

    def __len__(self) -> int:
        return len(self._buckets)


class Guesses:
    """Bad tokens. An address may show ``at_once`` of them, and one more each second.

    Whoever knows how a token begins, which names it, may guess the rest of it from many addresses: that is bounded too, so
    far above what one address may that no single one keeps the token's owner out. A token that is not looked at says
    nothing, so that a right guess is refused like a wrong one; but one that was right before is no guess, lest a class behind
    one address stands still for one of them. Processes of this machine, which have no address, are trusted.
    """

    def __init__(self, at_once: int = BAD_TOKENS) -> None:
        self._addresses = Buckets(1, at_once)
        self._tokens = Buckets(PER_TOKEN, PER_TOKEN * at_once)
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def may_look(self, address: str, token: str, now_us: int) -> bool:
        """Whether the token is to be looked at."""
        known = not address or _digest(token) in self._known
        return known or not any(bucket.empty(now_us) for bucket in self._of(address, token))

    def right(self, token: str) -> None:
        """It was somebody's."""
        digest = _digest(token)
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > KEPT:
            self._known.popitem(last=False)

    def wrong(self, address: str, token: str, now_us: int) -> None:
        """It was nobody's, or is not any more. Of many that came together each one counts, however little was left."""
        self._known.pop(_digest(token), None)
        if address:
            for bucket in self._of(address, token):
                bucket.charge(now_us)

    def _of(self, address: str, token: str) -> Iterator[TokenBucket]:
        yield self._addresses.of(address)
        if name := token.rpartition("_")[0][:NAME_CHARS]:
            yield self._tokens.of(name)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()

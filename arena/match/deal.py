"""Deals that nobody can predict or re-roll: commit before the first event, reveal after the last.

The arena draws a secret S of 32 bytes, publishes ``commitment(...)``, and only then learns the nonces that the bots add. The
seed of the chance stream follows from both, so neither side can choose a deal. Layouts are specified in docs/deals.md; a
change of any of them needs a new tag.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import engines
from engines.game import Chance

SECRET_BYTES = 32
NONCE_BYTES = 16
STREAM_VERSION = 1

_COMMIT_TAG = b"botarena/commit/1"
_OWN_TAG = b"botarena/deal/own/1"
_SHARED_TAG = b"botarena/deal/shared/1"
_SEEDED_TAG = b"botarena/deal/seeded/1"
_STREAM_TAG = b"botarena/stream/1"

_weight = itemgetter(1)

DealMode = Literal["own", "shared", "seeded"]
"""Dealt afresh; one deal for all games of a set; or dealt by a chosen seed alone, so that it can be dealt again elsewhere."""


@dataclass(frozen=True, slots=True)
class Deal:
    """Where a match's chance comes from.

    ``commitment`` (32 bytes) was published before the first event. ``nonces`` by seat, each 16 bytes or empty; a shared deal
    uses none. ``set_attempt`` counts the attempts at the whole set. ``proven`` is False where somebody chose the secret
    (``--seed``): such a record proves nothing about the deal. ``secret`` is None where it is not known yet.
    """

    mode: DealMode
    commitment: bytes
    nonces: tuple[bytes, ...]
    set_attempt: int
    proven: bool
    secret: bytes | None

    def to_json(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "commitment": self.commitment.hex(),
            "nonces": [nonce.hex() for nonce in self.nonces],
            "set_attempt": self.set_attempt,
            "proven": self.proven,
            "stream": STREAM_VERSION,
        }

    @classmethod
    def from_json(cls, doc: Mapping[str, Any], secret: bytes | None) -> Deal:
        if doc["stream"] != STREAM_VERSION:
            raise ValueError(f"chance stream version {doc['stream']} is not known here; {STREAM_VERSION} is")
        return cls(
            mode=doc["mode"],
            commitment=bytes.fromhex(doc["commitment"]),
            nonces=tuple(bytes.fromhex(nonce) for nonce in doc["nonces"]),
            set_attempt=doc["set_attempt"],
            proven=doc["proven"],
            secret=secret,
        )

    def seed(self, match_id: str, attempt: int, set_id: str) -> bytes:
        """The 32-byte seed of the chance stream. Raises ValueError while the secret is unknown."""
        if self.secret is None:
            raise ValueError("the secret of this deal is not known yet")
        if self.mode == "shared":
            fields: tuple[bytes, ...] = (_SHARED_TAG, set_id.encode(), _number(self.set_attempt))
        elif self.mode == "seeded":
            fields = (_SEEDED_TAG,)
        else:
            fields = (_OWN_TAG, match_id.encode(), _number(attempt), *self.nonces)
        return hmac.digest(self.secret, _pack(fields), "sha256")


def commitment(match_id: str, attempt: int, rules_hash: bytes, secret: bytes) -> bytes:
    """SHA-256 that binds the arena to ``secret`` for one attempt; different for each match, so that it links no games."""
    return hashlib.sha256(_pack((_COMMIT_TAG, match_id.encode(), _number(attempt), rules_hash, secret))).digest()


def secret_from_seed(seed: int) -> bytes:
    """The secret that ``--seed`` stands for."""
    return hashlib.sha256(_pack((b"botarena/seed/1", str(seed).encode()))).digest()


def secret_of_seeded(seed: int, game_index: int) -> bytes:
    """The secret of one game of a seeded set."""
    return hashlib.sha256(_pack((b"botarena/seed/2", str(seed).encode(), _number(game_index)))).digest()


class ChanceStream:
    """Outcomes from a seed: HMAC-SHA256 in counter mode, 64 bits a draw, rejection sampling, so no outcome is favoured."""

    __slots__ = ("_counter", "_seed", "_words")

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._counter = 0
        self._words: list[int] = []

    def pick(self, outcomes: Chance) -> int:
        """The id of one outcome, drawn by weight."""
        total = sum(map(_weight, outcomes))
        remainder = self._below(total)
        if total == len(outcomes):  # every weight is 1
            return outcomes[remainder][0]
        for outcome, weight in outcomes:
            remainder -= weight
            if remainder < 0:
                return outcome
        raise AssertionError("weights changed while drawing")

    def _below(self, bound: int) -> int:
        while True:
            word = self._word()
            remainder = word % bound
            if word - remainder <= (1 << 64) - bound:  # else of an incomplete run of remainders at the top
                return remainder

    def _word(self) -> int:
        if not self._words:
            block = hmac.digest(self._seed, _STREAM_TAG + self._counter.to_bytes(8, "big"), "sha256")
            self._counter += 1
            self._words = [int.from_bytes(block[i : i + 8], "big") for i in (24, 16, 8, 0)]
        return self._words.pop()


@cache
def rules_hash(game: engines.Game) -> bytes:
    """SHA-256 over the name, the rules version and the source files that hold the game's rules."""
    module = Path(inspect.getfile(type(game)))
    in_package = "." in type(game).__module__
    sources = sorted(module.parent.glob("*.py")) if in_package else [module]
    parts = [game.name.encode(), _number(game.rules_version)]
    for source in sources:
        parts += [source.name.encode(), source.read_bytes()]
    return hashlib.sha256(_pack(parts)).digest()


def _number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def _pack(fields: Sequence[bytes]) -> bytes:
    """Length-prefixed fields, so that no two different sequences give the same bytes."""
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)

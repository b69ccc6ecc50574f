"""Commitments, seeds and the chance stream."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from dataclasses import replace

import pytest

from arena.match.deal import ChanceStream, Deal, commitment, secret_from_seed, secret_of_seeded
from tests.match.support import SECRET, spec


def test_commitment_is_the_documented_hash() -> None:
    """A commitment can be recomputed from docs/deals.md with nothing but SHA-256."""
    fields = [b"botarena/commit/1", b"m_1", (2).to_bytes(8, "big"), b"r" * 32, SECRET]
    message = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    assert commitment("m_1", 2, b"r" * 32, SECRET) == hashlib.sha256(message).digest()


def test_own_deal_depends_on_match_attempt_and_each_nonce() -> None:
    """Neither the arena alone nor one seat alone chooses an own deal."""
    deal = spec().deal
    seeds = {
        deal.seed("m", 1, "s"),
        deal.seed("n", 1, "s"),
        deal.seed("m", 2, "s"),
        replace(deal, nonces=(b"x" * 16, *deal.nonces[1:])).seed("m", 1, "s"),
        replace(deal, secret=b"y" * 32).seed("m", 1, "s"),
    }
    assert len(seeds) == 5


def test_shared_deal_is_the_same_for_all_games_of_a_set_attempt() -> None:
    """Games of a shared-deal set get one seed; another attempt at the set gets another."""
    deal = replace(spec().deal, mode="shared", nonces=())
    assert deal.seed("m", 1, "s") == deal.seed("n", 7, "s")
    assert deal.seed("m", 1, "s") != replace(deal, set_attempt=2).seed("m", 1, "s")


def test_seeded_deal_depends_on_the_seed_and_the_game_alone() -> None:
    """Whatever the match is called, the same seed deals the same, as docs/deals.md says; other games of it deal otherwise."""
    fields = [b"botarena/seed/2", b"42", (1).to_bytes(8, "big")]
    secret = hashlib.sha256(b"".join(len(field).to_bytes(4, "big") + field for field in fields)).digest()
    assert secret_of_seeded(42, 1) == secret
    deal = replace(spec().deal, mode="seeded", nonces=(), secret=secret)
    tag = b"botarena/deal/seeded/1"
    assert deal.seed("m", 1, "s") == hmac.digest(secret, len(tag).to_bytes(4, "big") + tag, "sha256")
    assert deal.seed("m", 1, "s") == deal.seed("n", 2, "t")
    assert len({secret_of_seeded(42, 0), secret_of_seeded(42, 1), secret_of_seeded(43, 0)}) == 3


def test_stream_is_the_documented_one() -> None:
    """The first draws follow from HMAC-SHA256 in counter mode, eight bytes a draw, big endian."""
    block = hmac.digest(b"seed", b"botarena/stream/1" + bytes(8), "sha256")
    words = [int.from_bytes(block[i : i + 8], "big") for i in (0, 8, 16, 24)]
    stream = ChanceStream(b"seed")
    outcomes = tuple((number, 1) for number in range(10))
    assert [stream.pick(outcomes) for _ in range(4)] == [word % 10 for word in words]


def test_stream_follows_weights() -> None:
    """Outcomes come as often as their weights say (chi-square at 1e-6 on a fixed seed)."""
    stream = ChanceStream(secret_from_seed(7))
    counts = Counter(stream.pick(((1, 1), (2, 2), (3, 7))) for _ in range(20_000))
    expected = {1: 2000, 2: 4000, 3: 14000}
    assert sum((counts[key] - value) ** 2 / value for key, value in expected.items()) < 27.6


def test_unknown_secret_is_said() -> None:
    """A deal whose secret is not known yet gives no seed."""
    with pytest.raises(ValueError, match="not known yet"):
        replace(spec().deal, secret=None).seed("m", 1, "s")


def test_json_round_trip() -> None:
    """A header gives the deal back; a chance stream of another version is refused."""
    deal = spec().deal
    assert Deal.from_json(deal.to_json(), SECRET) == deal
    with pytest.raises(ValueError, match="stream version 9"):
        Deal.from_json(deal.to_json() | {"stream": 9}, SECRET)

"""Specs and seats for the tests of the match."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import engines
from arena.host.play import Finished, play_match
from arena.host.seats import ScriptedSeat
from arena.match.deal import Deal, commitment, rules_hash
from arena.match.referee import Reply, Request
from arena.match.spec import Player, Spec, TimeControl

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SECRET = bytes(32)
Decide = Callable[[Request], Reply]


def spec(
    game: str = "balloon-challenge", players: int = 3, time_control: TimeControl | None = None, **config: bool | int
) -> Spec:
    rules = engines.get(game)
    complete = rules.complete_config(players, config)
    deal = Deal(
        mode="own",
        commitment=commitment("m_test", 1, rules_hash(rules), SECRET),
        nonces=tuple(bytes([seat]) * 16 for seat in range(players)),
        set_attempt=1,
        proven=True,
        secret=SECRET,
    )
    return Spec(
        match_id="m_test",
        set_id="s_test",
        attempt=1,
        game_index=0,
        game=game,
        config=complete,
        seats=tuple(Player(f"bot{seat}", "1", "tester") for seat in range(players)),
        time_control=time_control or TimeControl(),
        deal=deal,
        rated=True,
        bot_seeds=(7,) * players,
    )


def uniform(seed: int) -> Decide:
    """Decides at random; takes 1.5 ms each time."""
    rng = Random(seed)
    return lambda request: Reply(rng.choice(request.legal), elapsed_us=1500)


def play(match: Spec, *decide: Decide) -> tuple[Finished, list[ScriptedSeat]]:
    seats = [ScriptedSeat(function) for function in decide]
    finished = asyncio.run(play_match(match, seats, KEY))
    return finished, seats

"""The house bots of Balloon Challenge play by the rules and better than what is below them."""

from __future__ import annotations

from random import Random

import pytest

from bots.house.balloon_challenge import BOTS, heuristic, playout
from engines.balloon_challenge import GAME, Play, State
from engines.balloon_challenge.data import CARD_NAMES
from engines.balloon_challenge.rules import position
from engines.playout import choose, pick


def play(names: list[str], rng: Random) -> State:
    """A game between bots, by seat; "random" for uniform play."""
    state = GAME.new_state(len(names))
    while not state.is_terminal:
        if outcomes := state.chance():
            state = state.apply_chance(pick(outcomes, rng))
            continue
        (seat,) = state.actors()
        legal = state.legal(seat)
        name = names[seat]
        action = choose(legal, rng) if name == "random" else BOTS[name](GAME, state.view(seat), legal, rng)
        assert action in legal
        state = state.apply({seat: action})
    return state


@pytest.mark.parametrize("players", range(2, 6))
@pytest.mark.parametrize("name", BOTS)
def test_bots_play_legally(name: str, players: int) -> None:
    """A bot always answers with a legal id, against itself and against random play."""
    rng = Random(players)
    play([name] * players, rng)
    play([name] + ["random"] * (players - 1), rng)


@pytest.mark.parametrize(("better", "worse"), [("greedy", "random"), ("heuristic", "greedy")])
def test_rungs(better: str, worse: str) -> None:
    """With two players each bot wins nearly all of 20 seeded games against the one below."""
    wins = 0
    for seed in range(20):
        seat = seed % 2
        names = [worse, worse]
        names[seat] = better
        wins += play(names, Random(seed)).placements()[seat] == 1
    assert wins >= 17


def lone(hand: str, size: int, *, pot: int) -> State:
    """Seat 0 is the last one in, in lap 4, with this hand."""
    names = hand.split()
    laps = ("R1", "B1", "W1")
    others = ("K7", "K8", "K9")
    free = [card for card, name in enumerate(CARD_NAMES) if name not in (*names, *laps, *others)]
    return position(
        n=2,
        round_=1,
        start=0,
        turn=0,
        hands=(tuple(sorted(map(CARD_NAMES.index, names))), tuple(map(CARD_NAMES.index, others))),
        row0=tuple(free[: size - 3]),
        rows=(tuple(map(CARD_NAMES.index, laps)), ()),
        out=(False, True),
        pot=pot,
        chips=(0, 0),
        totals=(0, 0),
        past=(),
    )


def test_the_last_one_in_aims_for_the_exact_volume() -> None:
    """With 5, 3 and 6 in hand and size 7 the heuristic plays the 6: what is left is exact then, and takes the pot."""
    state = lone("R5 B3 W6", 7, pot=3)
    action = heuristic(GAME, state.view(0), state.legal(0), Random(1))
    assert GAME.typed(action) == Play(CARD_NAMES.index("W6"))


def test_a_playout_is_worth_the_lead_in_the_round() -> None:
    """A playout ends with the round; what seats lead the mean by sums to zero."""
    state = lone("R5 B3 W6", 7, pot=3)
    worth = [playout(state, seat, Random(1)) for seat in (0, 1)]
    assert worth == [8 + 6 - 7, -7]

"""Every vector of the rules of Balloon Challenge: a position, an action, what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from engines import BadConfig, GameError, IllegalAction, MalformedAction
from engines.balloon_challenge import GAME, State
from engines.balloon_challenge.data import CARD_NAMES, CARDS, CHIPS
from engines.balloon_challenge.rules import position
from engines.playout import random_playout, random_step


def cards(names: str) -> tuple[int, ...]:
    return tuple(CARD_NAMES.index(name) for name in names.split())


def at(
    hands: Sequence[str],
    rows: Sequence[str] = (),
    *,
    turn: int = 0,
    start: int = 0,
    round_: int = 1,
    out: Sequence[int] = (),
    row0: str = "",
    pot: int | None = None,
    chips: Sequence[int] = (),
    totals: Sequence[int] = (),
) -> State:
    """A position with the seats' hands and rows; the cards of row 0 make up the size where the rows do not."""
    n = len(hands)
    return position(
        n=n,
        round_=round_,
        start=start,
        turn=turn,
        hands=tuple(tuple(sorted(cards(hand))) for hand in hands),
        row0=cards(row0),
        rows=tuple(map(cards, rows)) or ((),) * n,
        out=tuple(seat in out for seat in range(n)),
        pot=CHIPS[n] - 1 if pot is None else pot,
        chips=tuple(chips) or (0,) * n,
        totals=tuple(totals) or (0,) * n,
        past=(),
    )


def filler(count: int, without: str) -> str:
    """So many cards for the table, black ones last, none of ``without``."""
    free = [name for name in CARD_NAMES if name not in without.split()]
    return " ".join(free[:count])


def act(state: State, *texts: str) -> State:
    """The seats to move do these, one after the other."""
    for text in texts:
        (seat,) = state.actors()
        state = state.apply({seat: GAME.parse(text)})
    return state


def scored(state: State, *texts: str) -> tuple[int, ...]:
    """The points by seat of the round that ends with these actions."""
    return act(state, *texts).past[-1].points


def last_out(hand: str, size: int, *, pot: int, chips: int, round_: int = 1) -> State:
    """Seat 0 is alone in, in lap 4 or later, with so many cards on the table; seat 1 burst and is out."""
    other = "Y7 G7 W7 B7 R7"
    laps = "K0 K1 K2"
    row0 = filler(size - 4, f"{hand} {other} {laps} K3 R5")
    state = at([hand, other], [laps, "K3"], row0=row0, out=[1], pot=pot, chips=[chips, 0], round_=round_)
    assert state.size == size
    return state


@pytest.mark.parametrize(
    ("hand", "chips", "points"),
    [("R0 B2 W4", 0, 6), ("R0 B2 W4", 1, 8), ("B3 W6 K1", 0, 0), ("B3 K7", 0, 0), ("B3 K7", 2, 4)],
)
def test_size_8(hand: str, chips: int, points: int) -> None:
    """S=8: {0,2,4} no chip 6, one chip 8; {3,7} 0, two chips 4."""
    assert scored(last_out(hand, 8, pot=2, chips=chips), "drop")[0] == points


def test_playing_lowers_the_volume_and_raises_the_size() -> None:
    """Hand sum 18, play a 7: sum 11, size +1."""
    state = last_out("K7 K9 B2", 8, pot=2, chips=0)
    after = act(state, "play K7")
    assert state.size == 8
    assert after.size == 9
    assert sum(int(CARD_NAMES[card][1]) for card in state.hands[0]) == 18
    assert sum(int(CARD_NAMES[card][1]) for card in after.hands[0]) == 11


def test_exact_volume() -> None:
    """{7,0,2} with S=9 is exact: it takes the pot."""
    after = act(last_out("K7 R0 B2", 9, pot=2, chips=0), "drop")
    assert after.past[-1].chips[0] == 2
    assert after.past[-1].points[0] == 9 + 4


FIVE = ["R7 B7", "R6 B6", "R5 B5", "R4 B4", "W7 W6"]


@pytest.mark.parametrize(("n", "chips"), [(3, (4, 3, 0)), (2, (4, 0)), (4, (4, 3, 3, 0)), (5, (4, 3, 3, 2, 0))])
def test_all_drop_in_lap_1(n: int, chips: tuple[int, ...]) -> None:
    """All drop in lap 1: 3p chips 4,3,0; 2p 4,0; 4p 4,3,3,0; 5p 4,3,3,2,0."""
    assert act(at(FIVE[:n]), *["drop"] * n).past[-1].chips == chips


def test_first_drop_in_lap_2() -> None:
    """4p, first drop in lap 2: 1+2, pot 9 to 7."""
    after = act(at(FIVE[:4], ["Y1", "Y2", "G1", "G2"]), "drop")
    assert after.chips == (3, 0, 0, 0)
    assert after.pot == 7


def test_drops_in_lap_4() -> None:
    """First drop in lap 4: 1 chip; a later one: 0."""
    rows = ["Y1 G1 W1", "Y2 G2 W2", "K1 K2 K3"]
    after = act(at(FIVE[:3], rows), "drop", "drop")
    assert after.chips == (1, 0, 0)
    assert after.pot == 6


def test_empty_pot() -> None:
    """3p, two drop in lap 1: pot 0; a third red later gives nothing."""
    state = act(at(["R7 B7", "R6 B6", "R5 R4 R3 K9"]), "drop", "drop")
    assert state.pot == 0
    after = act(state, "play R5", "play R4", "play R3")
    assert after.chips == (4, 3, 0)


def test_third_of_a_colour() -> None:
    """Third red +1, fourth 0, third black 0."""
    third = act(at(["R5 B7", "R6 B6", "K5 B5"], ["R1", "R2", "K1"]), "play R5")
    assert third.chips == (1, 0, 0)
    assert third.pot == 5
    fourth = act(third, "play R6")
    assert fourth.chips == (1, 0, 0)
    black = act(at(["K5 B7", "R6 B6", "W5 B5"], ["K1", "K2", "W1"]), "play K5")
    assert black.chips == (0, 0, 0)


def test_row_0_counts_for_the_third() -> None:
    """Two players: reds in row 0 count; row 0 itself gives nobody a chip."""
    state = at(["R7 B7", "R6 B6"], row0="R0 R1 W0 Y0 G0")
    assert act(state, "play R7").chips == (1, 0)
    state = at(["R7 B7", "R6 B6"], row0="R0 R1 R2 Y0 G0")
    assert act(state, "play R7").chips == (0, 0)


@pytest.mark.parametrize(("round_", "points"), [(1, 17), (4, 17), (5, 21)])
def test_exact_with_pot_4(round_: int, points: int) -> None:
    """S=9, V=9, pot 4, no other chip: 17 in rounds 1-4, 21 in round 5."""
    assert scored(last_out("K9", 9, pot=4, chips=0, round_=round_), "drop")[0] == points


def test_two_exact_share() -> None:
    """Two exact, pot 5: 2 each."""
    state = at(["K8", "B4 W4", "R7 B7"], ["K0 K1 K2", "K3 K4 Y1", "G1 G2"], out=[1, 2], pot=5)
    assert act(state, "drop").past[-1].chips == (2, 2, 0)


def test_three_exact_get_nothing_of_two() -> None:
    """Three exact, pot 2: 0 each."""
    state = at(["K8", "B4 W4", "R6 B2"], ["K0 K1 K2", "K3 K4 Y1", "G1 G2"], out=[1, 2], pot=2)
    assert act(state, "drop").past[-1].chips == (0, 0, 0)


def test_empty_hand_scores_nothing() -> None:
    """Empty hand, S=12: V=0, 0 points; and it can only drop."""
    state = last_out("", 12, pot=2, chips=0)
    assert [GAME.text(action) for action in state.legal(0)] == ["drop"]
    assert scored(state, "drop")[0] == 0


def test_burst_in_round_5() -> None:
    """Round 5, burst, 3 chips: 9."""
    assert scored(last_out("K9 K8", 9, pot=0, chips=3, round_=5), "drop")[0] == 9


def test_starters() -> None:
    """Start seat 2, n=3: starters 2,0,1,2,0."""
    state, rng, starters = GAME.new_state(3), Random(5), {}
    state = state.apply_chance(GAME.parse("start 2"))
    while not state.is_terminal:
        starters[state.round] = state.start
        step = random_step(state, rng)
        state = state.apply_chance(step) if isinstance(step, int) else state.apply(step)
    assert list(starters.values()) == [2, 0, 1, 2, 0]


@pytest.mark.parametrize(("n", "left"), [(5, 0), (2, 25)])
def test_undealt_cards_of_round_5(n: int, left: int) -> None:
    """5p round 5 leaves 0 cards undealt, 2p round 5 leaves 25."""
    state, _ = random_playout(GAME, n, Random(1))
    assert isinstance(state, State)
    assert len(state.deck) == left


def test_two_winners() -> None:
    """Totals 41,41,38: two winners."""
    state = at(["R7", "R6", "R5"], totals=(41, 41, 38))
    assert state.scores() == (41, 41, 38)
    assert state.placements() == (1, 1, 3)


# Not in the vectors: what the rulebook's words mean at the edges.


def deal(players: int, start: int) -> tuple[State, list[int | None]]:
    """Round 1 dealt in order of ids, and who received each card."""
    state, receivers = GAME.new_state(players).apply_chance(GAME.parse(f"start {start}")), []
    while state.chance():
        receivers.append(state.receiver())
        state = state.apply_chance(state.chance()[0][0])
    return state, receivers


def test_deal_goes_round_from_the_start_player() -> None:
    """Cards go one at a time clockwise from the start seat; with two players five more go face up."""
    state, receivers = deal(3, 1)
    assert receivers == [1, 2, 0] * 6
    assert state.actors() == (1,)
    state, receivers = deal(2, 1)
    assert receivers == [1, 0] * 6 + [None] * 5
    assert state.row0 == tuple(range(12, 17))
    assert state.size == 5


def test_start_has_an_outcome_a_seat() -> None:
    """The start player is one of the seats, equally likely; the first card is one of 50."""
    state = GAME.new_state(4)
    assert [(GAME.text(event), weight) for event, weight in state.chance()] == [(f"start {s}", 1) for s in range(4)]
    with pytest.raises(IllegalAction):
        state.apply_chance(GAME.parse("start 4"))
    assert len(state.apply_chance(GAME.parse("start 3")).chance()) == CARDS


def test_lap_advances_at_the_start_seat_though_it_is_out() -> None:
    """The start seat drops in lap 1; the next seat's second decision is in lap 2."""
    state = act(at(FIVE[:3]), "drop", "play R6", "play R5")
    assert state.actors() == (1,)
    assert state.lap == 2
    assert act(state, "drop").chips == (4, 2, 0)


def test_the_last_one_in_goes_on_alone() -> None:
    """Who is alone in plays lap after lap, until it drops."""
    state = act(at(FIVE[:3]), "drop", "drop", "play R5", "play B5")
    assert state.actors() == (2,)
    assert state.lap == 3
    assert act(state, "drop").round == 2


def test_third_card_takes_the_last_chip() -> None:
    """A pot of one chip is enough for the third card, and for one dropper who was due more."""
    assert act(at(["R5 B7", "R6 B6"], ["R1", "R2"], pot=1), "play R5").chips == (1, 0)
    assert act(at(["R5 B7", "R6 B6"], ["R1", "R2"], pot=1), "drop").chips == (2, 0)


def test_chips_come_back_each_round() -> None:
    """A new round has all chips on the table again, and nobody's chips."""
    state = act(at(FIVE[:3]), "drop", "drop", "drop")
    assert (state.pot, state.chips, state.out) == (6, (0, 0, 0), (False, False, False))


def test_hands_are_hidden_until_scoring() -> None:
    """Other hands are in no view before scoring, dropped ones neither; afterwards all are, for good."""
    state = act(at(FIVE[:3]), "drop", "drop")
    assert state.view(0).hand == state.hands[0]
    assert state.view(None).hand == ()
    assert state.view(1).past == ()
    after = act(state, "drop")
    for observer in (None, 0, 1, 2):
        assert after.view(observer).past[0].hands == state.hands


def test_a_deal_is_seen_by_its_receiver() -> None:
    """Dealt cards are seen by who gets them; row 0 and the start player by all."""
    state = GAME.new_state(2)
    assert state.sees(None, None, GAME.parse("start 1"))
    state = state.apply_chance(GAME.parse("start 1"))
    event = GAME.parse("deal K9")
    assert [state.sees(observer, None, event) for observer in (0, 1, None)] == [False, True, False]
    while state.receiver() is not None:
        state = state.apply_chance(state.chance()[0][0])
    assert state.sees(None, None, event)


def test_ids_are_as_the_rules_list_them() -> None:
    """Cards R0..R7 B W Y G K0..K9, then drop; start and deal after them."""
    assert (GAME.num_actions, GAME.num_chance) == (51, 55)
    expected = {0: "play R0", 8: "play B0", 39: "play G7", 49: "play K9", 50: "drop", 51: "start 0", 56: "deal R0"}
    assert {event: GAME.text(event) for event in expected} == expected
    assert GAME.text(105) == "deal K9"


def test_what_is_refused() -> None:
    """A card of somebody else is illegal, what is no event malformed; options and spectators' worlds are refused."""
    state = at(FIVE[:3])
    with pytest.raises(IllegalAction):
        act(state, "play R6")
    with pytest.raises(IllegalAction):
        state.apply({1: GAME.parse("drop")})
    with pytest.raises(MalformedAction):
        GAME.parse("play R8")
    with pytest.raises(BadConfig):
        GAME.new_state(6)
    with pytest.raises(GameError):
        GAME.determinize(state.view(None), Random(1))

"""Rules of Wyścig balonów: first every vector of RULES.md, line by line, then edge cases of the rulebook."""

from __future__ import annotations

from math import factorial
from typing import Any

import pytest
from balloon_race_positions import CORNERS, HOME, legal, play, position, sq, where

from engines.balloon_race import GAME, RaceState
from engines.game import BadConfig, IllegalAction, MalformedAction


def flown(die: int, square: str, **fields: Any) -> RaceState:
    """Red stands on ``square`` and is given ``die``; the others stay where they are, for free. No obstacles but those given."""
    state = position(balloons={"R": square}, dice=sorted([die, 5, 5, 5, 5]), **{"obstacles": {}} | fields)
    return play(state, f"assign {die}5555>")


def red(state: RaceState) -> tuple[str, int]:
    """Red's square, and the penalties of seat 0."""
    return where(state, "R"), state.penalties[0]


def over(**fields: Any) -> RaceState:
    """The race is over."""
    return position(phase="over", dice=[], **fields)


# Vectors


def test_vector_score() -> None:
    """2 mail, 2 penalties, distance 2: 2 points."""
    state = over(balloons={"R": "12,7"}, letters=[2, 0, 0, 0], penalties=[2, 0, 0, 0])
    assert state.scores()[0] == 2


def test_vector_drift_down() -> None:
    """(0,7) die 3 free: (2,7). Obstacle at (2,7): (1,7), 1 penalty. At (1,7): (0,7), 2."""
    assert red(flown(3, "0,7")) == ("2,7", 0)
    assert red(flown(3, "0,7", obstacles={"2,7": 4})) == ("1,7", 1)
    assert red(flown(3, "0,7", obstacles={"1,7": 4})) == ("0,7", 2)


def test_vector_drift_at_the_edge() -> None:
    """(5,1) die 1: (5,0), 0. (5,0) die 1: stays, 0."""
    assert red(flown(1, "5,1")) == ("5,0", 0)
    assert red(flown(1, "5,0")) == ("5,0", 0)


def test_vector_landing() -> None:
    """(13,6) die 3: (14,6), 0, pad 5..9: the game ends after this turn, its obstacle moves included."""
    state = flown(3, "13,6", obstacles=CORNERS)
    assert red(state) == ("14,6", 0)
    assert (state.phase, state.actors()) == ("move", (0,))
    state = play(state, "move 4,4-4,5")
    assert not state.is_terminal
    assert play(state, "move 4,10-6,10").is_terminal


def test_vector_before_a_landed_balloon() -> None:
    """(13,6) die 3 before a balloon on (14,6) that landed this turn: stays, 2."""
    state = position(balloons={"R": "14,4", "G": "13,6"}, dice=[3, 5, 5, 5, 5])
    state = play(state, "assign 53555>")
    assert (where(state, "R"), where(state, "G"), state.penalties[0]) == ("14,6", "13,6", 2)


def test_vector_diagonal() -> None:
    """(4,4) die 4 with (6,6) held: (5,5), 1. With (4,5) and (5,4) held: (6,6), 0."""
    assert red(flown(4, "4,4", obstacles={"6,6": 1})) == ("5,5", 1)
    assert red(flown(4, "4,4", obstacles={"4,5": 1, "5,4": 1})) == ("6,6", 0)


def test_vector_mail() -> None:
    """(2,3) die 3: (4,3), passes the mail. Obstacle on (4,3): stops on (3,3), 1 penalty and the mail."""
    passing = flown(3, "2,3")
    assert (*red(passing), passing.letters[0]) == ("4,3", 0, 0)
    stopped = flown(3, "2,3", obstacles={"4,3": 1})
    assert (*red(stopped), stopped.letters[0]) == ("3,3", 1, 1)
    assert not stopped.mail >> sq("3,3") & 1


def test_vector_pad_from_the_side() -> None:
    """(14,3) die 5, pad 5..9: (14,5), the game ends. Die 3: stays, 0, no end."""
    landed = flown(5, "14,3")
    assert red(landed) == ("14,5", 0)
    assert landed.is_terminal
    stayed = flown(3, "14,3")
    assert red(stayed) == ("14,3", 0)
    assert stayed.phase == "roll"


@pytest.mark.parametrize(("square", "number"), [("7,8", 25), ("0,0", 9), ("14,3", 15)])
def test_vector_free_die(square: str, number: int) -> None:
    """Die 6 in the open: 25 destinations, itself included; from (0,0) 9; from (14,3) 15."""
    texts = legal(flown(6, square))
    assert len(texts) == number
    assert f"to {square}" in texts


def test_vector_free_die_walled_in() -> None:
    """All 8 neighbours held: stays, 2, and there is no action."""
    around = {"6,7": 1, "6,8": 1, "6,9": 2, "7,7": 2, "7,9": 3, "8,7": 3, "8,8": 4, "8,9": 4}
    state = flown(6, "7,8", obstacles=around, mail=[])
    assert red(state) == ("7,8", 2)
    assert state.phase == "move"


def moves(square: str, value: int, mail: list[str], balloons: dict[str, str] | None = None) -> set[str]:
    """Where the one obstacle may go."""
    state = position(phase="move", balloons=balloons, obstacles={square: value}, mail=mail)
    texts = legal(state)
    assert all(text.startswith(f"move {square}-") for text in texts)
    return {text.split("-")[1] for text in texts}


def test_vector_obstacle_3() -> None:
    """Obstacle 3 at (4,4), balloon (4,6), mail (3,3),(7,7): to (1,4),(1,7),(4,1),(7,1),(7,4)."""
    assert moves("4,4", 3, ["3,3", "7,7"], {"R": "4,6"}) == {"1,4", "1,7", "4,1", "7,1", "7,4"}


def test_vector_obstacle_1() -> None:
    """Value 1 at (4,4), mail (3,3): 7 moves; mail gone: 8."""
    assert len(moves("4,4", 1, ["3,3"])) == 7
    assert len(moves("4,4", 1, [])) == 8


def test_vector_obstacle_4() -> None:
    """Value 4 at (4,4), all mail there: (0,4),(4,0),(4,8),(8,0),(8,4)."""
    all_mail = [f"{row},{column}" for row in (3, 7, 11) for column in (3, 7, 11)]
    assert moves("4,4", 4, all_mail) == {"0,4", "4,0", "4,8", "8,0", "8,4"}


@pytest.mark.parametrize(("balloon", "zone", "distance"), [("11,8", 6, 3), ("12,5", 7, 2), ("14,7", 7, 0)])
def test_vector_distance(balloon: str, zone: int, distance: int) -> None:
    """Distance (11,8)-(14,6) 3; (12,5)-(14,7) 2; same square 0."""
    assert over(balloons={"R": balloon}, zone=zone).scores()[0] == -distance


def test_vector_two_players() -> None:
    """2p, distances 1 and 4, 1 mail, 2 penalties: -4."""
    state = over(players=2, cards="RGYP", balloons={"R": "13,7", "Y": "10,7"}, letters=[1, 0], penalties=[2, 0])
    assert state.hand(0) == (0, 2)
    assert state.scores()[0] == -4


def test_vector_assignments() -> None:
    """Dice 33333: 2 assignments; 12345: 240."""
    assert legal(position(dice=[3] * 5)) == ["assign 33333>", "assign 33333<"]
    assert len(legal(position(dice=[1, 2, 3, 4, 5]))) == 240


# Setting up and the order of play


def outcomes(state: RaceState) -> list[tuple[str, int]]:
    """Texts and weights of the chance event."""
    return [(GAME.text(event), weight) for event, weight in state.chance()]


SET_UP = ["pad 4", "zone 6", "balloon P", "balloon B", "balloon R", "balloon G", "balloon Y"]


def test_setup_is_drawn_in_order() -> None:
    """Pad, zone on it, balloons from left to right, cards, order cards, and an obstacle to each corner."""
    state = GAME.new_state(3)
    assert outcomes(state) == [(f"pad {offset}", 1) for offset in range(11)]
    state = play(state, "pad 4")
    assert outcomes(state) == [(f"zone {column}", 1) for column in (4, 5, 6, 7, 8)]
    state = play(state, *SET_UP[1:])
    assert [where(state, colour) for colour in "PBRGY"] == ["0,5", "0,6", "0,7", "0,8", "0,9"]
    state = play(state, "card G", "card R", "card B")
    assert [state.hand(seat) for seat in range(3)] == [(1,), (0,), (4,)]
    assert outcomes(state) == [("order 1", 1), ("order 2", 1), ("order 4", 1)]
    state = play(state, "order 4", "order 1", "order 2", "obstacle 3", "obstacle 3")
    assert outcomes(state) == [("obstacle 1", 2), ("obstacle 2", 2), ("obstacle 4", 2)]
    state = play(state, "obstacle 1")
    assert outcomes(state) == [("obstacle 1", 1), ("obstacle 2", 2), ("obstacle 4", 2)]
    state = play(state, "obstacle 4", "roll 11111")
    assert state.to_json()["obstacles"] == [[sq("4,4"), 3], [sq("4,10"), 3], [sq("10,4"), 1], [sq("10,10"), 4]]
    assert state.turns == (1, 2, 0)
    assert state.actors() == (1,)


def test_two_players_get_two_cards_and_two_turns() -> None:
    """Cards go to seats 0,1,0,1; First and Second are dealt before Third and Last."""
    state = play(GAME.new_state(2), *SET_UP, "card R", "card G", "card Y", "card P")
    assert (state.hand(0), state.hand(1)) == ((0, 2), (1, 3))
    assert outcomes(state) == [("order 1", 1), ("order 2", 1)]
    state = play(state, "order 2")
    assert outcomes(state) == [("order 1", 1)]
    state = play(state, "order 1")
    assert outcomes(state) == [("order 3", 1), ("order 4", 1)]
    state = play(state, "order 3", "order 4")
    assert state.turns == (1, 0, 0, 1)


def test_throws_are_weighted_by_their_orders() -> None:
    """The 252 throws weigh 7,776 in all; 33333 weighs 1, 12345 5!, 11122 10."""
    weights = dict(outcomes(position(phase="roll", dice=[])))
    assert len(weights) == 252
    assert sum(weights.values()) == 6**5
    assert (weights["roll 33333"], weights["roll 12345"], weights["roll 11122"]) == (1, factorial(5), 10)


def test_a_round_ends_with_new_order_cards_and_an_obstacle_for_the_first_player() -> None:
    """After the last turn the order is dealt anew, an obstacle is drawn, and the first player puts it on the ring."""
    state = position(turn=3, phase="move", dice=[3] * 5, obstacles={"4,4": 1})
    state = play(state, "move 4,4-4,5")
    assert (state.round, state.turn, state.phase) == (2, 0, "order")
    state = play(state, "order 3", "order 2", "order 1", "order 4", "obstacle 1")
    assert state.actors() == (2,)
    assert len(legal(state)) == 23, "the ring but the square of the obstacle"
    assert "put 4,5" not in legal(state)
    state = play(state, "put 10,7")
    assert state.to_json()["obstacles"] == [[sq("4,5"), 1], [sq("10,7"), 1]]
    assert (state.phase, state.drawn) == ("roll", 0)


def test_put_squares_on_an_empty_ring() -> None:
    """24 squares; a balloon takes one."""
    assert len(legal(position(phase="put", round=2, drawn=1, dice=[], obstacles={}))) == 24
    taken = position(phase="put", round=2, drawn=1, dice=[], obstacles={}, balloons={"Y": "7,4"})
    assert "put 7,4" not in legal(taken)


def test_the_race_ends_after_round_five() -> None:
    """With the last turn of round 5 the race is over wherever the balloons are."""
    assert play(position(round=5, turn=3, phase="move", obstacles={"4,4": 1}), "move 4,4-4,5").is_terminal
    assert not play(position(round=5, turn=2, phase="move", obstacles={"4,4": 1}), "move 4,4-4,5").is_terminal


# A turn


def test_direction_decides_who_flies_first() -> None:
    """Red behind green: from the left red is blocked at once, from the right green has left and red may follow."""
    start = position(balloons={"R": "5,5", "G": "6,5"}, dice=[3, 3, 5, 5, 5], obstacles={})
    left, right = play(start, "assign 33555>"), play(start, "assign 33555<")
    assert (where(left, "R"), where(left, "G"), left.penalties[0]) == ("5,5", "8,5", 2)
    assert (where(right, "R"), where(right, "G"), right.penalties[0]) == ("7,5", "8,5", 0)


def test_sixes_are_flown_in_their_place() -> None:
    """A 6 interrupts: balloons before it have moved, those after it wait; the choice may let them through or not."""
    start = position(balloons={"G": "6,7", "Y": "5,7"}, dice=[3, 5, 5, 5, 6], obstacles={})
    state = play(start, "assign 56355>")
    assert (state.phase, state.waiting) == ("to", (1, 2, 3, 4))
    blocked = play(state, "to 6,7")
    assert (where(blocked, "Y"), blocked.penalties[0]) == ("5,7", 2)
    free = play(state, "to 7,8")
    assert (where(free, "Y"), free.penalties[0]) == ("7,7", 0)
    assert free.letters[0] == 1


def test_a_six_needs_a_way() -> None:
    """One free neighbour, itself walled in: staying is the one choice, and the neighbour is not within two steps."""
    wall = {"0,2": 1, "1,2": 1, "2,2": 2, "2,1": 2, "2,0": 3}
    state = flown(6, "0,0", obstacles=wall | {"1,0": 3, "0,1": 4}, mail=[])
    assert legal(state) == ["to 0,0"]


def test_a_six_lands_on_mail_and_on_the_pad() -> None:
    """The destination counts like any other: mail is taken, a landing ends the race."""
    state = play(flown(6, "9,5"), "to 11,7")
    assert (state.letters[0], state.mail >> sq("11,7") & 1) == (1, 0)
    assert play(flown(6, "12,5"), "to 14,7").is_terminal


def test_mail_goes_to_the_player_of_the_turn() -> None:
    """Whoever's balloon it is, the one whose turn it is takes the mail, once."""
    state = flown(3, "1,3", turn=2, cards="RGYP")
    assert state.letters == (0, 0, 1, 0)
    assert not state.mail >> sq("3,3") & 1


def test_two_obstacles_a_turn_each_once() -> None:
    """The second move is another token's; then the next player rolls."""
    state = play(position(phase="move", obstacles={"4,4": 1, "4,10": 1, "8,8": 1}), "move 4,4-4,5")
    assert state.moved == state.obstacles[:1]
    assert not any(text.startswith("move 4,5") for text in legal(state))
    state = play(state, "move 4,10-4,9")
    assert (state.phase, state.turn, state.moved) == ("roll", 1, ())


def test_the_last_player_moves_all() -> None:
    """With the Last card every token moves; with two players in the fourth turn only, not in the third."""
    obstacles = {"4,4": 1, "4,10": 1, "8,8": 1}
    for players, turn, moved in ((4, 3, 3), (3, 2, 3), (2, 3, 3), (2, 2, 2), (4, 2, 2), (3, 1, 2)):
        state = position(players=players, turn=turn, phase="move", obstacles=obstacles)
        actor, count = state.actors(), 0
        while state.phase == "move" and state.actors() == actor:
            state, count = play(state, legal(state)[0]), count + 1
        assert count == moved


def test_obstacles_that_cannot_move() -> None:
    """A token without a way is passed over, and a turn whose tokens are all stuck ends at once."""
    corner = {"0,0": 4, "0,1": 4, "1,0": 4, "1,1": 4}
    stuck = position(dice=[5] * 5, obstacles={"0,0": 4}, mail=[], balloons={"R": "0,1", "G": "1,0", "Y": "1,1"})
    assert all(not text.startswith("move 0,0-") for text in legal(position(phase="move", obstacles=corner)))
    state = play(stuck, "assign 55555<")
    assert state.phase == "move", "the balloons have flown away"
    walled = position(dice=[1] * 5, obstacles={"0,0": 4}, mail=[], balloons={"R": "0,1", "G": "1,0", "Y": "1,1"})
    assert play(walled, "assign 11111>").phase == "roll"


def test_obstacles_stay_off_tile_and_pad() -> None:
    """Neither onto nor across the start tile and the pad."""
    assert "0,7" not in moves("2,7", 2, [])
    assert "0,4" in moves("2,4", 2, [])
    assert "14,5" not in moves("12,5", 2, [])
    assert "14,4" in moves("12,4", 2, [])
    assert "0,9" not in moves("0,10", 1, [])
    assert "14,9" not in moves("14,12", 3, [])


# The dice timer


def test_timeout() -> None:
    """5 penalties, the dice from the lowest up in template order, left to right; a 6 is still flown by its player."""
    start = position(balloons=HOME, dice=[2, 3, 3, 4, 6])
    action = start.timeout_action(0)
    assert (start.timer_ms(0), action) == (30000, GAME.parse("timeout"))
    assert action not in start.legal(0)
    state = start.apply({0: action})
    assert (state.dice, state.penalties[0]) == ((2, 3, 3, 4, 6), 5)
    assert [where(state, colour) for colour in "RGYP"] == ["2,3", "2,6", "2,7", "2,10"]
    assert (state.phase, state.actors()) == ("to", (0,))


def test_no_timer_elsewhere() -> None:
    """Only the assignment has a timer, and only for the seat that lays the dice."""
    start = position()
    assert (start.timer_ms(1), start.timeout_action(1)) == (None, None)
    for phase, fields in (("to", {"waiting": [0, 1, 2, 3, 4], "dice": [6, 3, 3, 3, 3]}), ("move", {}), ("roll", {})):
        state = position(phase=phase, **fields)
        assert state.timeout_action(0) is None
        with pytest.raises(IllegalAction):
            state.apply({0: GAME.parse("timeout")})


def test_timer_off() -> None:
    """With dice_timer_ms 0 there is no timer and no timeout."""
    state = position(dice_timer_ms=0)
    assert (state.timer_ms(0), state.timeout_action(0)) == (None, None)
    with pytest.raises(IllegalAction, match="timeout"):
        state.apply({0: GAME.parse("timeout")})


# The end


def test_score_before_the_end_hides_the_distance() -> None:
    """While the race is on only mail and penalties count, also for the places."""
    state = position(letters=[1, 1, 0, 0], penalties=[2, 2, 0, 0], balloons={"R": "13,7"})
    assert state.scores() == (1, 1, 0, 0)
    assert state.placements() == (1, 1, 3, 3)


def test_ties() -> None:
    """Equal points: the smaller distance wins; equal too: shared. Two players: the nearer of the two balloons."""
    state = over(balloons={"R": "13,7", "G": "12,7", "Y": "12,6", "P": "0,0"}, letters=[0] * 4, penalties=[1, 0, 0, 0])
    assert state.scores() == (-2, -2, -2, -14)
    assert state.placements() == (1, 2, 2, 4)
    two = over(players=2, balloons={"R": "13,7", "Y": "9,7", "G": "11,7", "P": "11,8"})
    assert two.scores() == (-6, -6)
    assert two.placements() == (1, 2)


# The contract


def test_texts_and_ids_are_inverse() -> None:
    """Every id has a text, every text leads back; others are refused."""
    total = GAME.num_actions + GAME.num_chance
    assert GAME.num_actions == 15552 + 225 + 225 + 7200 + 1
    assert all(GAME.parse(GAME.text(event)) == event for event in range(total))
    assert all(str(GAME.typed(event)) == GAME.text(event) for event in range(0, total, 7))
    for text in ("move 4,4-5,6", "move 4,4-9,9", "to 15,0", "put 4,-1", "assign 1234>", "assign 12347>", "pad 11", ""):
        with pytest.raises(MalformedAction):
            GAME.parse(text)
    for event in (-1, total):
        with pytest.raises(MalformedAction):
            GAME.text(event)


def test_what_apply_refuses() -> None:
    """Chance ids and numbers outside are malformed; another seat, two seats, dice not thrown are illegal."""
    state = position()
    with pytest.raises(MalformedAction):
        state.apply({0: GAME.parse("pad 3")})
    with pytest.raises(MalformedAction):
        state.apply({0: -1})
    for joint in (
        {},
        {1: GAME.parse("assign 33333>")},
        {0: GAME.parse("assign 33333>"), 1: 0},
        {0: GAME.parse("assign 33332>")},
    ):
        with pytest.raises(IllegalAction):
            state.apply(joint)
    with pytest.raises(IllegalAction):
        state.apply_chance(GAME.parse("roll 11111"))
    with pytest.raises(IllegalAction):
        position(phase="roll", dice=[]).apply({0: GAME.parse("timeout")})


def test_config() -> None:
    """2 to 4 players; the timer is 0 to 600,000 ms."""
    assert GAME.new_state(2).config == {"dice_timer_ms": 30000}
    for players, config in (
        (1, {}),
        (5, {}),
        (2, {"dice_timer_ms": -1}),
        (2, {"dice_timer_ms": 600_001}),
        (2, {"x": 1}),
    ):
        with pytest.raises(BadConfig):
            GAME.new_state(players, **config)


def test_cards_are_seen_by_their_receiver_only() -> None:
    """A card is dealt face down; views show a seat's own cards, and all of them at the end."""
    state = play(GAME.new_state(4), *SET_UP)
    card = GAME.parse("card Y")
    assert [state.sees(observer, None, card) for observer in (0, 1, None)] == [True, False, False]
    assert state.sees(1, None, card) is False
    assert state.apply_chance(card).view(0).cards == ((2,), (), (), ())
    assert position().view(1).cards == ((), (1,), (), ())
    assert position().view(None).cards == ((), (), (), ())
    assert over().view(None).cards == ((0,), (1,), (2,), (3,))

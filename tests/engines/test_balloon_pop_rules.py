"""Balloon Pop: every vector of the rules as a position, an action and its result; then the corners of the rulebook."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engines.balloon_pop import GAME, State, board
from engines.balloon_pop.data import KINDS, NO_CUBES, SUPPLY
from engines.game import BadConfig, IllegalAction, MalformedAction
from engines.playout import random_step

EMPTY = "- - - - - -"


def stacks(text: str) -> tuple[str, ...]:
    """A board from the rules' notation: stacks top down, ``-`` for an empty one; columns left out are empty."""
    columns = ["" if column == "-" else column for column in text.split()]
    return (*columns, *[""] * (6 - len(columns)))


def position(*boards: str, **fields: Any) -> State:
    """A position in round 3 with these boards (seats left out have an empty one); the bag holds all other cubes."""
    own = [list(stacks(text)) for text in (*boards, EMPTY, EMPTY)[: max(2, len(boards))]]
    doc = {**GAME.new_state(len(own)).to_json(), "round": 3, "boards": own, **fields}
    kept = [11 - doc["round"] - (card > 0) for card in doc["cards"]]
    doc["hands"] = [[v for v in range(1, 11) if v != card][:n] for card, n in zip(doc["cards"], kept, strict=True)]
    where = "".join([*doc["groups"], *("".join(columns) for columns in doc["boards"])])
    if "bag" not in fields:
        doc["bag"] = [supply - where.count(kind) for kind, supply in zip(KINDS, SUPPLY, strict=True)]
    return GAME.from_json(doc)


def placing(text: str, card: int, group: str, **fields: Any) -> State:
    """Seat 0 has played ``card``, taken ``group`` and must place it on the board ``text``."""
    return position(text, phase="place", cards=[card, card], groups=[group, ""], taken=[1, 2], **fields)


def scoring(text: str, **fields: Any) -> State:
    """Seat 0 must pop the sets of the board ``text``."""
    return position(text, phase="pop", cards=[1, 2], taken=[1, 2], **fields)


def legal(state: State, seat: int = 0) -> list[str]:
    return [GAME.text(action) for action in state.legal(seat)]


def play(state: State, *texts: str, seat: int = 0) -> State:
    for text in texts:
        state = state.apply({seat: GAME.parse(text)})
    return state


def placed(state: State, text: str) -> tuple[str, ...]:
    """The board of seat 0 after that placement."""
    return play(state, text).boards[0]


def sets(text: str) -> dict[str, int]:
    """What may be popped on this board: text -> points."""
    found = board.find_sets(stacks(text))
    return {GAME.text(pop): board.set_points(pop, mask.bit_count()) for pop, mask in found.items()}


# --- The vectors of the rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bonus", "total"), [(False, 4), (True, 5)])
def test_vector_colour_set_then_symbol_set(bonus: bool, total: int) -> None:
    """`bR bbbbY`: one set of 5 blue +3, then `R Y` is a symbol set +1: 4 in all, with `bonus` 5."""
    state = scoring("bR bbbbY - - - -", bonus=bonus)
    assert legal(state) == ["pop b@0,0"]
    state = play(state, "pop b@0,0")
    assert state.points == (3, 0)
    assert state.boards[0] == stacks("R Y - - - -")
    assert legal(state) == ["pop *@0,0"]
    assert play(state, "pop *@0,0").points == (total, 0)


def test_vector_neutral_completes_a_set() -> None:
    """`rrr w`: +2."""
    assert sets("rrr w - - - -") == {"pop r@0,0": 2}


@pytest.mark.parametrize(("text", "column"), [("V2", "rBgw"), ("V2r", "wgBr")])
def test_vector_vertical(text: str, column: str) -> None:
    """Empty board, card 10, group rBgw at V2 gives column 2 = rBgw; V2r gives wgBr."""
    assert placed(placing(EMPTY, 10, "rBgw"), text) == stacks(f"- - {column} - - -")


@pytest.mark.parametrize(("text", "after"), [("H0", "rgg bY r yyyb - -"), ("H0r", "rgb br Y yyyg - -")])
def test_vector_horizontal_floats_up(text: str, after: str) -> None:
    """`rg b - yyy - -`, group gYrb: H0 gives `rgg bY r yyyb - -`; H0r gives `rgb br Y yyyg - -`."""
    assert placed(placing("rg b - yyy - -", 8, "gYrb"), text) == stacks(after)


def test_vector_dropped_first_then_reversed() -> None:
    """Card 3, group gYrb, H1r-1 on an empty board: columns 1,2,3 = b, r, Y; the g is discarded."""
    state = play(placing(EMPTY, 3, "gYrb"), "H1r-1")
    assert state.boards[0] == stacks("- b r Y - -")
    assert state.discarded == tuple(int(kind == "g") for kind in KINDS)


def test_vector_vertical_needs_room() -> None:
    """h[0]=5: V of 4 illegal there; with card 2 `V0-2` legal. h=4: V of 4 legal."""
    assert "V0" not in legal(placing("rgbyr", 10, "gYrb"))
    assert "V0" not in legal(placing("rgbyr", 2, "gYrb"))
    assert "V0-2" in legal(placing("rgbyr", 2, "gYrb"))
    assert "V0" in legal(placing("rgby", 10, "gYrb"))


@pytest.mark.parametrize(
    ("card", "count"), [(10, 12), (9, 12), (8, 6), (7, 6), (6, 18), (5, 18), (4, 58), (3, 58), (2, 58), (1, 58)]
)
def test_vector_placements_on_an_empty_board(card: int, count: int) -> None:
    """Legal placements on an empty board: cards 10/9 12, 8/7 6, 6/5 18, 4..1 58."""
    assert len(legal(placing(EMPTY, card, "gYrb"))) == count


def test_vector_column_2_full() -> None:
    """Column 2 full: cards 8/7 only `discard`; card 5 has 10; card 4 has 34."""
    full = "- - rgbyrgby - - -"
    assert legal(placing(full, 8, "gYrb")) == legal(placing(full, 7, "gYrb")) == ["discard"]
    assert len(legal(placing(full, 5, "gYrb"))) == 10
    assert len(legal(placing(full, 4, "gYrb"))) == 34


def test_vector_full_columns_and_card_8() -> None:
    """Columns 1 and 4 full: card 8 only `discard`; column 1 full alone: H2 and H2r."""
    assert legal(placing("- rgbyrgby - - ybgrybgr -", 8, "gYrb")) == ["discard"]
    assert legal(placing("- rgbyrgby - - - -", 8, "gYrb")) == ["H2", "H2r"]


def test_vector_order_of_choosing() -> None:
    """First = seat 2, cards of seats 0..3 = 7,9,9,7: the order of choosing is 2,1,3,0."""
    state = position(EMPTY, EMPTY, EMPTY, EMPTY, phase="group", first=2, cards=[7, 9, 9, 7], groups=["rgby"] * 4)
    order = []
    for number in (4, 3, 2, 1):
        (seat,) = state.actors()
        order.append(seat)
        state = play(state, f"group {number}", seat=seat)
    assert order == [2, 1, 3, 0]
    assert state.taken == (1, 3, 4, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rrr rrr rrr", {"pop r@0,0": 7}),
        ("rrr - r", {}),
        ("rb br rb br", {}),
        ("RB G", {"pop *@0,0": 2}),
        ("RwG", {}),
        ("rww w", {"pop r@0,0": 2}),
        ("ww ww", {"pop w@0,0": 2}),
        ("ww wwr", {"pop r@0,0": 3}),
    ],
)
def test_vector_sets(text: str, expected: dict[str, int]) -> None:
    """`rrr rrr rrr` +7; `rrr - r` and `rb br rb br` none; `RB G` +2; `RwG` none; `rww w` +2; `ww ww` +2; `ww wwr` red +3."""
    assert sets(text) == expected


@pytest.mark.parametrize("colour", ["r", "b"])
def test_vector_shared_neutral(colour: str) -> None:
    """`rrr w bbb`: either colour +2, then nothing: 2."""
    pops = {"r": "pop r@0,0", "b": "pop b@1,0"}
    state = scoring("rrr w bbb - - -")
    assert legal(state) == list(pops.values())
    state = play(state, pops[colour])
    assert state.points == (2, 0)
    assert state.phase == "draw"


@pytest.mark.parametrize(("pop", "total"), [("pop r@0,0", 2), ("pop *@0,0", 1)])
def test_vector_colour_or_symbol_first(pop: str, total: int) -> None:
    """`Rrr R`: colour first 2 in all, symbol first 1."""
    state = play(scoring("Rrr R - - - -"), pop)
    assert (state.points[0], state.phase) == (total, "draw")


@pytest.mark.parametrize(("pop", "total"), [("pop r@0,0", 2), ("pop *@0,0", 3)])
def test_vector_one_column_of_symbols(pop: str, total: int) -> None:
    """`RRRR` in one column: 2 or 3, one of them only."""
    state = scoring("RRRR")
    assert legal(state) == ["pop r@0,0", "pop *@0,0"]
    state = play(state, pop)
    assert (state.points[0], state.phase) == (total, "draw")


def test_vector_new_set_after_closing_up() -> None:
    """`yrry yrry`: +2 then +2."""
    state = scoring("yrry yrry")
    assert legal(state) == ["pop r@0,1"]
    state = play(state, "pop r@0,1")
    assert state.points[0] == 2
    assert legal(state) == ["pop y@0,0"]
    assert play(state, "pop y@0,0").points[0] == 4


@pytest.mark.parametrize(
    ("filled", "points"),
    [
        ((2, 0, 1, 2, 0, 2), 5),
        ((0, 0, 0, 0, 0, 0), 15),
        ((1, 1, 1, 1, 1, 1), 6),
        ((3, 0, 0, 0, 0, 0), 5),
        ((1, 0, 0, 0, 0, 0), 11),
        ((3, 3, 3, 3, 3, 3), 0),
    ],
)
def test_vector_final_bonus(filled: tuple[int, ...], points: int) -> None:
    """Final bonus by heights: [2,0,1,2,0,2] 5; all 0 15; all 1 6; [3,0,0,0,0,0] 5; [1,0,0,0,0,0] 11; all 3 0."""
    assert board.end_points(filled) == points


# --- The corners -------------------------------------------------------------------------------------------------


def test_one_cube_may_lie_anywhere_and_70_is_the_most() -> None:
    """A reversed text counts on its own even for one cube: a group of 1 has 24 placements, of 2 at most 70."""
    assert legal(placing(EMPTY, 8, "g")) == [f"H{column}{r}" for column in range(6) for r in ("", "r")]
    assert len(legal(placing(EMPTY, 4, "g"))) == 24
    assert len(legal(placing(EMPTY, 3, "gY"))) == 70
    most = max(len(board.placements(card, length, (0,) * 6)) for card in range(1, 11) for length in (1, 2, 3, 4))
    assert most == 70


@pytest.mark.parametrize(
    ("card", "group", "drops"),
    [
        (4, "gYrb", {0, 1, 4}),
        (4, "gYr", {0, 1, 3}),
        (3, "gY", {0, 1, 2}),
        (3, "g", {0}),
        (2, "gYrb", {0, 2, 3}),
        (2, "gYr", {0, 2, 3}),
        (1, "gY", {0, 2}),
        (1, "g", {0}),
        (5, "gYrb", {0}),
    ],
)
def test_what_may_be_dropped(card: int, group: str, drops: set[int]) -> None:
    """A drop names an existing position of the group as drawn and leaves at least one cube."""
    state = placing(EMPTY, card, group)
    assert {GAME.typed(action).drop for action in state.legal(0)} == drops


@pytest.mark.parametrize(
    ("text", "column"), [("V0-2", "grb"), ("V0r-2", "brg"), ("V0-3", "gYb"), ("V0r-3", "bYg"), ("V0", "gYrb")]
)
def test_positions_are_counted_as_drawn(text: str, column: str) -> None:
    """Reversing does not move the position that is dropped."""
    assert placed(placing(EMPTY, 1, "gYrb"), text)[0] == column


def test_discard_sends_the_whole_group_away() -> None:
    """With no placement at all the forced `discard` puts every cube of the group on the discard."""
    before = placing("- - rgbyrgby - - -", 8, "gYrb")
    state = play(before, "discard")
    assert state.boards[0] == before.boards[0]
    assert state.discarded == tuple("gYrb".count(kind) for kind in KINDS)
    GAME.check_invariants(state)


def test_an_empty_group_is_offered_and_skips_the_placement() -> None:
    """Groups that stayed empty can be taken; their owner does not place."""
    state = position(EMPTY, EMPTY, phase="group", first=1, cards=[3, 5], groups=["rg", ""])
    assert legal(state, 1) == ["group 1", "group 2"]
    state = play(state, "group 2", seat=1)
    state = play(state, "group 1", seat=0)
    assert (state.phase, state.actors()) == ("place", (0,))
    assert play(state, "H0").phase == "draw"


def test_an_empty_bag_is_refilled_before_the_draw_is_listed() -> None:
    """The discard becomes the bag as soon as a draw is due and the bag is empty, not earlier."""
    one_red = tuple(int(kind == "r") for kind in KINDS)
    two_neutral = tuple(2 * (kind == "w") for kind in KINDS)
    state = position(phase="draw", bag=list(one_red), discarded=list(two_neutral), groups=["gby", ""], step=3)
    after = state.apply_chance(GAME.parse("draw r"))
    assert (after.bag, after.discarded) == (two_neutral, NO_CUBES)
    assert after.chance() == ((GAME.parse("draw w"), 2),)


def test_the_bag_is_not_refilled_after_the_last_draw() -> None:
    """When the last cube drawn empties the bag the discard stays until the next round's draw."""
    one_red = [int(kind == "r") for kind in KINDS]
    state = position(phase="draw", bag=one_red, discarded=one_red, groups=["gbyy", "ggg"], step=7)
    after = state.apply_chance(GAME.parse("draw r"))
    assert (after.phase, after.bag, after.discarded) == ("card", NO_CUBES, tuple(one_red))


def test_groups_stay_short_when_everything_is_used_up() -> None:
    """With bag and discard empty the drawing ends: the later groups are short or empty."""
    one_red = [int(kind == "r") for kind in KINDS]
    state = position(phase="draw", bag=one_red, groups=["gbyy", "g"], step=5)
    after = state.apply_chance(GAME.parse("draw r"))
    assert (after.phase, after.groups) == ("card", ("gbyy", "gr"))


def test_a_round_without_cubes() -> None:
    """If there is nothing to draw when a round begins the cards come at once, and nobody places."""
    last_one = placing("bbb", 8, "g", bag=list(NO_CUBES))
    state = play(last_one, "H0")
    assert (state.phase, state.round, state.groups) == ("card", 4, ("", ""))
    for seat, text in [(1, "card 1"), (0, "card 2"), (0, "group 1"), (1, "group 2")]:
        state = play(state, text, seat=seat)
    assert (state.phase, state.round) == ("card", 5)


def test_everybody_scores_clockwise_and_the_first_seat_passes_left() -> None:
    """Seats score from the first one on; those without a set are skipped; the next seat is first in the next round."""
    state = position("rrrr", EMPTY, "gggg", phase="pop", first=2, cards=[1, 2, 3], taken=[1, 2, 3], groups=["", "", ""])
    assert state.actors() == (2,)
    state = play(state, "pop g@0,0", seat=2)
    assert state.actors() == (0,)
    state = play(state, "pop r@0,0", seat=0)
    assert (state.phase, state.round, state.first) == ("draw", 4, 0)


def test_bonus_counts_sets_of_one_round_and_one_seat() -> None:
    """With `bonus` the first set of each seat gives no bonus, the second and third 1 each."""
    state = position("rrrr - gggg - bbbb", "yyyy", phase="pop", bonus=True, cards=[1, 2], taken=[1, 2])
    state = play(state, "pop r@0,0", "pop g@2,0", "pop b@4,0")
    assert state.points == (2 + 3 + 3, 0)
    assert play(state, "pop y@0,0", seat=1).points == (8, 2)


def test_the_least_cell_names_a_set() -> None:
    """A set is named after its least cell by column, then row, whatever kind of cube lies there."""
    assert list(sets("gw gr gr gr")) == ["pop r@0,1", "pop g@0,0"]
    assert list(sets("rgggg yrrrr")) == ["pop r@1,1", "pop g@0,1"]


def test_neutrals_alone_need_to_touch_no_colour() -> None:
    """Four neutrals are a set of their own only away from any coloured cube; else they join every colour they touch."""
    assert sets("wwww") == {"pop w@0,0": 2}
    assert sets("wwwwr") == {"pop r@0,0": 3}
    assert sets("wwwwr wb") == {"pop r@0,0": 4, "pop b@0,0": 4}
    assert sets("www") == {}


def test_a_component_of_a_colour_with_too_many_neutrals_still_needs_its_colour() -> None:
    """Neutrals that touch green only are no red set, however many."""
    assert sets("wwwwg - - r") == {"pop g@0,0": 3}


def test_the_last_round_ends_the_game() -> None:
    """After round 8 empty columns and rows are added, and ties go to the board with fewer cubes."""
    state = position("rrrr", "rg", phase="pop", round=8, cards=[1, 2], taken=[1, 2], points=[1, 9])
    over = play(state, "pop r@0,0")
    assert over.is_terminal
    assert over.scores() == (1 + 2 + 15, 9 + 5 + 3)
    assert (over.actors(), over.chance(), over.legal(0)) == ((), (), ())
    assert over.placements() == (1, 2)


@pytest.mark.parametrize(
    ("boards", "points", "places"),
    [
        (("rg", "rgb"), [5, 5], (1, 2)),
        (("rg", "br"), [5, 5], (1, 1)),
        (("rgb", "-", "rgb"), [7, 5, 7], (1, 3, 1)),
    ],
)
def test_ranking(boards: tuple[str, ...], points: list[int], places: tuple[int, ...]) -> None:
    """Most points, then fewest cubes, then a shared place."""
    assert position(*boards, phase="over", points=points).placements() == places


def test_first_chance_event_has_one_outcome_a_seat() -> None:
    """Who is first in round 1 is uniform over the seats, and the cubes are drawn after it."""
    state = GAME.new_state(3)
    assert [(GAME.text(outcome), weight) for outcome, weight in state.chance()] == [(f"first {s}", 1) for s in range(3)]
    state = state.apply_chance(GAME.parse("first 2"))
    assert [GAME.text(outcome) for outcome, _ in state.chance()] == [f"draw {kind}" for kind in KINDS]
    assert [weight for _, weight in state.chance()] == list(SUPPLY)


def test_cards_go_round_or_come_all_at_once() -> None:
    """Cards are played clockwise from the first seat; with `simultaneous_cards` in one joint decision."""
    one_by_one = position(EMPTY, EMPTY, EMPTY, phase="card", first=1, groups=["rgby"] * 3)
    order = []
    while one_by_one.phase == "card":
        (seat,) = one_by_one.actors()
        order.append(seat)
        one_by_one = play(one_by_one, "card 5", seat=seat)
    assert order == [1, 2, 0]
    together = position(EMPTY, EMPTY, phase="card", simultaneous_cards=True, groups=["rgby"] * 2)
    assert together.actors() == (0, 1)
    after = together.apply({0: GAME.parse("card 2"), 1: GAME.parse("card 3")})
    assert (after.phase, after.actors(), after.cards) == ("group", (1,), (2, 3))
    with pytest.raises(IllegalAction):
        together.apply({0: GAME.parse("card 2")})


def test_what_is_refused() -> None:
    """Wrong seat, illegal action, no action at all, impossible outcome, unknown option."""
    state = placing(EMPTY, 8, "gYrb")
    with pytest.raises(IllegalAction):
        play(state, "V0")
    with pytest.raises(IllegalAction):
        play(state, "H0", seat=1)
    with pytest.raises(MalformedAction):
        state.apply({0: GAME.num_actions})
    with pytest.raises(MalformedAction):
        GAME.parse("H0-5")
    with pytest.raises(IllegalAction):
        state.apply_chance(GAME.parse("draw r"))
    with pytest.raises(IllegalAction):
        GAME.new_state(2).apply_chance(GAME.parse("first 2"))
    with pytest.raises(BadConfig):
        GAME.new_state(5)
    with pytest.raises(BadConfig):
        GAME.new_state(2, bonus=1)


def test_the_table_of_ids() -> None:
    """Ids follow the rules' order: cards, groups, placements, discard, pops, then chance; texts are unique."""
    texts = [GAME.text(event) for event in range(GAME.num_actions + GAME.num_chance)]
    assert len(set(texts)) == len(texts) == 423 + 13
    assert [texts.index(text) for text in ("card 1", "group 1", "V0", "V0-1", "V0r", "V1", "H0")] == [
        0, 10, 14, 15, 19, 24, 74,
    ]  # fmt: skip
    assert [texts.index(text) for text in ("H5r-4", "discard", "pop r@0,0", "pop *@5,7", "first 0", "draw r")] == [
        133, 134, 135, 422, 423, 427,
    ]  # fmt: skip
    assert [str(GAME.typed(event)) for event in range(len(texts))] == texts


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_random_games_keep_the_laws(players: int, simultaneous: bool) -> None:
    """88 cubes at every step, no set left standing, a bounded length; sets agree with a plain cell-by-cell search."""
    rng = Random(players)
    for _ in range(5):
        state, events = GAME.new_state(players, simultaneous_cards=simultaneous, bonus=True), 0
        while not state.is_terminal:
            GAME.check_invariants(state)
            if state.phase == "pop":
                own = state.boards[state.actors()[0]]
                assert {GAME.text(pop) for pop in board.find_sets(own)} == plain_sets(own)
            events += len(state.actors()) or 1
            step = random_step(state, rng)
            state = state.apply_chance(step) if isinstance(step, int) else state.apply(step)
        assert events <= GAME.max_events(players, state.config)
        assert [len(hand) for hand in state.hands] == [2] * players


def plain_sets(own: tuple[str, ...]) -> set[str]:
    """The sets of a board by the rules' words, cell by cell and without masks."""
    cubes = {(column, row): cube for column, line in enumerate(own) for row, cube in enumerate(line)}

    def part(start: tuple[int, int], members: set[tuple[int, int]]) -> set[tuple[int, int]]:
        found, todo = {start}, [start]
        while todo:
            column, row = todo.pop()
            near = {(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)}
            fresh = (near & members) - found
            found |= fresh
            todo += fresh
        return found

    names = set()
    for kind in "rgby":
        members = {cell for cell, cube in cubes.items() if cube.lower() in (kind, "w")}
        parts = [part(cell, members) for cell in members if cubes[cell] != "w"]
        names |= {(kind, min(cells)) for cells in parts if len(cells) >= 4}
    neutrals = {cell for cell, cube in cubes.items() if cube == "w"}
    alone = [part(cell, neutrals) for cell in neutrals]
    names |= {("w", min(cells)) for cells in alone if len(cells) >= 4 and part(min(cells), set(cubes)) == cells}
    symbols = {cell for cell, cube in cubes.items() if cube.isupper()}
    names |= {("*", min(cells)) for cells in (part(cell, symbols) for cell in symbols) if len(cells) >= 2}
    return {f"pop {kind}@{column},{row}" for kind, (column, row) in names}

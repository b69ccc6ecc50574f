"""POP!: each vector of the rules page as a position, an action and what comes of it; then the edges."""

from __future__ import annotations

from random import Random

import pytest

from engines.game import BadConfig, GameError, IllegalAction, MalformedAction
from engines.pop import GAME, Chief, Deal, Draw, Play, PlayPair, PopState, Row
from engines.pop.data import ARROW, CARDS, COLOUR, EXPLOSIONS, explosions
from engines.pop.plan import CHOOSE, plan_for
from engines.pop.table import touching

S0 = ((11,), (22,), (13,), (24,), (15,))
SHAPES = [
    (2, {}),
    (2, {"two_player_variant": False}),
    (3, {}),
    (4, {}),
    (5, {}),
    (2, {"rounds": 2}),
    (3, {"rounds": 3}),
]


def position(players, hands, *, columns=((),) * 5, chief=(), turn=1, variant=False, **more):
    """A position in which all are to choose; what is on no list is in the deck."""
    rounds = more.get("round", 1)
    plan = plan_for(players, variant, rounds)
    taken = more.get("taken", [[]] * players)
    pile = more.get("pile", [])
    out = {*pile, *chief}.union(*hands, *columns, *taken)
    return GAME.from_json(
        {
            "players": players,
            "config": {"two_player_variant": variant, "rounds": rounds},
            "round": rounds,
            "step": [(step.phase, step.turn) for step in plan.script].index((CHOOSE, turn)),
            "deck": [card for card in CARDS if card not in out],
            "hands": hands,
            "columns": columns,
            "chief": list(chief),
            "chosen": [],
            "taken": taken,
            "pile": list(pile),
            "carried": more.get("carried", [0] * players),
        }
    )


def choose(state: PopState, *texts: str) -> PopState:
    """All seats choose, by text."""
    return state.apply({seat: GAME.parse(text) for seat, text in enumerate(texts)})


def placed(columns, cards, chief=()):
    """One card each from seat 0 on, four seats with a Chief's card or five without, onto ``columns``."""
    state = position(len(cards), [[card] for card in cards], columns=columns, chief=chief)
    return choose(state, *(f"play {card}" for card in cards))


# The vectors


def test_vector_no_explosion():
    """S0, {12 p0, 23 p1, 29 p2, 35 p3, 36 Chief}, no arrow: nothing explodes."""
    after = placed(S0, (12, 23, 29, 35), chief=(36,))
    assert after.columns == ((12, 11), (23, 22), (29, 13), (35, 24), (36, 15))
    assert after.scores() == (0, 0, 0, 0)


def test_vector_three_touch_up_and_left():
    """S0, {12,17,25,31,37} of p0..p4: 17 in B touches 22 above and 12 beside it; p1 gets 4 points."""
    after = placed(S0, (12, 17, 25, 31, 37))
    assert after.columns == ((11,), (), (25, 13), (31, 24), (37, 15))
    assert set(after.taken[1]) == {12, 17, 22}
    assert after.scores() == (0, 4, 0, 0, 0)


def test_vector_three_arrows_go_from_e():
    """S0, {2,7,10,31,37}: 3 arrows, E first: {7,22} to p1 for 2, and the 2 in A then sees an empty B."""
    after = placed(S0, (2, 7, 10, 31, 37))
    assert after.columns == ((2, 11), (), (10, 13), (31, 24), (37, 15))
    assert set(after.taken[1]) == {7, 22}
    assert after.scores() == (0, 2, 0, 0, 0)


def test_vector_two_arrows_go_from_a():
    """S0, {4,9,21,30,37}: 2 arrows, A first: {4,9} to p1 for 4."""
    after = placed(S0, (4, 9, 21, 30, 37))
    assert set(after.taken[1]) == {4, 9}
    assert after.scores() == (0, 4, 0, 0, 0)


def test_vector_third_arrow_turns_it_round():
    """S0, {4,9,21,30,42}: 3 arrows: {4,9} to p0 for 4."""
    after = placed(S0, (4, 9, 21, 30, 42))
    assert set(after.taken[0]) == {4, 9}
    assert after.scores() == (4, 0, 0, 0, 0)


def test_vector_empty_column_separates():
    """A[11] B[] C[16] in one row: two reds with an empty column between them do not touch."""
    assert touching([(11,), (), (16,), (), ()], [0] * 5) == set()
    assert touching([(11,), (16,), (), (), ()], [0] * 5) == {11, 16}


def test_vector_score():
    """Score of {5,10,16,31} = 8."""
    assert explosions((5, 10, 16, 31)) == 8


def test_vector_first_row():
    """After a red card in A, B has 40 outcomes of equal weight, none of them red."""
    start = GAME.new_state(3)
    assert len(start.chance()) == 50
    outcomes = start.apply_chance(GAME.parse("row 11")).chance()
    assert len(outcomes) == 40
    assert {weight for _, weight in outcomes} == {1}
    assert all(COLOUR[GAME.typed(event).card] != "R" for event, _ in outcomes)


@pytest.mark.parametrize(("other", "places"), [(33, (2, 1)), (3, (1, 1))])
def test_vector_tie_is_broken_by_the_card_left(other, places):
    """10/10, last cards 47 and 33: 33 wins; 47 and 3: shared."""
    hands = [[11, 17, 47], sorted([23, 29, other])]
    last = position(2, hands, chief=(35,), turn=8, variant=True, round=2, carried=[10, 10])
    over = choose(last, "play 11+17", "play 23+29")
    assert over.is_terminal
    assert over.scores() == (10, 10)
    assert over.placements() == places


def test_vector_two_chief_explosions_one_pile():
    """Two Chief explosions before any player's make one pile, and the next player to explode takes all of it."""
    state = choose(position(2, [[18], [25]], columns=S0, chief=(1,)), "play 18", "play 25")
    for card in (17, 36):
        state = state.apply_chance(GAME.parse(f"chief {card}"))
    assert set(state.taken[0]) == {1, 11, 17, 22, 13, 18}
    assert state.pile == ()
    assert state.scores() == (10, 0)
    assert state.columns == ((), (), (), (25, 24), (36, 15))


def test_vector_least_total_of_three_rounds_wins():
    """Totals 9+4+12 and 10+10+4: the second wins."""
    hands = [[11, 17, 21], [23, 29, 26]]
    taken = [[1, 2, 3, 4], [6, 46]]
    last = position(2, hands, chief=(35,), turn=8, variant=True, round=3, carried=[9 + 4, 10 + 10], taken=taken)
    over = choose(last, "play 11+17", "play 23+29")
    assert over.is_terminal
    assert over.scores() == (25, 24)
    assert over.placements() == (2, 1)


# The tables


def test_card_tables():
    """Colours of ten cards, 80 explosions in all, 20 arrows; 16 explosions and 4 arrows for each colour."""
    assert sum(EXPLOSIONS) == 80
    assert sum(ARROW) == 20
    for colour in "RYGBP":
        cards = [card for card in CARDS if COLOUR[card] == colour]
        assert len(cards) == 10
        assert sum(EXPLOSIONS[card] for card in cards) == 16
        assert sum(ARROW[card] for card in cards) == 4
    assert [COLOUR[card] for card in (1, 2, 3, 4, 5, 6, 50)] == list("RYGBPRP")
    assert [EXPLOSIONS[card] for card in (5, 6, 15, 16, 20, 21, 30, 31, 35, 36, 45, 46)] == [
        3, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 3
    ]  # fmt: skip
    assert [ARROW[card] for card in (10, 11, 40, 41)] == [True, False, False, True]


def test_ids_and_texts():
    """Single cards come first, then the pairs in lexicographic order, then row, deal, draw and chief."""
    assert (GAME.num_actions, GAME.num_chance) == (1275, 200)
    known = {0: "play 1", 49: "play 50", 50: "play 1+2", 98: "play 1+50", 99: "play 2+3", 1274: "play 49+50"}
    known |= {1275: "row 1", 1325: "deal 1", 1375: "draw 1", 1425: "chief 1", 1474: "chief 50"}
    assert {event: GAME.text(event) for event in known} == known
    texts = [GAME.text(event) for event in range(1475)]
    assert [GAME.parse(text) for text in texts] == list(range(1475))
    typed = [GAME.typed(event) for event in (16, 50, 1275, 1325, 1375, 1425)]
    assert typed == [Play(17), PlayPair(1, 2), Row(1), Deal(1), Draw(1), Chief(1)]


@pytest.mark.parametrize(
    "text", ["", "play", "play 0", "play 51", "play 017", "play 5+5", "play 23+17", "play 1 ", "Play 1"]
)
def test_texts_that_name_nothing(text):
    """Only the canonical spelling is an action."""
    with pytest.raises(MalformedAction):
        GAME.parse(text)


@pytest.mark.parametrize("event", [-1, 1475])
def test_ids_out_of_range(event):
    """Ids outside the table are malformed, whatever is asked of them."""
    for ask in (GAME.text, GAME.typed):
        with pytest.raises(MalformedAction):
            ask(event)


@pytest.mark.parametrize(
    ("players", "config"), [(1, {}), (6, {}), (2, {"rounds": 0}), (2, {"rounds": 4}), (2, {"x": 1})]
)
def test_bad_configurations(players, config):
    """Player counts and options that the game lacks are refused."""
    with pytest.raises(BadConfig):
        GAME.new_state(players, **config)


# The course of a round


def replay(state, rng, visit):
    """Play uniformly at random to the end; ``visit`` sees each state and the events chosen in it."""
    while not state.is_terminal:
        if outcomes := state.chance():
            event = rng.choice(outcomes)[0]
            visit(state, [(None, event)])
            state = state.apply_chance(event)
        else:
            joint = {seat: rng.choice(state.legal(seat)) for seat in state.actors()}
            visit(state, list(joint.items()))
            state = state.apply(joint)
    return state


@pytest.mark.parametrize(
    ("players", "config", "sizes", "turn"),
    [
        (2, {}, [45, 36, 28, 21, 15, 10, 6, 3], "draw draw chief play play"),
        (2, {"two_player_variant": False}, [9, 8, 7, 6, 5, 4, 3, 2], "chief play play chief chief"),
        (3, {}, [9, 8, 7, 6, 5, 4, 3, 2], "chief play play play chief"),
        (4, {}, [9, 8, 7, 6, 5, 4, 3, 2], "chief play play play play"),
        (5, {}, [9, 8, 7, 6, 5, 4, 3, 2], "play play play play play"),
    ],
)
def test_course_of_a_round(players, config, sizes, turn):
    """The first row, the deal, then eight turns with the Chief's cards of that number of players; options shrink as listed."""
    events, options = [], []

    def visit(state, happening):
        events.extend(GAME.text(event).split()[0] for _, event in happening)
        if state.actors():
            options.append(len(state.legal(0)))

    replay(GAME.new_state(players, **config), Random(1), visit)
    assert options == sizes
    assert " ".join(events) == " ".join(["row"] * 5 + ["deal"] * 9 * players + [turn] * 8)
    assert len(events) == GAME.max_events(players, GAME.complete_config(players, config))


@pytest.mark.parametrize("step", range(9 * 3))
def test_deal_goes_round_the_table(step):
    """Cards are dealt one at a time in seat order."""
    state = GAME.new_state(3)
    for _ in range(5 + step):
        state = state.apply_chance(state.chance()[0][0])
    dealt = state.apply_chance(state.chance()[-1][0])
    grown = [len(new) - len(old) for new, old in zip(dealt.hands, state.hands, strict=True)]
    assert grown == [int(seat == step % 3) for seat in range(3)]


def test_last_cards_are_not_played_and_the_next_round_is_fresh():
    """After eight turns the points stay, and the next round has 50 cards and an empty table."""
    hands = [[11, 17, 47], [23, 29, 33]]
    doc = position(2, hands, chief=(35,), turn=8, variant=True, taken=[[1], [2, 16]], pile=[50]).to_json()
    doc["config"]["rounds"] = 2
    fresh = choose(GAME.from_json(doc), "play 11+17", "play 23+29")
    assert not fresh.is_terminal
    assert (fresh.round, fresh.scores(), fresh.placements()) == (2, (3, 5), (1, 2))
    assert fresh.columns == ((),) * 5
    assert len(fresh.chance()) == 50
    assert fresh.pile == ()
    assert fresh.view(0).left == ()


def test_pile_left_at_the_end_counts_for_nobody():
    """What the Chief blew up and nobody took is in no score."""
    last = position(5, [[11, 1], [17, 2], [23, 3], [29, 4], [35, 5]], turn=8, pile=[46, 47])
    over = choose(last, "play 11", "play 17", "play 23", "play 29", "play 35")
    assert over.is_terminal
    assert over.scores() == (0,) * 5


def test_players_explosion_takes_the_pile_of_an_earlier_turn():
    """A pile waits for the next explosion of a player, also over turns."""
    state = position(5, [[12], [17], [25], [31], [37]], columns=S0, pile=[46])
    after = choose(state, *(f"play {hand[0]}" for hand in state.hands))
    assert after.scores() == (0, 4 + 3, 0, 0, 0)
    assert after.pile == ()


def test_fallen_card_meets_a_later_placement():
    """7Y and 22Y vanish in A, 11R falls to the floor, and 16R placed in B stands beside it."""
    after = placed(((22, 11), (24,), (13,), (25,), (33,)), (7, 16, 30, 34, 36))
    assert [set(cards) for cards in after.taken] == [{7, 22}, {11, 16}, set(), set(), set()]
    assert after.columns == ((), (24,), (30, 13), (34, 25), (36, 33))


def test_served_column_is_one_row_lower():
    """11R falls only as far as its own floor: 21R in B, not served yet, is one row higher and does not touch it."""
    after = placed(((22, 11), (21,), (13,), (24,), (15,)), (12, 18, 29, 35, 36))
    assert [set(cards) for cards in after.taken] == [{12, 22}, set(), set(), set(), set()]
    assert after.columns == ((11,), (18, 21), (29, 13), (35, 24), (36, 15))


def test_second_wave_sideways():
    """12Y and 22Y vanish in B, 21R falls beside 6R in A: the owner of 12 takes all four."""
    after = placed(((13,), (22, 21), (11,), (24,), (15,)), (6, 12, 28, 34, 40))
    assert set(after.taken[1]) == {6, 12, 21, 22}
    assert after.columns[:3] == ((13,), (), (28, 11))


def test_third_wave_in_the_middle_of_a_column():
    """18G and 23G vanish in B, 17Y falls beside 12Y in A, both vanish, and the reds around the gap meet."""
    after = placed(((21, 12, 11), (23, 14, 15, 17), (), (), ()), (10, 18, 30, 33, 36))
    assert set(after.taken[1]) == {18, 23, 12, 17, 21, 11}
    assert after.columns == ((10,), (14, 15), (30,), (33,), (36,))


# Refusals


def test_illegal_choices():
    """A card of another hand, a pair where one card is asked, a missing or a strange seat."""
    state = position(3, [[1, 2], [3, 4], [5, 6]], chief=(7,), turn=8)
    good = {0: 0, 1: 2, 2: 4}
    for joint in ({**good, 0: 2}, {**good, 0: 50}, {0: 0, 1: 2}, {**good, 3: 1}, {0: 0, 1: 2, 3: 4}):
        with pytest.raises(IllegalAction):
            state.apply(joint)
    for action in (-1, 1275):
        with pytest.raises(MalformedAction):
            state.apply({**good, 0: action})
    with pytest.raises(IllegalAction):
        state.apply_chance(1425)
    assert state.apply(good).chance()


def test_impossible_chance():
    """A card that is out, of the wrong kind, or beside its colour cannot come."""
    start = GAME.new_state(2)
    with pytest.raises(IllegalAction):
        start.apply({0: 0, 1: 1})
    after = start.apply_chance(GAME.parse("row 11"))
    for text in ("row 11", "row 16", "deal 3", "play 3"):
        with pytest.raises(IllegalAction):
            after.apply_chance(GAME.parse(text))


# Against a second model of the table, with absolute rows and flood fill


def model_turn(columns, faces):
    """Place ``faces`` on a grid {(row, column): card} and return (columns, [(owner, cards)])."""
    floors = [1] * 5
    grid = {(floors[c] - i, c): card for c, column in enumerate(columns) for i, card in enumerate(column)}
    faces = sorted(faces)
    order = list(range(5))
    if sum(card <= 10 or card >= 41 for card, _ in faces) > 2:
        order.reverse()
    blasts = []
    for c in order:
        floors[c] += 1
        card, owner = faces[c]
        grid[floors[c], c] = card
        gone = []
        while doomed := [cell for cell in grid if len(group_of(grid, cell)) > 1]:
            gone += [grid.pop(cell) for cell in doomed]
            for column in range(5):
                stack = [grid.pop(cell) for cell in sorted(grid, reverse=True) if cell[1] == column]
                grid.update({(floors[column] - i, column): card for i, card in enumerate(stack)})
        if gone:
            blasts.append((owner, set(gone)))
    final = [tuple(grid[cell] for cell in sorted(grid, reverse=True) if cell[1] == c) for c in range(5)]
    return tuple(final), blasts


def group_of(grid, cell):
    group, todo = {cell}, [cell]
    while todo:
        row, column = todo.pop()
        for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if near in grid and near not in group and (grid[near] - grid[cell]) % 5 == 0:
                group.add(near)
                todo.append(near)
    return group


@pytest.mark.parametrize(("players", "config"), SHAPES)
def test_turns_against_the_grid_model(players, config):
    """Every turn of random matches ends with the columns, owners and pile that a plain grid simulation gives."""
    rng = Random(4)
    for _ in range(25):
        state, turns = GAME.new_state(players, **config), 0
        while not state.is_terminal:
            before = state
            if outcomes := state.chance():
                event = rng.choice(outcomes)[0]
                state = state.apply_chance(event)
                played = [(card, seat) for seat, cards in enumerate(before.chosen) for card in cards]
                faces = [*played, *((card, -1) for card in (*before.chief, GAME.typed(event).card))]
            else:
                joint = {seat: rng.choice(state.legal(seat)) for seat in state.actors()}
                state = state.apply(joint)
                cards = {seat: GAME.text(action)[5:].split("+") for seat, action in joint.items()}
                faces = [(int(card), seat) for seat in cards for card in cards[seat]]
                faces += [(card, -1) for card in before.chief]
            if before.due.completes:
                turns += 1
                agree_with_model(before, state, faces)
        assert turns == 8 * state.plan.rounds


def agree_with_model(before, after, faces):
    columns, blasts = model_turn(before.columns, faces)
    taken, pile = [set(cards) for cards in before.taken], set(before.pile)
    for owner, gone in blasts:
        if owner < 0:
            pile |= gone
        else:
            taken[owner] |= gone | pile
            pile = set()
    points = [had + explosions(tuple(cards)) for had, cards in zip(before.carried, taken, strict=True)]
    assert list(after.scores()) == points
    if after.round == before.round:
        assert after.columns == columns
        assert [set(cards) for cards in after.taken] == taken
        assert set(after.pile) == pile


# Knowledge


@pytest.mark.parametrize(("players", "config"), SHAPES)
def test_worlds_of_a_view(players, config):
    """Each state satisfies the conservation laws, survives JSON, and any world made from a view has that view and plays out."""
    rng = Random(7)

    def visit(state, _):
        GAME.check_invariants(state)
        assert GAME.from_json(state.to_json()).to_json() == state.to_json()
        for seat in range(players):
            view = state.view(seat)
            assert GAME.view_from_json(view.to_json()) == view
            world = GAME.determinize(view, rng)
            GAME.check_invariants(world)
            assert world.view(seat) == view
            assert world.view(None) == state.view(None)
            assert world.legal(seat) == state.legal(seat)
            assert world.info_key(seat) == state.info_key(seat)
        if rng.random() < 0.1:
            assert replay(state.resample(0, rng), rng, lambda *_: None).is_terminal

    over = replay(GAME.new_state(players, **config), rng, visit)
    visit(over, [])


def test_a_view_shows_only_what_its_seat_knows():
    """Own cards, no other's; all that has been collected; a spectator sees no hand; nobody completes its view."""
    state = position(3, [[1, 2], [3, 4], [5, 6]], columns=S0, chief=(7,), turn=8, taken=[[8], [], [9, 10]])
    assert [state.view(seat).hand for seat in (0, 1, 2, None)] == [(1, 2), (3, 4), (5, 6), ()]
    assert state.view(1).taken == ((8,), (), (9, 10))
    assert state.view(1).left == ()
    with pytest.raises(GameError):
        GAME.determinize(state.view(None), Random(1))


def test_choices_are_open_once_all_are_in_and_hands_at_the_end():
    """With three players the choices show while the face-down Chief card comes; at the end everybody sees what was left."""
    state = position(3, [[1, 2], [3, 4], [5, 6]], columns=S0, chief=(7,), turn=8)
    chosen = choose(state, "play 1", "play 3", "play 5")
    assert chosen.view(None).chosen == ((1,), (3,), (5,))
    assert chosen.view(0).left == ()
    over = chosen.apply_chance(GAME.parse("chief 20"))
    assert over.view(None).left == (2, 4, 6)


def test_who_sees_cards_dealt():
    """A dealt or drawn card is seen by who gets it; first row and Chief by all."""
    seen = {}

    def visit(state, happening):
        kind = GAME.text(happening[0][1]).split()[0]
        who = [seat for seat in (0, 1, None) if state.sees(seat, *happening[0])]
        seen.setdefault(kind, set()).add(tuple(who))
        if kind in ("deal", "draw"):
            assert who == [state.due.seat]

    replay(GAME.new_state(2), Random(3), visit)
    everybody = (0, 1, None)
    assert seen == {
        "row": {everybody},
        "deal": {(0,), (1,)},
        "draw": {(0,), (1,)},
        "chief": {everybody},
        "play": {everybody},
    }


def test_apply_leaves_the_old_state_alone():
    """A state is the same after a successor was made from it."""
    state = position(4, [[12], [23], [29], [35]], columns=S0, chief=(36,))
    before = state.to_json()
    choose(state, "play 12", "play 23", "play 29", "play 35")
    assert state.to_json() == before


def test_rendered_text_hides_what_the_view_hides():
    """The text of a seat names its own cards and no card of another hand."""
    state = position(3, [[1, 2], [3, 4], [5, 6]], columns=S0, chief=(7,), turn=8)
    text = state.render(1)
    assert "3G***^" in text
    assert "1R***" not in text
    assert "5P***" not in text
    assert "Your hand" not in state.render(None)

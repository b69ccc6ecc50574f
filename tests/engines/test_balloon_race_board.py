"""The tables of engines.balloon_race.board against the rules read step by step, in positions of random races."""

from __future__ import annotations

from random import Random

from engines.balloon_race import GAME, RaceState
from engines.balloon_race.data import DIRECTIONS, START_TILE
from engines.playout import advance, random_playout

Square = tuple[int, int]


def on_board(square: Square) -> bool:
    return 0 <= square[0] < 15 and 0 <= square[1] < 15


def ahead(square: Square, direction: Square) -> Square:
    return square[0] + direction[0], square[1] + direction[1]


def squares(numbers: tuple[int, ...]) -> set[Square]:
    return {divmod(number, 15) for number in numbers}


def destinations(state: RaceState) -> set[str]:
    """Texts of ``to``: every pair of steps, each onto a free square of the board, the start counting as free."""
    home = divmod(state.balloons[state.waiting[0]], 15)
    view = state.view(None)
    taken = (squares(view.balloons) | {divmod(square, 15) for square, _ in view.obstacles}) - {home}
    found = set()
    for first in DIRECTIONS:
        middle = ahead(home, first)
        for second in DIRECTIONS:
            end = ahead(middle, second)
            if all(on_board(square) and square not in taken for square in (middle, end)):
                found.add(f"to {end[0]},{end[1]}")
    return found


def slides(state: RaceState) -> set[str]:
    """Texts of ``move``: every token that has not moved, every direction, one square after the other."""
    view = state.view(None)
    closed = squares(view.balloons) | squares(view.mail) | squares(START_TILE)
    closed |= {(14, column) for column in range(view.pad, view.pad + 5)}
    closed |= {divmod(square, 15) for square, _ in view.obstacles}
    found = set()
    for number, value in view.obstacles:
        if number in view.moved:
            continue
        for direction in DIRECTIONS:
            here, path = divmod(number, 15), []
            for _ in range(value):
                here = ahead(here, direction)
                path.append(here)
            if all(on_board(square) and square not in closed for square in path):
                found.add(f"move {number // 15},{number % 15}-{here[0]},{here[1]}")
    return found


def test_choices_are_those_of_a_plain_reading() -> None:
    """Destinations of a 6 and obstacle moves agree with a step-by-step reading, all through 40 random races."""
    rng = Random(11)
    compared = {"to": 0, "move": 0}
    for race in range(40):
        players = 2 + race % 3
        state = GAME.new_state(players)
        for step in random_playout(GAME, players, rng)[1]:
            if state.phase in compared:
                (seat,) = state.actors()
                plain = destinations(state) if state.phase == "to" else slides(state)
                assert {GAME.text(action) for action in state.legal(seat)} == plain
                compared[state.phase] += 1
            state = advance(state, step)
    assert min(compared.values()) > 100

"""Balloon Race's protobuf codec against the engine."""

from __future__ import annotations

from random import Random

import pytest

from botarena.codecs import balloon_race as codec
from botarena.games.balloon_race.v1 import balloon_race_pb2 as pb
from engines.balloon_race import GAME, Drawn, Roll
from engines.playout import advance, random_step

RIGHT = pb.Assign.DIRECTION_RIGHTWARDS


@pytest.mark.parametrize("players", [2, 3, 4])
def test_views_round_trip(players: int) -> None:
    """Every view of a random race, written to bytes and read back, is the same view."""
    rng = Random(5)
    state = GAME.new_state(players, dice_timer_ms=players * 1000)
    while True:
        for seat in (None, *range(players)):
            view = state.view(seat)
            encoded = pb.View()
            codec.encode_view(view, encoded)
            sent = pb.View.FromString(encoded.SerializeToString())
            assert codec.view_to_json(sent) == view.to_json()
            assert GAME.view_from_json(codec.view_to_json(sent)) == view
        if state.is_terminal:
            return
        state = advance(state, random_step(state, rng))


def test_actions_round_trip() -> None:
    """Every action, written to bytes and read back, gives its canonical text."""
    for action in range(GAME.num_actions):
        sent = pb.Action.FromString(codec.encode_action(GAME.typed(action)).SerializeToString())
        assert codec.decode_action(sent) == GAME.text(action)


@pytest.mark.parametrize(
    "msg",
    [
        pb.Action(),
        pb.Action(assign=pb.Assign()),
        pb.Action(assign=pb.Assign(dice=[1, 2, 3, 4], direction=RIGHT)),
        pb.Action(assign=pb.Assign(dice=[1, 2, 3, 4, 5, 6], direction=RIGHT)),
        pb.Action(assign=pb.Assign(dice=[0, 2, 3, 4, 5], direction=RIGHT)),
        pb.Action(assign=pb.Assign(dice=[1, 2, 3, 4, 2**32 - 1], direction=RIGHT)),
        pb.Action(assign=pb.Assign(dice=[1, 2, 3, 4, 5])),
        pb.Action(assign=pb.Assign(dice=[1, 2, 3, 4, 5], direction=3)),  # type: ignore[arg-type]
        pb.Action(to=pb.To(row=15)),
        pb.Action(to=pb.To(column=2**32 - 1)),
        pb.Action(put=pb.Put(row=4, column=15)),
        pb.Action(move=pb.Move()),
        pb.Action(move=pb.Move(row=4, column=4, to_row=5, to_column=6)),
        pb.Action(move=pb.Move(row=4, column=4, to_row=9, to_column=9)),
        pb.Action(move=pb.Move(row=15, column=4, to_row=14, to_column=4)),
        pb.Action(move=pb.Move(row=4, column=4, to_row=-(2**31), to_column=4)),
    ],
)
def test_impossible_actions(msg: pb.Action) -> None:
    """An unset action and values out of range are refused."""
    with pytest.raises(ValueError, match=r"assign|to|put|move"):
        codec.decode_action(msg)


@pytest.mark.parametrize("outcome", [Drawn("pad", 3), Roll((1, 2, 3, 4, 5))])
def test_chance_is_no_action(outcome: Drawn | Roll) -> None:
    """An outcome of chance cannot be sent as an action."""
    with pytest.raises(ValueError, match="no action"):
        codec.encode_action(outcome)

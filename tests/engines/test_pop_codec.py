"""POP!'s protobuf codec against the engine."""

from __future__ import annotations

from random import Random

import pytest

from botarena.codecs import pop as codec
from botarena.games.pop.v1 import pop_pb2 as pb
from engines.pop import GAME, Row


@pytest.mark.parametrize(
    ("players", "config"), [(2, {}), (2, {"two_player_variant": False}), (3, {"rounds": 2}), (5, {})]
)
def test_views_round_trip(players, config):
    """Every view of a random match, written to bytes and read back, is the same view."""
    rng = Random(5)
    state = GAME.new_state(players, **config)
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
        if outcomes := state.chance():
            state = state.apply_chance(rng.choice(outcomes)[0])
        else:
            state = state.apply({seat: rng.choice(state.legal(seat)) for seat in state.actors()})


def test_actions_round_trip():
    """Every action, encoded and decoded, gives its canonical text."""
    for action in range(GAME.num_actions):
        assert codec.decode_action(codec.encode_action(GAME.typed(action))) == GAME.text(action)


@pytest.mark.parametrize(
    "msg",
    [
        pb.Action(),
        pb.Action(play=pb.Play()),
        pb.Action(play=pb.Play(card=51)),
        pb.Action(play=pb.Play(card=2**32 - 1)),
        pb.Action(play_pair=pb.PlayPair(low=3)),
        pb.Action(play_pair=pb.PlayPair(high=3)),
        pb.Action(play_pair=pb.PlayPair(low=5, high=5)),
        pb.Action(play_pair=pb.PlayPair(low=7, high=5)),
        pb.Action(play_pair=pb.PlayPair(low=7, high=51)),
    ],
)
def test_impossible_actions(msg):
    """An unset action and values out of range are refused."""
    with pytest.raises(ValueError, match=r"pop|play"):
        codec.decode_action(msg)


def test_chance_is_no_action():
    """An outcome of chance cannot be sent as an action."""
    with pytest.raises(ValueError, match="Row"):
        codec.encode_action(Row(1))

"""Balloon Pop's protobuf codec and JSON forms against the engine."""

from __future__ import annotations

from random import Random

import pytest

from botarena.codecs import balloon_pop as codec
from botarena.games.balloon_pop.v1 import balloon_pop_pb2 as pb
from engines.balloon_pop import GAME
from engines.game import GameError
from engines.playout import advance, random_step


@pytest.mark.parametrize(
    ("players", "config"), [(2, {}), (3, {"simultaneous_cards": True}), (4, {"bonus": True})], ids=str
)
def test_views_round_trip(players, config):
    """Every view of a random match, written to bytes and read back, is the same view, and makes the same state."""
    rng = Random(5)
    state = GAME.new_state(players, **config)
    while True:
        assert GAME.from_json(state.to_json()).to_json() == state.to_json()
        for seat in (None, *range(players)):
            view = state.view(seat)
            encoded = pb.View()
            codec.encode_view(view, encoded)
            sent = pb.View.FromString(encoded.SerializeToString())
            assert codec.view_to_json(sent) == view.to_json()
            assert GAME.view_from_json(codec.view_to_json(sent)) == view
        assert GAME.determinize(view, rng).view(view.seat) == view
        if state.is_terminal:
            return
        state = advance(state, random_step(state, rng))


def test_a_spectators_view_is_not_determinized():
    """Only who sits at the table may search."""
    with pytest.raises(GameError):
        GAME.determinize(GAME.new_state(2).view(None), Random(1))


def test_actions_round_trip():
    """Every action, encoded, sent and decoded, gives its canonical text."""
    for action in range(GAME.num_actions):
        sent = pb.Action.FromString(codec.encode_action(GAME.typed(action)).SerializeToString())
        assert codec.decode_action(sent) == GAME.text(action)


def test_chance_is_no_action():
    """An outcome of chance cannot be sent as an action."""
    with pytest.raises(ValueError, match="no action"):
        codec.encode_action(GAME.typed(GAME.num_actions))


@pytest.mark.parametrize(
    "msg",
    [
        pb.Action(),
        pb.Action(play_card=pb.PlayCard()),
        pb.Action(play_card=pb.PlayCard(value=11)),
        pb.Action(take_group=pb.TakeGroup()),
        pb.Action(take_group=pb.TakeGroup(number=5)),
        pb.Action(place=pb.Place(column=1)),
        pb.Action(place=pb.Place(orientation=7, column=1)),
        pb.Action(place=pb.Place(orientation=pb.Place.ORIENTATION_VERTICAL, column=6)),
        pb.Action(place=pb.Place(orientation=pb.Place.ORIENTATION_VERTICAL, drop=5)),
        pb.Action(place=pb.Place(orientation=pb.Place.ORIENTATION_VERTICAL, drop=2**32 - 1)),
        pb.Action(pop=pb.Pop()),
        pb.Action(pop=pb.Pop(kind=9)),
        pb.Action(pop=pb.Pop(kind=pb.Pop.KIND_RED, column=6)),
        pb.Action(pop=pb.Pop(kind=pb.Pop.KIND_RED, row=8)),
    ],
    ids=lambda msg: " ".join(str(msg).split()) or "unset",
)
def test_impossible_actions(msg):
    """An unset action and values out of range are refused."""
    with pytest.raises(ValueError, match=r"balloon-pop|play_card|take_group|place|pop"):
        codec.decode_action(msg)

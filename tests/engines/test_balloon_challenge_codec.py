"""The messages of Balloon Challenge say what the engine says."""

from __future__ import annotations

from random import Random

import pytest

from botarena import codecs
from botarena.codecs import balloon_challenge as codec
from botarena.games.balloon_challenge.v1 import balloon_challenge_pb2 as pb
from botarena.v1 import play_pb2
from engines.balloon_challenge import GAME
from engines.balloon_challenge.data import CARD_NAMES
from engines.playout import advance, random_playout

PLAYERS = range(GAME.min_players, GAME.max_players + 1)


@pytest.mark.parametrize("players", PLAYERS)
def test_views_round_trip(players: int) -> None:
    """Every view of a game, a spectator's too, comes back equal from its serialised message."""
    _, steps = random_playout(GAME, players, Random(players))
    state = GAME.new_state(players)
    for step in steps:
        for seat in (None, *range(players)):
            view = state.view(seat)
            encoded = pb.View()
            codec.encode_view(view, encoded)
            msg = pb.View.FromString(encoded.SerializeToString())
            assert codec.view_to_json(msg) == view.to_json()
            assert GAME.view_from_json(codec.view_to_json(msg)) == view
        state = advance(state, step)


def test_actions_round_trip() -> None:
    """Every action's message decodes to its canonical text."""
    for action in range(GAME.num_actions):
        msg = pb.Action.FromString(codec.encode_action(GAME.typed(action)).SerializeToString())
        assert codec.decode_action(msg) == GAME.text(action)


def test_cards_are_named_as_in_the_engine() -> None:
    """The SDK's card table is the engine's."""
    assert codec.CARD_NAMES == CARD_NAMES


@pytest.mark.parametrize(
    "msg", [pb.Action(), pb.Action(play=pb.Play(card=50)), pb.Action(play=pb.Play(card=2**32 - 1))]
)
def test_impossible_actions_are_refused(msg: pb.Action) -> None:
    """An empty message and cards that do not exist raise ValueError."""
    with pytest.raises(ValueError, match=r"none is set|cards are 0 to 49"):
        codec.decode_action(msg)


def test_the_table_of_codecs_dispatches() -> None:
    """Through the table by name a view and an action land in their oneof fields and come back."""
    view = GAME.new_state(3).view(1)
    into = play_pb2.View()
    codecs.encode_view("balloon-challenge", view, into)
    assert into.WhichOneof("view") == "balloon_challenge"
    assert codecs.view_to_json("balloon-challenge", into) == view.to_json()
    action = play_pb2.TypedAction()
    codecs.encode_action("balloon-challenge", GAME.typed(0), action)
    assert codecs.decode_action("balloon-challenge", action) == "play R0"
    with pytest.raises(ValueError, match="not an action of pop"):
        codecs.decode_action("pop", action)
    with pytest.raises(ValueError, match="not a view of pop"):
        codecs.view_to_json("pop", into)


def test_a_game_without_messages_travels_as_json() -> None:
    """The table sends views of unknown games as JSON, leaves their actions empty, and refuses to decode those."""
    view = GAME.new_state(3).view(1)
    into = play_pb2.View()
    codecs.encode_view("somebody-elses", view, into)
    assert codecs.view_to_json("somebody-elses", into) == view.to_json()
    action = play_pb2.TypedAction()
    codecs.encode_action("somebody-elses", GAME.typed(0), action)
    assert action == play_pb2.TypedAction()
    with pytest.raises(ValueError, match="not an action"):
        codecs.decode_action("somebody-elses", action)

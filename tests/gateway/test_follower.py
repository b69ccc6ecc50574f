"""What a gateway remembers in order to tell of sets."""

from __future__ import annotations

import pytest

from arena.gateway import follower
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb


def test_games_whose_end_nobody_tells_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session ends games by itself when their worker died; a gateway lives for months."""
    monkeypatch.setattr(follower, "KEPT", 3)
    told = follower.Follower("g")
    for number in range(5):
        story = rpb.Story(set_id=f"s{number}", attempt=1, match_ids={0: f"m{number}"})
        told.hear("alice", rpb.WorkerEvent(offer=rpb.Offer(offer=pb.SetOffered(offer_id=f"o{number}"), story=story)))
        started = pb.MatchStarted(game_id=f"g{number}", offer_id=f"o{number}")
        told.hear("alice", rpb.WorkerEvent(deliver=pb.ArenaEvent(match_started=started)))
    assert list(told._seats) == ["g2", "g3", "g4"]

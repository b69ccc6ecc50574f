"""A bot of the bare protocol that misbehaves as its first argument says, from its third decision on."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from queue import SimpleQueue

import grpc

from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub

MODE = sys.argv[1]
decisions = 0


def acts(asked: pb.DecisionRequested) -> Iterator[pb.Act]:
    """What this bot sends where an answer is due."""
    global decisions  # noqa: PLW0603 - a small program
    decisions += 1
    good = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id, action_id=random.choice(asked.legal).id)
    bad = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id)
    if decisions < 3:
        yield good
        return
    match MODE:
        case "illegal":
            bad.action_id = next(i for i in range(50) if i not in {action.id for action in asked.legal})
            yield bad
        case "late":
            time.sleep(3.9)
            yield good
        case "garbage":
            bad.text = "\x00 nonsense"
            yield bad
        case "twice":
            yield good
            yield bad
        case "elsewhere":
            yield pb.Act(game_id="g_somebody_elses", decision_id=1, action_id=0)
            yield good
        case "stale":
            yield pb.Act(game_id=asked.game_id, decision_id=asked.decision_id - 1, action_id=50)
            yield good
        case "vanish":
            os._exit(0)
        case _:
            yield good


def answer(event: pb.ArenaEvent) -> Iterator[pb.BotEvent]:
    match event.WhichOneof("event"):
        case "set_offered":
            yield pb.BotEvent(ready=pb.Ready(offer_id=event.set_offered.offer_id))
        case "decision_requested":
            for act in acts(event.decision_requested):
                yield pb.BotEvent(act=act)
        case "match_ended" if MODE == "quitter":
            os._exit(0)
        case "ping":
            yield pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce))


requests: SimpleQueue[pb.PlayRequest] = SimpleQueue()
requests.put(pb.PlayRequest(events=[pb.BotEvent(hello=pb.Hello())]))
token = ("authorization", f"Bearer {os.environ['ARENA_TOKEN']}")
with grpc.insecure_channel(os.environ["ARENA_ADDRESS"]) as channel:
    for frame in PlayServiceStub(channel).Play(iter(requests.get, None), metadata=(token,)):
        for event in frame.events:
            for reply in answer(event):
                requests.put(pb.PlayRequest(events=[reply]))

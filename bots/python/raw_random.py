"""The bare protocol: a whole bot without the SDK, in any language with a gRPC library. Plays at random."""

import os
import random
import sys
from queue import SimpleQueue

import grpc

from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub


def reply(event: pb.ArenaEvent) -> pb.BotEvent | None:
    """The answer that an event needs, if any."""
    match event.WhichOneof("event"):
        case "set_offered":
            return pb.BotEvent(ready=pb.Ready(offer_id=event.set_offered.offer_id))
        case "decision_requested":
            asked = event.decision_requested
            choice = random.choice(asked.legal).id
            return pb.BotEvent(act=pb.Act(game_id=asked.game_id, decision_id=asked.decision_id, action_id=choice))
        case "ping":
            return pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce))
    return None


requests: SimpleQueue[pb.PlayRequest] = SimpleQueue()
requests.put(pb.PlayRequest(events=[pb.BotEvent(hello=pb.Hello())]))
token = ("authorization", f"Bearer {os.environ.get('ARENA_TOKEN', '')}")
with grpc.insecure_channel(os.environ["ARENA_ADDRESS"]) as channel:
    try:
        for frame in PlayServiceStub(channel).Play(iter(requests.get, None), metadata=(token,)):
            if replies := [answer for answer in map(reply, frame.events) if answer]:
                requests.put(pb.PlayRequest(events=replies))
    except grpc.RpcError as error:  # the arena says why: a bad token, say
        sys.exit(error.details())

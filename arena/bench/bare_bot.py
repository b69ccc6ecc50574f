"""A bot of the bare protocol for load: answers every decision with the first legal action. ``bare_bot.py [CREDIT]``."""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue

import grpc

from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub


def answer(event: pb.ArenaEvent) -> pb.BotEvent | None:
    """What an event needs, if anything."""
    kind = event.WhichOneof("event")
    if kind == "decision_requested":
        asked = event.decision_requested
        act = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id, action_id=asked.legal[0].id)
        return pb.BotEvent(act=act)
    if kind == "set_offered":
        return pb.BotEvent(ready=pb.Ready(offer_id=event.set_offered.offer_id))
    if kind == "ping":
        return pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce))
    return None


def main() -> None:
    """Plays until the stream ends."""
    requests: SimpleQueue[pb.PlayRequest] = SimpleQueue()
    wants = pb.Wants(history=pb.Wants.HISTORY_NONE)
    credit = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    requests.put(pb.PlayRequest(events=[pb.BotEvent(hello=pb.Hello(credit=credit, wants=wants))]))
    token = ("authorization", f"Bearer {os.environ.get('ARENA_TOKEN', '')}")
    with grpc.insecure_channel(os.environ["ARENA_ADDRESS"]) as channel:
        stub = PlayServiceStub(channel)
        for frame in stub.Play(iter(requests.get, None), metadata=(token,)):
            if events := [reply for event in frame.events if (reply := answer(event)) is not None]:
                requests.put(pb.PlayRequest(events=events))


if __name__ == "__main__":
    main()

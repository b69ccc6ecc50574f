"""A bot of the bare protocol for load: answers every decision with the first legal action. ``bare_bot.py [CREDIT]``."""

from __future__ import annotations

import os
import sys

import grpc

from arena import loops
from botarena.v1 import play_pb2 as pb


def answers(frame: pb.PlayResponse) -> pb.PlayRequest:
    """What the events of a frame need, if anything."""
    reply = pb.PlayRequest()
    for event in frame.events:
        kind = event.WhichOneof("event")
        if kind == "decision_requested":
            asked, act = event.decision_requested, reply.events.add().act
            act.game_id, act.decision_id, act.action_id = asked.game_id, asked.decision_id, asked.legal[0].id
        elif kind == "set_offered":
            reply.events.add().ready.offer_id = event.set_offered.offer_id
        elif kind == "ping":
            reply.events.add().pong.nonce = event.ping.nonce
    return reply


async def main(address: str, token: str, credit: int) -> None:
    """Plays until the stream ends."""
    hello = pb.Hello(credit=credit, wants=pb.Wants(history=pb.Wants.HISTORY_NONE))
    async with grpc.aio.insecure_channel(address) as channel:
        play = channel.stream_stream(
            "/botarena.v1.PlayService/Play",
            request_serializer=pb.PlayRequest.SerializeToString,
            response_deserializer=pb.PlayResponse.FromString,
        )
        call = play(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(pb.PlayRequest(events=[pb.BotEvent(hello=hello)]))
        async for frame in call:
            if (reply := answers(frame)).events:
                await call.write(reply)


if __name__ == "__main__":
    loops.run(
        main(
            os.environ["ARENA_ADDRESS"], os.environ.get("ARENA_TOKEN", ""), int(sys.argv[1]) if len(sys.argv) > 1 else 1
        )
    )

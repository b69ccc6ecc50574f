"""A bot of the bare protocol for load: answers every decision with the first legal action. ``bare_bot.py [CREDIT]``."""

from __future__ import annotations

import os
import sys

import grpc

from arena import loops
from botarena.v1 import play_pb2 as pb


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
            if events := [reply for event in frame.events if (reply := answer(event)) is not None]:
                await call.write(pb.PlayRequest(events=events))


if __name__ == "__main__":
    loops.run(
        main(
            os.environ["ARENA_ADDRESS"], os.environ.get("ARENA_TOKEN", ""), int(sys.argv[1]) if len(sys.argv) > 1 else 1
        )
    )

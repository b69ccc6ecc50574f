"""A bot of the bare protocol that is wrong in the one way that its first argument names; "" is right."""

from __future__ import annotations

import os
import random
import sys
import time
from queue import SimpleQueue

import grpc

from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub

WRONG = sys.argv[1]


class Bot:
    """One stream. What is asked is answered by :meth:`reply`."""

    def __init__(self) -> None:
        self.requests: SimpleQueue[pb.PlayRequest] = SimpleQueue()
        self.first_game = ""

    def reply(self, event: pb.ArenaEvent) -> pb.BotEvent | None:
        match event.WhichOneof("event"):
            case "set_offered":
                offer_id = "mine" if WRONG == "names another offer" else event.set_offered.offer_id
                nonce = os.urandom(8 if WRONG == "short nonce" else 16)
                return pb.BotEvent(ready=pb.Ready(offer_id=offer_id, nonce=nonce))
            case "decision_requested":
                return self.act(event.decision_requested)
            case "ping" if WRONG == "introduces itself again":
                self.say(pb.BotEvent(hello=pb.Hello()))
                return pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce))
            case "ping":
                bits = 32 if WRONG == "numbers of 32 bits" else 64
                return pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce % (1 << bits)))
            case None if WRONG == "knows all kinds":
                raise ValueError("an event of no kind")
        return None

    def act(self, asked: pb.DecisionRequested) -> pb.BotEvent | None:
        if asked.resent and WRONG == "never repeats itself":
            return None
        choice = random.choice(asked.legal).id
        if WRONG == "plays what it likes":
            choice = next(n for n in range(1000) if n not in [action.id for action in asked.legal])
        self.first_game = self.first_game or asked.game_id
        game_id = self.first_game if WRONG == "knows one game" else asked.game_id
        return pb.BotEvent(act=pb.Act(game_id=game_id, decision_id=asked.decision_id, action_id=choice))

    def say(self, *events: pb.BotEvent) -> None:
        self.requests.put(pb.PlayRequest(events=events))

    def play(self) -> None:
        """One stream from Hello to its end."""
        token = ("authorization", f"Bearer {os.environ['ARENA_TOKEN']}")
        size = 64 << 10 if WRONG == "small frames" else -1
        address = os.environ["ARENA_ADDRESS"]
        with grpc.insecure_channel(address, [("grpc.max_receive_message_length", size)]) as channel:
            metadata = () if WRONG == "shows no token" else (token,)
            stream = PlayServiceStub(channel).Play(iter(self.requests.get, None), metadata=metadata)
            time.sleep(6 if WRONG == "thinks before it speaks" else 0)
            self.say(pb.BotEvent(hello=pb.Hello()))
            for frame in stream:
                if replies := [answer for answer in map(self.reply, frame.events) if answer]:
                    self.say(*replies)


while True:
    try:
        Bot().play()
        break
    except grpc.RpcError as error:
        if WRONG != "never gives up":
            sys.exit(str(error))

"""Records docs/transcript.md: every message of one match, by a bot of the bare protocol on the arena's own gateway and host.

It has new secrets and times with each run, so it is recorded again only where the protocol has changed.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, cast

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf import text_format

from arena.gateway.local import LocalGateway
from arena.gateway.session import Identity
from arena.host.play import Finished, play_match
from arena.host.port import Port
from arena.host.seats import ScriptedSeat, SessionSeat
from arena.host.wire import config_json, time_control_message
from arena.match.deal import Deal, commitment, rules_hash, secret_from_seed
from arena.match.referee import Reply
from arena.match.spec import Player, Spec, TimeControl
from botarena.v1 import play_pb2 as pb
from botarena.v1.play_pb2_grpc import PlayServiceStub
from engines import get

if TYPE_CHECKING:
    from botarena.v1.play_pb2_grpc import PlayServiceAsyncStub

PAGE: Final = Path(__file__).parents[2] / "docs" / "transcript.md"
GAME: Final = "balloon-challenge"
SEED: Final = 1
HEAD: Final = """\
# A whole match, message by message

<!-- Recorded by proto/docs/transcript.py. -->

`raw` plays {game} with `random`. It asks for nothing beyond the minimum, so that it gets ids, texts and the game's typed
view. One event a line, in protobuf's text format, with the milliseconds since the stream was opened; `>` is from the bot and
`<` to it. Events of one frame have the same time. [The protocol](protocol.md) says what they mean.

```text
"""


class Recorder:
    """The bot, which answers at random and writes down all that passes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._began = time.monotonic()
        self._rng = Random(SEED)  # noqa: S311 - plays, encrypts nothing
        self._outbox: asyncio.Queue[pb.PlayRequest | None] = asyncio.Queue()

    async def play(self, address: str, token: str) -> None:
        """One stream until the arena ends it."""
        async with grpc.aio.insecure_channel(address) as channel:
            self._say(pb.BotEvent(hello=pb.Hello(bot="raw", version="1", sdk="none", credit=1, protocol=1000)))
            metadata = (("authorization", f"Bearer {token}"),)
            stub = cast("PlayServiceAsyncStub", PlayServiceStub(channel))
            async for frame in stub.Play(self._requests(), metadata=metadata):
                for event in frame.events:
                    self._write("<", event)
                    self._answer(event)

    async def _requests(self) -> AsyncIterator[pb.PlayRequest]:
        while (frame := await self._outbox.get()) is not None:
            yield frame

    def _answer(self, event: pb.ArenaEvent) -> None:
        match event.WhichOneof("event"):
            case "set_offered":
                nonce = self._rng.randbytes(16)
                self._say(pb.BotEvent(ready=pb.Ready(offer_id=event.set_offered.offer_id, nonce=nonce)))
            case "decision_requested":
                asked = event.decision_requested
                choice = self._rng.choice(asked.legal).id
                act = pb.Act(game_id=asked.game_id, decision_id=asked.decision_id, action_id=choice)
                self._say(pb.BotEvent(act=act))
            case "ping":
                self._say(pb.BotEvent(pong=pb.Pong(nonce=event.ping.nonce)))
            case "match_ended":
                self._say(pb.BotEvent(set_credit=pb.SetCredit(drain=True)))

    def _say(self, event: pb.BotEvent) -> None:
        self._write(">", event)
        self._outbox.put_nowait(pb.PlayRequest(events=[event]))

    def _write(self, arrow: str, event: pb.BotEvent | pb.ArenaEvent) -> None:
        ms = int((time.monotonic() - self._began) * 1000)
        text = text_format.MessageToString(event, as_one_line=True, use_short_repeated_primitives=True)
        self.lines.append(f"{ms:6} {arrow} {text}\n")


async def referee(gateway: LocalGateway, session: str) -> Finished:
    """Offers the set and plays its one game."""
    port = Port(session, lambda event: gateway.core.handle_worker_event("docs", event))
    gateway.core.attach("docs", port.handle)
    rules, control, secret = get(GAME), TimeControl(), secret_from_seed(SEED)
    config = rules.complete_config(2, {})
    promise = commitment("m_1", 1, rules_hash(rules), secret)
    offer = pb.SetOffered(
        offer_id="o_1",
        game=GAME,
        players=2,
        config_json=config_json(tuple(config.items())),
        games=1,
        time_control=time_control_message(control),
        commitments=[promise],
    )
    nonce = await port.offer(offer, 10.0)
    assert nonce is not None
    spec = Spec(
        match_id="m_1",
        set_id="s_1",
        attempt=1,
        game_index=0,
        game=GAME,
        config=config,
        seats=(Player("raw", "1", "ann"), Player("random", "1", "house")),
        time_control=control,
        deal=Deal("own", promise, (nonce, b""), 1, proven=True, secret=secret),
        rated=False,
        bot_seeds=(1, 2),
    )
    rng = Random(SEED)  # noqa: S311
    other = ScriptedSeat(lambda request: Reply(rng.choice(request.legal)))
    bot = SessionSeat(port, "o_1")
    finished = await play_match(spec, [bot, other], Ed25519PrivateKey.generate())
    bot.end(finished.outcome, finished.record, reveal=True)
    return finished


async def record() -> str:
    """The page."""
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        async with LocalGateway(f"{folder}/play.sock") as gateway:
            token = gateway.issue(Identity(bot_id=1, version_id=1, bot="raw", version="1", owner="ann"))
            playing = asyncio.create_task(recorder.play(gateway.address, token))
            await referee(gateway, await gateway.wait_session(token, 10.0))
            await playing
    return HEAD.format(game=get(GAME).title) + "".join(recorder.lines) + "```\n"


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(record()))

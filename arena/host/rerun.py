"""Gives a recorded match's requests to a bot again: does it still move as it did?"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from arena.errors import UserError
from arena.host.processes import LocalBots, Program
from arena.host.seats import SessionSeat
from arena.host.sets import READY_TIMEOUT_S
from arena.host.wire import config_json
from arena.match.record import ParsedRecord
from arena.match.referee import Reply, Request
from arena.match.replay import steps
from botarena.v1 import play_pb2 as pb


@dataclass(frozen=True, slots=True)
class Difference:
    """The first request that was answered otherwise. Actions are ids; ``fault`` is what stood in place of one."""

    seq: int
    request: Request
    recorded: Reply
    now: Reply


@dataclass(frozen=True, slots=True)
class Rerun:
    """``same`` answers agreed, in order, before the ``difference``, if there was one."""

    same: int
    difference: Difference | None


async def rerun(record: ParsedRecord, seat: int, program: Program) -> Rerun:
    """Plays ``seat`` of a recorded match with ``program`` till it answers otherwise than the record.

    Raises UserError if the program does not get ready, BotDidNotConnect, DamagedRecord.
    """
    same = 0
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        async with LocalBots(Path(folder)) as bots:
            port = await bots.start(program)
            playing: SessionSeat | None = None
            for referee, step, replies in steps(record):
                if playing is None:
                    offer = _offer(record)
                    if await port.offer(offer, READY_TIMEOUT_S) is None:
                        raise UserError(f"{program.name} did not answer the offer with Ready within 10 s")
                    playing = SessionSeat(port, offer.offer_id)
                    playing.start(referee.spec, seat, bytes.fromhex(record.header["receipt"]))
                playing.observe(step.events)
                request = next((asked for asked in step.requests if asked.seat == seat), None)
                if request is None or replies[seat].action is None:
                    continue
                now = await playing.decide(request)
                if now.action != replies[seat].action:
                    return Rerun(same, Difference(len(referee.events), request, replies[seat], now))
                same += 1
    return Rerun(same, None)


def _offer(record: ParsedRecord) -> pb.SetOffered:
    header = record.header
    return pb.SetOffered(
        offer_id="o_rerun",
        game=header["game"],
        players=header["players"],
        config_json=config_json(tuple(header["config"].items())),
        games=1,
        rated=False,
    )

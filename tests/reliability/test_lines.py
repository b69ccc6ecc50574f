"""Lines of RELIABILITY that no other folder's tests hold, each under its number."""

from __future__ import annotations

import ast
import io
import logging
import re
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from prometheus_client import REGISTRY

import engines
from arena import logs, metrics
from arena.errors import Unavailable
from arena.gateway.core import GatewayCore
from arena.gateway.metrics import GatewayCollector
from arena.host.journal import write_spooled
from arena.host.store import Spool, Spooled
from arena.host.wire import SeatWire
from arena.match.deal import ChanceStream
from arena.match.referee import Referee, Request
from arena.match.spec import SeatReason
from arena.storage import db
from arena.storage.db import Database
from arena.storage.plans import MatchResult
from arena.storage.workers import WorkerLease
from botarena.games.pop.v1 import pop_pb2
from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import Arena
from tests.match.support import spec

ROOT = Path(__file__).parents[2]

GAME = "balloon-challenge"
HELD = {*range(1, 21), 37, 43, 45, *range(66, 70), *range(71, 83), 84, 88}
"""Lines of which each must have a test of its number."""

STUCK = """
import asyncio, threading
from arena.host.watchdog import LoopWatch

async def rules():
    while True:
        pass

async def others():
    asyncio.create_task(asyncio.sleep(60), name="set:s_innocent")
    await asyncio.sleep(0.1)
    asyncio.create_task(rules(), name="set:s_endless")
    await asyncio.sleep(60)

loop = asyncio.new_event_loop()
watch = LoopWatch(loop, lambda set_id: print("stuck in", set_id, flush=True), stuck_s=1.0)
threading.Thread(target=loop.run_until_complete, args=(others(),), daemon=True).start()
watch.start()
threading.Event().wait(50)
"""


@pytest.mark.parametrize(
    "act",
    [
        pb.Act(),
        pb.Act(action_id=4_294_967_295),
        pb.Act(text="NaN"),
        pb.Act(text="x" * 10_000),
        pb.Act(typed=pb.TypedAction()),
        pb.Act.FromString(b"\x2a\x04\x0a\x02\x78\x7f"),  # a typed action with a field that nobody knows
        pb.Act(typed=pb.TypedAction(pop=pop_pb2.Action(play=pop_pb2.Play(card=1)))),
    ],
)
def test_r4_what_names_no_action_is_malformed(act: pb.Act) -> None:
    """An answer that is no action of the game, whatever it is made of, is the bot's fault and breaks nothing here."""
    wire, request = asked()
    reply = wire.reply(request, act, 5, 3)
    assert (reply.action, reply.fault, reply.elapsed_us) == (None, SeatReason.MALFORMED, 5)
    assert len(reply.detail) <= 80
    result = wire.result(request, reply)
    assert result is not None
    assert result.code == pb.ActResult.CODE_MALFORMED


def test_r14_an_action_that_is_not_legal_here_is_illegal() -> None:
    """An action of the game that the position does not allow is told from garbage, and from one that it allows."""
    wire, request = asked()
    illegal = next(action for action in range(engines.get(GAME).num_actions) if action not in request.legal)
    assert wire.reply(request, pb.Act(action_id=illegal), 1, 1).fault is SeatReason.ILLEGAL
    assert wire.reply(request, pb.Act(action_id=request.legal[0]), 1, 1).fault is None


async def test_r17_reflection_is_off() -> None:
    """The gateway describes its services to nobody."""
    async with Arena() as arena, grpc.aio.insecure_channel(arena.address) as channel:
        for version in ("v1", "v1alpha"):
            call = channel.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")()
            assert await call.code() is grpc.StatusCode.UNIMPLEMENTED


def test_r37_nobody_forges_a_log_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A name with line breaks in it is one line of the log."""
    kept = logging.getLogger().handlers[:]
    stream = io.StringIO()
    try:
        logs.configure()
        handler = logging.getLogger().handlers[0]
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(stream)
        logging.getLogger("arena.test").info("a bot called %s", "x\r\n2026-01-01 INFO arena all is well")
    finally:
        logging.getLogger().handlers[:] = kept
    assert len(stream.getvalue().splitlines()) == 1


def test_r75_no_duration_comes_from_a_clock_that_can_be_set() -> None:
    """What plays, charges, leases and sweeps never asks the wall clock of its machine."""
    asked = []
    for package in ("match", "host", "gateway", "ladder", "ratings"):
        for path in (ROOT / "arena" / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and (ast.unparse(node) in WALL_CLOCKS):
                    asked.append(f"{path.name}:{node.lineno}")
    assert not asked


def asked() -> tuple[SeatWire, Request]:
    """A seat's side of a match's first question."""
    match = spec(GAME, 2)
    step = Referee(match, ChanceStream(match.deal.seed(match.match_id, match.attempt, match.set_id)).pick).start()
    request = step.requests[0]
    return SeatWire(match, request.seat, "g_1", pb.Wants()), request


WALL_CLOCKS = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.datetime.now"}


def test_r76_rules_that_never_return_end_the_process_and_are_named() -> None:
    """A thread beside the loop notices, says which set it is and not which others run, and ends the process."""
    ended = subprocess.run(
        [sys.executable, "-c", STUCK], cwd=ROOT, capture_output=True, text=True, timeout=45, check=False
    )
    assert ended.returncode == 70
    assert ended.stdout == "stuck in s_endless\n"


def test_r80_reads_give_up_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every connection for reading taken a read fails soon, and a result is written all the same."""
    monkeypatch.setattr(db, "READ_POOL_TIMEOUT_S", 0.2)
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    taken = [database.read() for _ in range(2 * db.POOL_SIZE)]
    for one in taken:
        one.__enter__()
    with pytest.raises(Unavailable), database.read():
        pass
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE result (id INTEGER)")
    for one in taken:
        one.__exit__(None, None, None)
    database.close()
    assert db.READ_POOL_TIMEOUT_S < db.WRITE_POOL_TIMEOUT_S


def test_r81_no_metric_is_labelled_by_match_or_set() -> None:
    """Labels of a process's own metrics are of few values: games, reasons, codes, and bots up to a bound."""
    assert metrics.MATCHES
    collector = GatewayCollector(GatewayCore("test", games={}))
    labels = {
        label
        for family in (*REGISTRY.collect(), *collector.collect())
        if family.name.startswith("arena_")
        for sample in family.samples
        for label in sample.labels
    }
    assert labels <= {"game", "reason", "le", "code", "bot", "version", "python_version"}


def test_r70_a_spooled_result_survives_as_it_was(tmp_path: Path) -> None:
    """What is read back is what was put, to the content hash; a damaged file is left for a person and stops nothing."""
    spool = Spool(tmp_path / "spool" / "worker-0")
    ended = MatchResult("m_1", 2, (1, 2), (5, 3), ("NORMAL", "TIMEOUT"), "d" * 64, "e" * 64, 40)
    result = Spooled(WorkerLease(3, 7), "s_1", ended, last=True)
    spool.put(result)
    (tmp_path / "spool" / "worker-0" / "m_0.json").write_text("{")
    (found,) = spool
    assert found == result
    assert found.ended.content_hash == ended.content_hash
    spool.drop("m_1")
    assert list(spool) == []


def test_r70_a_spooled_result_of_a_lost_claim_is_dropped(tmp_path: Path, migrated: Path) -> None:
    """The claim does not stand, or there is no such match: nothing is written, and the spool is empty again."""
    database = Database(f"sqlite:///{migrated}")
    spool = Spool(tmp_path / "spool")
    ended = MatchResult("m_1", 1, (1, 2), (5, 3), ("NORMAL", "NORMAL"), "d" * 64, "e" * 64, 40)
    spool.put(Spooled(WorkerLease(1, 1), "s_1", ended, last=False))
    write_spooled(database, spool)
    assert list(spool) == []
    database.close()


def test_each_line_has_a_test_of_its_number() -> None:
    """What docs/reliability.md promises is held by a test that is found by the line's number."""
    found = {
        int(number)
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def test_r((?:\d+_)+)", path.read_text(encoding="utf-8"))
        for number in name.split("_")[:-1]
    }
    listed = {int(n) for n in re.findall(r"^\| (\d+) \|", (ROOT / "docs/reliability.md").read_text(), re.MULTILINE)}
    assert HELD <= listed <= found

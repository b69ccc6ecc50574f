"""Lines of RELIABILITY that no other folder's tests hold, each under its number."""

from __future__ import annotations

import ast
import asyncio
import io
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import Connection, select

import engines
from arena import logs, metrics
from arena.errors import Fenced, Unavailable
from arena.gateway.core import GatewayCore
from arena.gateway.metrics import GatewayCollector
from arena.gateway.tallies import NAMED
from arena.host import store
from arena.host.journal import SqlJournal, write_spooled
from arena.host.sets import GameJob
from arena.host.store import Spool, Spooled, ThreadedStore
from arena.host.wire import SeatWire
from arena.match.deal import ChanceStream
from arena.match.referee import Referee, Request
from arena.match.spec import SeatReason
from arena.storage.db import Database
from arena.storage.plans import MatchResult
from arena.storage.records import write_synced
from arena.storage.sweeper import sweep_claims
from arena.storage.tables import result as stored_result
from arena.storage.workers import WorkerLease
from botarena.games.pop.v1 import pop_pb2
from botarena.v1 import play_pb2 as pb
from tests.gateway.harness import Arena
from tests.match.support import play, spec, uniform
from tests.storage.support import small_arena

T = TypeVar("T")

ROOT = Path(__file__).parents[2]

GAME = "balloon-challenge"
HELD = {*range(1, 21), 25, 30, 31, 33, 37, *range(43, 47), 52, *range(66, 86), 87, 88}
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
    """Nothing asks the wall clock of its machine, by whatever name, but those few that tell or compare the time of day."""
    asked = {
        str(path.relative_to(ROOT))
        for package in ("arena", "workers", "engines", "bots/python/botarena", "bots/house")
        for path in (ROOT / package).rglob("*.py")
        if any(wall_clocks(path.read_text(encoding="utf-8")))
    }
    assert asked == TELL_THE_TIME


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.time()",
        "import time as t; began = t.time_ns()",
        "from time import time; age = time() - 1",
        "import time; clock = time.time",
        "import datetime; datetime.datetime.now()",
        "from datetime import datetime as D; D.now()",
        "from datetime import date; date.today()",
    ],
)
def test_r75_a_wall_clock_is_found_by_whatever_name(code: str) -> None:
    """What looks for them can fail."""
    assert list(wall_clocks(code)) == [1]


def wall_clocks(code: str) -> Iterator[int]:
    """The lines that ask a clock that somebody may set."""
    tree, names = ast.parse(code), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, dot, rest = ast.unparse(node).partition(".")
            if names.get(first, "") + dot + rest in WALL_CLOCKS:
                yield node.lineno


WALL_CLOCKS = {
    *(f"time.{name}" for name in ("time", "time_ns", "ctime", "CLOCK_REALTIME")),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today",
}
TELL_THE_TIME = {
    "arena/cli/tournament.py",  # waits for the moment at which an event begins
    "arena/doctor.py",  # compares this machine's clock with the arena's
    "arena/storage/migrations/versions/0005_versions_and_trials.py",  # dates rows that had no date
    "arena/tournaments/spec.py",  # an event that names no moment begins now
    "arena/tracing.py",  # when a span began, of which a monotonic clock says how long it took
    "arena/web/exports.py",  # how old a file is, by the date that it bears
    "arena/web/watch.py",  # since when Redis is away, for a page
}


def asked() -> tuple[SeatWire, Request]:
    """A seat's side of a match's first question."""
    match = spec(GAME, 2)
    step = Referee(match, ChanceStream(match.deal.seed(match.match_id, match.attempt, match.set_id)).pick).start()
    request = step.requests[0]
    return SeatWire(match, request.seat, "g_1", pb.Wants()), request


def test_r76_rules_that_never_return_end_the_process_and_are_named() -> None:
    """A thread beside the loop notices, says which set it is and not which others run, and ends the process."""
    ended = subprocess.run(
        [sys.executable, "-c", STUCK], cwd=ROOT, capture_output=True, text=True, timeout=45, check=False
    )
    assert ended.returncode == 70
    assert ended.stdout == "stuck in s_endless\n"


def test_r81_no_metric_is_labelled_by_match_or_set() -> None:
    """Labels of a process's own metrics are of few values, used already or not: games, reasons, codes, bots up to a bound."""
    assert metrics.MATCHES
    own = {label for collector in list(REGISTRY._collector_to_names) for label in getattr(collector, "_labelnames", ())}
    assert own == {"game", "reason"}
    core = GatewayCore("test", games={})
    for number in range(NAMED + 20):
        counts = core.tallies.of(f"bot-{number}").counts
        counts.update({"decisions": 1, "act_stale": 1, "refused_flood": 1})
    found: dict[str, set[str]] = {}
    for family in GatewayCollector(core).collect():
        for sample in family.samples:
            for label, value in sample.labels.items():
                found.setdefault(label, set()).add(value)
    assert found.keys() == {"reason", "le", "code", "bot"}
    assert (found["code"], found["reason"], len(found["bot"])) == ({"stale"}, {"flood"}, NAMED + 1)


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


class Shaky(ThreadedStore):
    """A worker's store whose database does not answer when it is first told of a result. ``waiting``: spooled at each try."""

    def __init__(self, database: Database, data_dir: Path) -> None:
        super().__init__(database, data_dir, "worker-0")
        self.waiting: list[int] = []

    async def in_transaction(self, work: Callable[[Connection], T]) -> T:
        self.waiting.append(len(list(self.spooled)))
        if len(self.waiting) == 1:
            raise Unavailable("the database is away")
        return await super().in_transaction(work)


@pytest.mark.parametrize("fenced", [False, True])
def test_r70_a_result_is_on_the_disk_until_the_database_has_taken_or_refused_it(
    tmp_path: Path, migrated: Path, fenced: bool
) -> None:
    """It is spooled before it is tried again, and not left there, whether it counts or came too late."""
    shutil.copy(migrated, tmp_path / "arena.db")
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    world = small_arena(database)
    plan = world.begun(world.queue())
    finished, _ = play(spec(), *map(uniform, range(3)))
    shaky = Shaky(database, tmp_path)
    game = GameJob(plan.games[0].match_id, 0, 1, plan.games[0].order)
    if fenced:
        world.lapse()
        with database.write() as connection:
            assert sweep_claims(connection) == (plan.set_id,)
    with pytest.raises(Fenced) if fenced else nullcontext():
        asyncio.run(SqlJournal(shaky, plan, world.lease).finished(game, finished))
    assert shaky.waiting == [0, 1]
    assert list(shaky.spooled) == []
    with database.read() as connection:
        places = connection.execute(select(stored_result.c.places)).scalars().all()
    assert places == ([] if fenced else [list(finished.outcome.places)])
    shaky.close()
    database.close()


def test_r70_what_is_written_is_on_the_disk_before_anybody_relies_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is synced before it has its name, and then its folder, and a new folder's own entry before both."""
    target = tmp_path / "records" / "one"
    synced = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").resolve(), target.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    write_synced(target, b"content")
    above, file, folder = synced
    assert above == (tmp_path, False)
    assert (file[0].parent, file[1]) == (target.parent, False)
    assert folder == (target.parent, True)
    assert target.read_bytes() == b"content"


def test_r82_there_is_room_while_the_reserve_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """256 MiB are for the results of what runs; a disk that does not say how full it is has no room."""
    database = Database(f"sqlite:///{tmp_path / 'arena.db'}")
    assert store.DISK_RESERVE == 256 * 2**20
    for folder, reserve, room in ((tmp_path, 1, True), (tmp_path, 2**62, False), (tmp_path / "not there", 1, False)):
        monkeypatch.setattr(store, "DISK_RESERVE", reserve)
        there = ThreadedStore(database, folder, "worker-0")
        assert there.has_room() is room
        there.close()
    database.close()


def test_each_line_has_a_test_of_its_number() -> None:
    """What docs/reliability.md promises is held by a test that is found by the line's number."""
    found = {
        int(number)
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def test_r((?:\d+_)+)", path.read_text(encoding="utf-8"))
        for number in name.split("_")[:-1]
    }
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", told(), re.MULTILINE)}
    assert listed == HELD
    assert listed <= found


def test_each_line_is_told() -> None:
    """docs/reliability.md leaves none of the 88 out: it has its row, or says what is so instead."""
    elsewhere = {
        int(number)
        for numbers in re.findall(r"^- ((?:\d+, )*\d+):", told(), re.MULTILINE)
        for number in numbers.split(", ")
    }
    assert elsewhere | HELD == set(range(1, 89))


def test_each_test_that_is_named_is_there() -> None:
    """The rows name tests, or the beginnings of their names."""
    there = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)(\*?)`", told())
    assert len(named) > 60
    assert not [name for name, rest in named if not re.search(rf"def {name}{'' if rest else chr(92) + 'b'}", there)]


def told() -> str:
    return (ROOT / "docs/reliability.md").read_text(encoding="utf-8")

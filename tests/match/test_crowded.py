"""Where every processor has a game, bots and gRPC's threads take none from the referee."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.host.processes import LocalBots, Program, processors
from arena.supervisor import python


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="a policy of Linux")
@pytest.mark.parametrize("crowded", [True, False])
def test_bots_and_grpc_give_way_where_it_is_crowded(crowded: bool, tmp_path: Path) -> None:
    """They have the policy of batch work; where processors are idle it would only make them later."""
    # In a process of its own: in this one gRPC's threads may be there already.
    words = [sys.executable, "-m", __name__, str(tmp_path), "crowded" if crowded else ""]
    shown = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=60).stdout)
    policy = os.SCHED_BATCH if crowded else os.SCHED_OTHER
    assert set(shown["bot"]) == {policy}
    assert policy in shown["grpc"]
    assert shown["referee"] == os.SCHED_OTHER


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or processors() < 2, reason="needs several processors of Linux"
)
def test_a_referee_alone_keeps_to_one_processor(tmp_path: Path) -> None:
    """Its bots run where they like, and so does it when they have ended."""

    async def play() -> tuple[set[int], set[int]]:
        async with LocalBots(tmp_path, alone=True) as bots:
            before = children()
            await bots.start(Program("bare", "1", python("-m", "arena.bench.bare_bot"), tmp_path / "log"))
            (bot,) = set(children()) - set(before)
            return os.sched_getaffinity(0), os.sched_getaffinity(int(bot))

    everywhere = os.sched_getaffinity(0)
    referee, bot = asyncio.run(play())
    assert len(referee) == 1
    assert bot == everywhere
    assert os.sched_getaffinity(0) == everywhere


async def show(folder: Path, *, crowded: bool) -> None:
    """Prints the policies of this thread, of those that gRPC has begun, and of a bot's."""
    async with LocalBots(folder, crowded=crowded) as bots:
        await bots.start(Program("bare", "1", python("-m", "arena.bench.bare_bot"), folder / "log"))
        (bot,) = children()
        print(
            json.dumps(
                {
                    "referee": os.sched_getscheduler(0),
                    "grpc": [policy for thread, policy in policies("self").items() if thread != os.getpid()],
                    "bot": list(policies(bot).values()),
                }
            )
        )


def children() -> list[str]:
    """Processes that this one has begun."""
    return [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def policies(process: str) -> dict[int, int]:
    """Of each thread of a process."""
    threads = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    return {thread: os.sched_getscheduler(thread) for thread in threads}


if __name__ == "__main__":
    asyncio.run(show(Path(sys.argv[1]), crowded=bool(sys.argv[2])))

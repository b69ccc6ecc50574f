"""A real web process on a real data folder, with a real Valkey beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from arena import valkey
from arena.bench.processes import free_port
from arena.settings import LadderSpec
from tests.web.seed import SeededArena

PATIENCE_S = 60.0
CHALLENGE, POP = "balloon-challenge-3p", "pop-2p"
LADDERS = (
    LadderSpec(CHALLENGE, "balloon-challenge", 3, {}),
    LadderSpec(POP, "pop", 2, {"two_player_variant": True, "rounds": 1}),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body, decoded."""
        return self.body.decode()

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


def showing(*texts: str) -> Callable[[Answer], bool]:
    """Whether an answer has all of these: one of them alone may be of what was before."""
    return lambda answer: all(text in answer.text for text in texts)


@dataclass(frozen=True, slots=True)
class WebArena:
    """The web process at ``url`` and what it shows."""

    arena: SeededArena
    url: str
    redis_url: str
    pid: int

    def get(self, path: str, **headers: str) -> Answer:
        """An answer, errors included."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, headers=named)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
                return Answer(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())

    def get_when(self, path: str, holds: Callable[[Answer], bool]) -> Answer:
        """The first answer of which that holds: for a moment after a change the cache has what was true before it."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds(answer := self.get(path)):
            assert time.monotonic() < deadline, f"{path} stays {answer.status}: {answer.text}"
            time.sleep(0.1)
        return answer

    def stream(self, topic: str, version: str = "") -> HTTPResponse:
        """An open live stream."""
        opened: HTTPResponse = urllib.request.urlopen(
            f"{self.url}/live?topic={topic}&version={version}", timeout=PATIENCE_S
        )
        return opened


def next_message(stream: HTTPResponse) -> dict[str, Any]:
    """The next message of a live stream."""
    for line in stream:
        if line.startswith(b"data: "):
            message: dict[str, Any] = json.loads(line[6:])
            return message
    raise AssertionError("the stream ended")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Valkey of our own."""
    with a_valkey() as url:
        yield url


@contextmanager
def a_valkey() -> Iterator[str]:
    """One that nobody else uses; its URL."""
    with tempfile.TemporaryDirectory(prefix="arena-v-") as folder:
        path = Path(folder) / "s"
        server = subprocess.Popen(valkey.command(path), stdout=subprocess.DEVNULL)
        _wait_for(path.exists, server)
        yield f"unix://{path}"
        _stop(server)


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[WebArena]:
    """The command ``arena web`` on a folder with some matches, one of them spoilt by a fault."""
    folder = tmp_path_factory.mktemp("web")
    arena = SeededArena(folder, LADDERS, bots=("zephyr", "updraft"))
    for _ in range(3):
        arena.play_any(CHALLENGE)
        arena.play_any(POP)
    arena.play(POP, ["zephyr", "updraft"], fault_rate=0.5)
    arena.play(CHALLENGE, ["random", "greedy", "heuristic"], deal_mode="shared")
    arena.connect(redis_url)
    with serving(arena, redis_url) as running:
        yield running


@contextmanager
def serving(arena: SeededArena, redis_url: str, **settings: str) -> Iterator[WebArena]:
    """A web process on what an arena holds, with such settings in its environment."""
    folder, port = arena.settings.data_dir, free_port()
    environment = {
        **os.environ,
        "ARENA_DATA_DIR": str(folder),
        "ARENA_REDIS_URL": redis_url,
        "ARENA_WEB_LISTEN": f"127.0.0.1:{port}",
        # Tests come from one address, faster than anybody, and leave tables behind.
        "ARENA_LIMITS_API_REQUESTS_PER_S": "100000",
        "ARENA_LIMITS_API_BURST": "100000",
        "ARENA_WEB_TABLES_PER_ADDRESS": "32",
        **settings,
    }
    with (folder / "web.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "arena", "web"], env=environment, stdout=log, stderr=log)
    running = WebArena(arena, f"http://127.0.0.1:{port}", redis_url, process.pid)
    _wait_for(lambda: _answers(running), process, folder / "web.log")
    yield running
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 0, (folder / "web.log").read_text()


def _answers(web: WebArena) -> bool:
    try:
        return web.get("/healthz").status == 200
    except urllib.error.URLError:
        return False


def _wait_for(there: Any, process: subprocess.Popen[bytes], log: Path | None = None) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        told = log.read_text() if log else ""
        assert process.poll() is None, f"the process ended: {told}"
        assert time.monotonic() < deadline, f"nothing in time: {told}"
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(timeout=PATIENCE_S)

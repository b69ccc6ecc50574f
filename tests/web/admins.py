"""A web process with admin pages, and a person at them."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from urllib.parse import urlencode

import pytest

from arena.bench.processes import free_port
from arena.storage import admins
from tests.web.seed import SeededArena
from tests.web.support import LADDERS, PATIENCE_S, POP, Answer, WebArena, serving


@dataclass(frozen=True, slots=True)
class AdminArena:
    """The web process, where its admin pages are, and the token of the admin ``ada``."""

    web: WebArena
    url: str
    token: str


@pytest.fixture(scope="package")
def admin(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[AdminArena]:
    """The command ``arena web`` with both listeners, on a folder with a few bots."""
    arena = SeededArena(tmp_path_factory.mktemp("admin"), LADDERS, bots=("zephyr", "updraft"))
    arena.play(POP, ["zephyr", "updraft"])
    with arena.database.write() as connection:
        token = admins.create_token(connection, "ada")
    address = f"127.0.0.1:{free_port()}"
    with serving(arena, redis_url, ARENA_WEB_ADMIN_LISTEN=address) as web:
        yield AdminArena(web, f"http://{address}", token)


@dataclass
class Visitor:
    """Somebody with a browser's cookies and no scripts."""

    url: str
    cookies: CookieJar = field(default_factory=CookieJar)

    def __post_init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> Answer:
        """A page, after its redirects."""
        return self._open(urllib.request.Request(self.url + path))

    def post(self, path: str, **fields: str) -> Answer:
        """What comes after a form is sent, after its redirects."""
        return self._open(urllib.request.Request(self.url + path, urlencode(fields).encode()))

    def csrf(self, path: str) -> str:
        """The token in the forms of a page."""
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.get(path).text)
        assert found is not None
        return found[1]

    def log_in(self, token: str) -> Answer:
        """Through the form."""
        return self.post("/login", csrf=self.csrf("/login"), secret=token)

    def _open(self, request: urllib.request.Request) -> Answer:
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as response:
                return Answer(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())

"""People at tables, without a browser: each in a thread of its own, over HTTP as a browser's page does it."""

from __future__ import annotations

import json
import random
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from threading import Thread
from typing import Any

from tests.web.support import PATIENCE_S, Answer, WebArena


def post(web: WebArena, path: str, body: bytes, **headers: str) -> Answer:
    """A POST's answer, errors included; redirections are not followed."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(web.url + path, body, named, method="POST")
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=PATIENCE_S) as response:
            return Answer(response.status, dict(response.headers), response.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, dict(error.headers), error.read())


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def open_table(web: WebArena, game: str, others: list[str], name: str = "", **form: str) -> tuple[str, str]:
    """Fills in the form; gives the table and the opener's secret."""
    fields = [("name", name), *(("with", other) for other in others), *form.items()]
    answer = post(web, f"/play/new/{game}", urllib.parse.urlencode(fields).encode())
    assert answer.status == 303, answer.text
    table, _, secret = answer.headers["location"].removeprefix("/play/").partition("#seat=")
    return table, secret


class Guest(Thread):
    """Watches a table, and with a secret plays there at random, till it is over. ``messages``: all that came on the stream."""

    def __init__(self, web: WebArena, table: str, secret: str = "", seed: int = 1) -> None:
        super().__init__(daemon=True)
        self.messages: list[dict[str, Any]] = []
        self.refusals: list[Answer] = []
        self._web = web
        self._table = table
        self._secret = secret
        self._rng = random.Random(seed)

    @property
    def frames(self) -> list[dict[str, Any]]:
        """All frames."""
        return [frame for message in self.messages for frame in message.get("frames", [])]

    @property
    def states(self) -> list[dict[str, Any]]:
        """All states."""
        return [message["state"] for message in self.messages if "state" in message]

    def send(self, what: str, **document: Any) -> Answer:
        """As the page sends it."""
        return send(self._web, self._table, what, self._secret, **document)

    def run(self) -> None:
        """Until the table is over."""
        answered = 0
        for message in stream(self._web, self._table, self._secret):
            self.messages.append(message)
            state = message.get("state", {})
            if state.get("phase") in ("over", "ended"):
                return
            asked = state.get("ask")
            if asked and asked["id"] != answered:
                answered = asked["id"]
                answer = self.send("move", decision=answered, action=self._rng.choice(asked["legal"]))
                if answer.status != 200:
                    self.refusals.append(answer)


def send(web: WebArena, table: str, what: str, secret: str = "", **document: Any) -> Answer:
    """What somebody at a table does."""
    return post(web, f"/play/{table}/{what}", json.dumps(document).encode(), **_authorised(secret))


def stream(web: WebArena, table: str, secret: str = "", have: int = 0) -> Iterator[dict[str, Any]]:
    """The messages of a stream."""
    request = urllib.request.Request(f"{web.url}/play/{table}/live?have={have}", headers=_authorised(secret))
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
        for line in response:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def _authorised(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"} if secret else {}

"""What the API does for whoever shows a token, and for nobody else."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from arena.gateway.limits import BAD_TOKENS
from arena.storage import accounts
from arena.web.api.commands import NewChallenge, NewTrial
from arena.web.api.posting import parse_body
from arena.web.api.serving import PREFIX, BadRequest
from tests.web.support import PATIENCE_S, POP, WebArena


def token_of(web: WebArena, name: str) -> str:
    """A token of the account that owns a bot."""
    with web.arena.database.write() as connection:
        bot = accounts.find_bot(connection, name)
        assert bot is not None
        return accounts.create_token(connection, bot.account_id, label="")


def post(web: WebArena, path: str, token: str = "", **body: Any) -> tuple[int, Any]:
    """Status and document."""
    request = urllib.request.Request(web.url + PREFIX + path, json.dumps(body).encode(), method="POST")
    if token:
        request.add_header("authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_challenge(web: WebArena) -> None:
    """Made, looked at, ended by its owner; others' tokens and none are refused; quotas and mistakes have their status."""
    mine, other = token_of(web, "zephyr"), token_of(web, "updraft")
    about = {"ladder": POP, "bot": "zephyr", "opponents": ["updraft"], "games": 4, "seed": 9}
    assert post(web, "/challenges", **about)[0] == 401
    assert post(web, "/challenges", "arena_wrong", **about)[0] == 401
    assert post(web, "/challenges", other, **about) == (
        409,
        {"title": "Not possible", "status": 409, "detail": "'zephyr' is not a bot of yours"},
    )
    status, made = post(web, "/challenges", mine, **about)
    assert (status, made["sets"], made["seed"], made["players"]) == (200, 2, 9, ["zephyr 1.0", "updraft 1.0"])
    assert web.get(f"{PREFIX}/challenges/{made['id']}").json() == made
    assert post(web, f"/challenges/{made['id']}/cancel", other)[0] == 409
    assert post(web, f"/challenges/{made['id']}/cancel", mine)[1]["over"]
    for _ in range(3):
        assert post(web, "/challenges", mine, **about)[0] == 200
    assert post(web, "/challenges", mine, **about)[0] == 429


def test_r44_guesses_are_counted(web: WebArena) -> None:
    """An address that has shown too many bad tokens is told to wait, a good one included; others are not."""
    token = token_of(web, "zephyr")
    wrong = token[:-1] + "?"

    def ask(address: str, shown: str) -> tuple[int, str | None]:
        headers = {"authorization": f"Bearer {shown}", "x-forwarded-for": address}
        request = urllib.request.Request(f"{web.url}{PREFIX}/trials/t_1/cancel", b"{}", headers, method="POST")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE_S)
        return refused.value.code, refused.value.headers["retry-after"]

    assert ask("192.0.2.44", token)[0] == 409
    assert {ask("192.0.2.44", wrong) for _ in range(2 * BAD_TOKENS)} == {(401, None), (429, "5")}
    assert ask("192.0.2.44", token) == (429, "5")
    assert ask("192.0.2.45", token)[0] == 409


def test_a_trial(web: WebArena) -> None:
    """Made with what is given and defaults for the rest, looked at by anybody, ended by its owner."""
    mine = token_of(web, "zephyr")
    status, made = post(web, "/trials", mine, ladder=POP, new="zephyr", old="greedy", elo1=30)
    assert (status, made["elo0"], made["elo1"], made["verdict"], made["llr"]) == (200, 0, 30, "CONTINUE", 0)
    assert made["bounds"] == pytest.approx([-2.9444, 2.9444], abs=1e-4)
    assert web.get(f"{PREFIX}/trials/{made['id']}").json() == made
    assert post(web, "/trials", mine, ladder=POP, new="zephyr", old="zephyr@1.0")[0] == 409
    ended = post(web, f"/trials/{made['id']}/cancel", mine)[1]
    assert (ended["over"], ended["reason"]) == (True, "cancelled")
    assert web.get(f"{PREFIX}/trials/t_none").status == 404


def test_versions(web: WebArena) -> None:
    """Retired it leaves the table, restored it is back; another's token finds no such bot; rolled back the newer goes."""
    mine, other = token_of(web, "zephyr"), token_of(web, "updraft")
    first = web.arena.seats["zephyr"]
    web.arena.add_bot("zephyr", "", "2.0")
    web.arena.seats["zephyr"] = first
    path = "/bots/zephyr/versions"

    def on_table() -> set[str]:
        rows = web.get(f"{PREFIX}/ladders/{POP}/table?limit=100").json()["rows"]
        return {row["version"] for row in rows if row["bot"] == "zephyr"}

    assert post(web, f"{path}/2.0/retire", other)[0] == 404
    assert post(web, f"{path}/3.0/retire", mine)[0] == 404
    status, found = post(web, f"{path}/2.0/retire", mine)
    assert (status, {one["label"]: one["retired"] for one in found["versions"]}) == (200, {"2.0": True, "1.0": False})
    assert not any(one["retired"] for one in post(web, f"{path}/2.0/restore", mine)[1]["versions"])
    found = post(web, f"{path}/1.0/rollback", mine)[1]
    assert [(one["label"], one["retired"]) for one in found["versions"]] == [("2.0", True), ("1.0", False)]
    standings = web.get(f"{PREFIX}/bots/zephyr").json()["standings"]
    assert {one["row"]["version"]: one["row"]["rank"] is None for one in standings} == {"2.0": True, "1.0": False}
    assert on_table() == {"1.0"}
    assert "retired" in web.get("/bots/zephyr").text


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{",
        b'{"ladder": "a", "new": "b"}',
        b'{"ladder": "a", "new": "b", "old": "c", "more": 1}',
        b'{"ladder": 1, "new": "b", "old": "c"}',
        b'{"ladder": "a", "new": "b", "old": "c", "elo0": "0"}',
        b'{"ladder": "a", "new": "b", "old": "c", "most_sets": 1.5}',
        b'{"ladder": "a", "new": "b", "old": "c", "most_sets": true}',
        b'{"ladder": "a\\u0000", "new": "b", "old": "c"}',
    ],
)
def test_bodies_that_are_refused(data: bytes) -> None:
    """No object, members that are missing, unknown or of another kind."""
    with pytest.raises(BadRequest):
        parse_body(NewTrial, data)


def test_bodies_that_are_taken() -> None:
    """Defaults fill in what is left out; null is a value where it may be."""
    data = b'{"ladder": "a", "bot": "b", "opponents": ["c"], "seed": null}'
    assert parse_body(NewChallenge, data) == NewChallenge("a", "b", ("c",))
    assert parse_body(NewTrial, b'{"ladder": "a", "new": "b", "old": "c", "elo1": 5}').elo1 == 5.0

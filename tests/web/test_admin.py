"""The admin pages: who may, what it does, what is written down, and that the public pages have none of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy import select
from typer.testing import CliRunner

from arena.cli import application
from arena.cli.up import prepare
from arena.errors import UserError
from arena.settings import Settings, WebSettings
from arena.storage import accounts, admins, versions
from arena.storage.db import Database
from arena.storage.tables import admin_deed, bot, bot_version, game_set, token
from arena.web import admin as pages
from arena.web.process import serve
from tests.web.admins import AdminArena, Visitor
from tests.web.support import POP

LISTS = ("/", "/tokens", "/sets", "/processes", "/audit")


@pytest.fixture
def ada(admin: AdminArena) -> Visitor:
    """An admin who has logged in."""
    visitor = Visitor(admin.url)
    while (answer := visitor.log_in(admin.token)).status == 429:
        time.sleep(0.5)  # other tests have been at the door
    assert answer.status == 200
    assert "You are ada" in answer.text
    return visitor


def something_to_do(admin: AdminArena, action: str) -> tuple[dict[str, str], str]:
    """The fields of a form for each action, made so that it can be done, and what the audit is to say of it."""
    arena = admin.web.arena
    if action in {"retire", "restore"}:
        with arena.database.write() as connection:
            zephyr = accounts.find_bot(connection, "zephyr")
            assert zephyr is not None
            (versions.restore if action == "retire" else versions.retire)(connection, zephyr, "1.0")
        return {"bot": "zephyr", "version": "1.0"}, "zephyr@1.0"
    if action == "revoke":
        with arena.database.write() as connection:
            updraft = accounts.find_bot(connection, "updraft")
            assert updraft is not None
            prefix = accounts.check_format(accounts.create_token(connection, updraft.account_id, label="lost"))
        return {"prefix": prefix}, f"token {prefix} of {updraft.owner}"
    set_id = arena.queue(POP, ["zephyr", "updraft"])
    arena.begin(set_id)
    return {"set": set_id}, f"set {set_id}"


def state(admin: AdminArena, action: str, fields: Mapping[str, str]) -> object:
    """What an action is about, in SQL."""
    with admin.web.arena.database.read() as connection:
        if action in {"retire", "restore"}:
            named = (bot.c.name == fields["bot"]) & (bot_version.c.label == fields["version"])
            query = select(bot_version.c.retired_at.is_not(None)).join(bot, bot.c.id == bot_version.c.bot_id)
            return connection.execute(query.where(named)).scalar_one()
        if action == "revoke":
            query = select(token.c.revoked_at.is_not(None)).where(token.c.prefix == fields["prefix"])
            return connection.execute(query).scalar_one()
        row = connection.execute(select(game_set).where(game_set.c.id == fields["set"])).one()
        return row.state, row.attempt


AFTER = {
    "retire": (False, True),
    "restore": (True, False),
    "revoke": (False, True),
    "play-again": (("CLAIMED", 1), ("QUEUED", 2)),
    "give-up": (("CLAIMED", 1), ("VOID", 1)),
}


@pytest.mark.parametrize("action", pages.ACTIONS)
def test_an_action_needs_a_session_and_its_csrf_token_and_is_written_down(
    admin: AdminArena, ada: Visitor, action: str
) -> None:
    """Without either, and with another session's token, it is a 403 and nothing changes; with both it is done, once."""
    fields, subject = something_to_do(admin, action)
    before, after = AFTER[action]
    stranger = Visitor(admin.url)
    mine = ada.csrf("/")
    refused = [
        Visitor(admin.url).post(f"/do/{action}", **fields),
        stranger.post(f"/do/{action}", **fields, csrf=stranger.csrf("/login")),
        stranger.post(f"/do/{action}", **fields, csrf=mine),
        ada.post(f"/do/{action}", **fields),
        ada.post(f"/do/{action}", **fields, csrf=stranger.csrf("/login")),
    ]
    assert [answer.status for answer in refused] == [403] * 5
    assert state(admin, action, fields) == before
    assert f"<b>{action}</b> {subject}" not in ada.get("/audit").text
    done = ada.post(f"/do/{action}", **fields, csrf=mine)
    assert done.status == 200
    assert state(admin, action, fields) == after
    with admin.web.arena.database.read() as connection:
        newest = admins.deeds(connection, 1)[0]
    assert (newest.admin, newest.action, newest.subject) == ("ada", action, subject)
    assert f"<b>{action}</b> {subject}" in ada.get("/audit").text


def test_what_cannot_be_done_is_told_and_not_written_down(admin: AdminArena, ada: Visitor) -> None:
    """A set that is over, a bot, a token and an action that there are not."""
    set_id = admin.web.arena.play(POP, ["zephyr", "updraft"]).set_id
    csrf = ada.csrf("/")
    with admin.web.arena.database.read() as connection:
        before = connection.execute(select(admin_deed.c.id)).all()
    for action, fields, status in (
        ("give-up", {"set": set_id}, 409),
        ("play-again", {"set": "s_None"}, 409),
        ("retire", {"bot": "nobody", "version": "1"}, 409),
        ("retire", {"bot": "zephyr"}, 409),
        ("revoke", {"prefix": "nonesuch"}, 409),
        ("abolish", {}, 404),
    ):
        assert ada.post(f"/do/{action}", **fields, csrf=csrf).status == status, action
    assert "There is no set &#39;s_None&#39; in flight." in ada.post("/do/give-up", csrf=csrf, set="s_None").text
    assert ada.post("/do/retire", csrf=csrf, bot="x" * 5_000).status == 413
    with admin.web.arena.database.read() as connection:
        assert connection.execute(select(admin_deed.c.id)).all() == before


def test_lists_are_for_admins_alone_and_are_searched(admin: AdminArena, ada: Visitor) -> None:
    """Strangers are led to the door from each page; an admin finds bots and tokens by parts of their names."""
    fields, _ = something_to_do(admin, "revoke")
    for path in LISTS:
        page = ada.get(path)
        assert page.status == 200, path
        assert page.headers["cache-control"] == "no-store"
        assert 'name="secret"' in Visitor(admin.url).get(path).text, path
    assert "updraft" not in ada.get("/?find=zeph").text
    assert "zephyr" in ada.get("/?find=ZEPH").text
    assert fields["prefix"] in ada.get(f"/tokens?find={fields['prefix'][2:6]}").text
    assert "No token" in ada.get("/tokens?find=%25").text
    assert "worker-0" in ada.get("/processes").text


def test_only_an_admin_token_opens_the_door_and_only_so_often(admin: AdminArena) -> None:
    """A bot's token, nonsense and a form from elsewhere open nothing; after some attempts nobody may try for a while."""
    with admin.web.arena.database.write() as connection:
        _, bots_token = accounts.register(connection, "mallory", "mallory-bot")
    visitor = Visitor(admin.url)
    assert visitor.post("/login", secret=admin.token).status == 403
    time.sleep(2)
    assert [visitor.log_in(secret).status for secret in (bots_token, "open sesame")] == [403, 403]
    crowd = [Visitor(admin.url) for _ in range(12)]
    forms = [one.csrf("/login") for one in crowd]
    with ThreadPoolExecutor(len(crowd)) as pool:
        answers = pool.map(lambda one, csrf: one.post("/login", csrf=csrf, secret="open sesame"), crowd, forms)
        assert (429, "1") in {(answer.status, answer.headers.get("retry-after")) for answer in answers}
    assert 'name="secret"' in visitor.get("/").text


def test_a_session_ends_with_logout_and_with_its_token(admin: AdminArena, ada: Visitor) -> None:
    """After either, its cookie is nobody's; the cookie is HttpOnly, SameSite=Strict, short-lived and new at each login."""
    [cookie] = ada.cookies
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "strict"
    assert cookie.expires is not None
    assert cookie.expires - time.time() <= pages.SESSION_S
    assert ada.post("/logout").status == 403
    csrf = ada.csrf("/")
    kept = cookie.value
    assert 'name="secret"' in ada.post("/logout", csrf=csrf).text
    for again in ada.cookies:
        assert again.value != kept
        again.value = kept
    assert ada.post("/do/retire", csrf=csrf, bot="zephyr", version="1.0").status == 403
    with admin.web.arena.database.write() as connection:
        second = admins.create_token(connection, "grace")
    grace = Visitor(admin.url)
    while grace.log_in(second).status == 429:
        time.sleep(0.5)
    csrf = grace.csrf("/")
    with admin.web.arena.database.write() as connection:
        admins.revoke(connection, "grace")
    assert grace.post("/do/retire", csrf=csrf, bot="zephyr", version="1.0").status == 403


def test_nothing_of_it_is_on_the_public_listener(admin: AdminArena, ada: Visitor) -> None:
    """Its addresses are not there, even with an admin's cookie; and the admin listener has no public page."""
    public = Visitor(admin.web.url, ada.cookies)
    csrf = ada.csrf("/")
    for path in ("/tokens", "/processes", "/audit", "/login"):
        assert public.get(path).status == 404, path
    for action in pages.ACTIONS:
        assert public.post(f"/do/{action}", csrf=csrf).status == 404, action
    assert "Retire" not in public.get("/").text
    for path in ("/metrics", "/ladders", "/api/v1/status", "/live", "/static/nothing.js"):
        assert ada.get(path).status == 404, path


async def test_it_listens_beyond_loopback_only_among_ourselves(tmp_path: Path) -> None:
    """An address that others may reach is refused with what to do instead."""
    settings = Settings(data_dir=tmp_path, web=WebSettings(admin_listen="0.0.0.0:0"))
    with pytest.raises(UserError, match=r"web\.admin_listen 0\.0\.0\.0:0 is not a loopback address"):
        await serve(settings)


def test_the_command_makes_and_ends_tokens(tmp_path: Path) -> None:
    """``arena admin token`` prints a token once and ends the one before; ``revoke`` ends it, and says if there is none."""

    def run(*words: str) -> Result:
        return CliRunner().invoke(application("admin"), ["admin", *words, "--data-dir", str(tmp_path)])

    assert run("token", "ada").exit_code != 0  # there is no arena yet
    prepare(Settings(data_dir=tmp_path))
    first, second = (run("token", "ada").stdout.strip() for _ in range(2))
    database = Database(Settings(data_dir=tmp_path).database_url)
    with database.read() as connection:
        assert admins.authenticate(connection, first) is None
        found = admins.authenticate(connection, second)
        assert found is not None
        assert found.name == "ada"
    assert run("revoke", "ada").exit_code == 0
    with database.read() as connection:
        assert admins.authenticate(connection, second) is None
    assert "has no token" in str(run("revoke", "ada").exception)
    database.close()

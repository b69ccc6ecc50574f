"""The admin pages in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.test_browser import AXE, SERIOUS
from tests.web.admins import AdminArena
from tests.web.support import POP


def test_an_admin_retires_a_bot_which_leaves_the_table(browser: Browser, admin: AdminArena) -> None:
    """Log in, retire, and it is off the public table; the audit says who did it. Without scripts."""
    context = browser.new_context(java_script_enabled=False)
    tab, public = context.new_page(), context.new_page()
    public.goto(f"{admin.web.url}/ladders/{POP}")
    expect(public.locator("#table")).to_contain_text("updraft")
    tab.goto(admin.url)
    tab.get_by_label("Admin token").fill(admin.token)
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("searchbox", name="Bot or owner").fill("updraft")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_role("button", name="Retire updraft@1.0").click()
    expect(tab.get_by_role("button", name="Restore updraft@1.0")).to_be_visible()
    expect(tab.get_by_role("searchbox")).to_have_value("updraft")
    tab.get_by_role("link", name="Audit").click()
    expect(tab.locator("tbody tr").first).to_contain_text("retire updraft@1.0")
    expect(tab.locator("tbody tr").first).to_contain_text("ada")
    public.wait_for_timeout(1_500)  # a page may be a second old
    public.reload()
    expect(public.locator("#table")).to_contain_text("zephyr")
    expect(public.locator("#table")).not_to_contain_text("updraft")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_admin_pages_fit_a_phone_and_axe_finds_nothing_serious(
    browser: Browser, admin: AdminArena, scheme: Any
) -> None:
    """At 360 px none scrolls sideways, none complains on the console, and axe-core has no serious complaint."""
    admin.web.arena.begin(admin.web.arena.queue(POP, ["zephyr", "updraft"]))
    context = browser.new_context(viewport={"width": 360, "height": 740}, base_url=admin.url, color_scheme=scheme)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    for path in ("/login", "/", "/tokens", "/sets", "/processes", "/audit"):
        tab.goto(path)
        wide = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        tab.evaluate(AXE)
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        bad = [(one["id"], one["nodes"][0]["target"]) for one in found["violations"] if one["impact"] in SERIOUS]
        assert not bad, (path, bad)
        assert len(found["passes"]) > 10, "axe-core did not look"
        if path == "/login":
            tab.get_by_label("Admin token").fill(admin.token)
            tab.get_by_role("button", name="Log in").click()
            expect(tab.get_by_role("heading", name="Bots")).to_be_visible()
    assert wrong == []
    context.close()

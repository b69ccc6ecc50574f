"""A real browser on a real arena's pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.web.admins import admin
from tests.web.support import WebArena, redis_url, web

__all__ = ["admin", "browser", "page", "redis_url", "web"]

expect.set_options(timeout=20_000)  # the machine may be busy with other things

FLAGS = ["--no-sandbox", "--disable-background-networking"]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium. Playwright keeps a loop in this thread, which must be gone before other packages' tests."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None or not Path(path).exists():
        message = "needs chromium on the PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, web: WebArena) -> Iterator[Page]:
    """An empty tab; it fails the test if anything was written to the console or thrown, or asked of another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=web.url)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(web.url) else None)
    yield tab
    context.close()
    assert wrong == []

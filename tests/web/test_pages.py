"""Pages over HTTP, from the command ``arena web``."""

from __future__ import annotations

import gzip
import re
import urllib.parse
from pathlib import Path

import httpx2
import pytest

from arena import kits
from arena.match.record import parse_record
from arena.match.replay import verify
from arena.web.reading import DOCS
from arena.web.words import HUES, counted, hue, reason
from bots.house import catalogue
from tests.web.support import CHALLENGE, POP, Answer, WebArena

FIRST_PAGE_BYTES = 100_000
ADDRESS = re.compile(r"""(?:src|href|action)="([^"]*)\"""")
ELSEWHERE = re.compile(r"https?://[^\s\"')]+|@import|url\(")


def pages(web: WebArena) -> list[str]:
    """One address of each kind of page."""
    match_id = first_match(web)
    fixed = ["/", "/ladders", "/matches", "/games", "/games/pop", "/docs", "/docs/deals", "/status", "/bots/zephyr"]
    return [*fixed, f"/ladders/{CHALLENGE}", "/bots/random?ladder=pop-2p", f"/matches/{match_id}", first_set(web)]


def first_match(web: WebArena, query: str = "") -> str:
    """The id of the newest match."""
    found = re.search(r"/matches/(m_[\w-]+)", web.get(f"/matches{query}").text)
    assert found is not None
    return found[1]


def first_set(web: WebArena) -> str:
    """The address of the newest match's set."""
    found = re.search(r"/sets/s_[\w-]+", web.get(f"/matches/{first_match(web)}").text)
    assert found is not None
    return found[0]


def test_every_page_is_whole_small_and_asks_nobody_else(web: WebArena) -> None:
    """Pages and all that they load come from here, need no inline script or style, and the first is under 100 kB."""
    for path in pages(web):
        page = web.get(path)
        assert page.status == 200, (path, page.text)
        assert "<script>" not in page.text
        assert not re.search(r"\s(style|on\w+)=", page.text), path
        total = len(page.body)
        for address in ADDRESS.findall(page.text):
            assert address.startswith(("/", "#", "?")), (path, address)
        for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            asset = web.get(address)
            assert asset.status == 200
            assert "immutable" in asset.headers["cache-control"]
            text = asset.text.replace("http://www.w3.org/2000/svg", "")
            assert not ELSEWHERE.search(text), address
            total += len(asset.body)
        assert total < FIRST_PAGE_BYTES, (path, total)


def test_every_answer_is_guarded(web: WebArena) -> None:
    """Pages, errors and files carry the policy that lets nothing inline run and nobody frame them."""
    for path in ("/", "/nowhere", "/metrics", "/static/arena.css", "/?token=x", f"/matches/{first_match(web)}/record"):
        headers = web.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/ladders/none",
        "/bots/nobody",
        "/matches/m_none",
        "/sets/s_none",
        "/matches/m_none/record",
        "/matches/m_none/film.json",
        "/games/chess",
        "/docs/..%2fREADME",
        "/docs/none",
        "/static/..%2fapp.py",
        "/live?topic=ladder:none",
        "/live?topic=what",
        "/matches?cursor=garbage",
        "/matches?bot=nobody",
        "/matches?cursor=WzEsIDJd",
    ],
)
def test_what_is_not_there_is_a_404(web: WebArena, path: str) -> None:
    """Unknown names, other folders and forged cursors get a plain 404 page."""
    assert web.get(path).status == 404


def test_names_from_addresses_are_escaped(web: WebArena) -> None:
    """What an address says comes back as text, never as markup."""
    evil = urllib.parse.quote("<img src=x onerror=alert(1)>", safe="")
    for path in (f"/bots/{evil}", f"/matches?bot={evil}", f"/games/{evil}", f"/docs/{evil}", f"/ladders/{evil}"):
        answer = web.get(path)
        assert answer.status == 404
        assert "<img" not in answer.text


def test_r43_a_token_in_an_address_is_refused_and_not_repeated(web: WebArena) -> None:
    """Addresses end in logs and histories, so that a token in one must not be accepted or shown."""
    for query in ("token=secret", "x=arena_ABCDEFGH_abcdefghijklmnopqrstuvwxyz012345ABCDEF"):
        answer = web.get(f"/?{query}")
        assert answer.status == 400
        assert "secret" not in answer.text
        assert "ABCDEFGH" not in answer.text


def test_pages_are_packed_and_not_sent_twice(web: WebArena) -> None:
    """A browser that takes gzip gets it, and one that has the page gets 304."""
    plain = web.get("/games")
    packed = web.get("/games", accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    again = web.get("/games", if_none_match=plain.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_a_ladder_shows_the_table_of_the_database(web: WebArena) -> None:
    """Every bot of the ladder is there with its rating, in the order of ratings."""
    from arena.storage.queries import leaderboard

    with web.arena.database.read() as connection:
        rows = leaderboard(connection, CHALLENGE)
    page = web.get(f"/ladders/{CHALLENGE}").text
    shown = re.findall(r'href="/bots/([\w-]+)".*?class="num elo".*?<b>(\d+)</b>', page.split("<tbody")[1], re.DOTALL)
    assert shown[: len(rows)] == [(row.bot, f"{row.rating:.0f}") for row in rows]
    assert "anchor" in page


def test_a_match_page_tells_how_it_ended_and_how_to_check_it(web: WebArena) -> None:
    """Reasons in words, the commitment, the secret, and the command that verifies the record."""
    from arena.storage.matches import match_page, recent_matches

    with web.arena.database.read() as connection:
        rows, _ = recent_matches(connection, ladder_slug=POP, limit=200)
        faulty = next(row for row in rows if any(seat.reason != "NORMAL" for seat in row.seats))
        attempt = match_page(connection, faulty.match_id).attempts[0]
    page = web.get(f"/matches/{faulty.match_id}").text
    assert all(reason(seat.reason) in page for seat in faulty.seats)
    assert attempt.commitment in page
    assert attempt.secret is not None
    assert attempt.secret in page
    assert f"arena verify pop-{faulty.match_id}.jsonl.gz" in page
    assert "signatures hold" in page


def test_the_record_that_is_downloaded_verifies(web: WebArena) -> None:
    """What the link gives is the file that ``arena verify`` takes."""
    answer = web.get(f"/matches/{first_match(web)}/record")
    assert answer.headers["content-type"] == "application/gzip"
    assert verify(parse_record(answer.body)).notes == ()


def test_without_scripts_links_step_through_the_replay(web: WebArena) -> None:
    """The server renders any position in any seat's eyes, with links to the next ones."""
    match_id = first_match(web, f"?ladder={CHALLENGE}")
    page = web.get(f"/matches/{match_id}?eyes=1&n=7").text
    assert 'href="?eyes=1&amp;n=8#replay-title"' in page
    assert "<b data-n>7</b>" in page
    assert web.get(f"/matches/{match_id}?eyes=3").status == 404
    assert web.get(f"/matches/{match_id}?n=99999").status == 200


def test_house_bots_differ_in_colour() -> None:
    """They are what most people see of an arena: no two have one colour, and all have one of those that there are."""
    hues = {hue(name) for name in catalogue.NAMES}
    assert len(hues) == len(catalogue.NAMES)
    assert hues | {hue("zephyr")} <= set(range(HUES))
    assert hue("Random") == hue("random")


def test_one_of_a_kind_is_told_as_one() -> None:
    """No page says "in 1 games"."""
    assert [counted(number, "game") for number in (0, 1, 2, 1000)] == [
        "0 games",
        "1 game",
        "2 games",
        "1\u202f000 games",
    ]
    assert counted(2, "match", "matches") == "2 matches"


def test_no_document_shows_the_source_of_a_picture(web: WebArena) -> None:
    """What a page of the documentation has as code is to be read as it stands."""
    for path in re.findall(r'href="(/docs/[^"#]+)"', web.get("/docs").text):
        assert 'class="language-mermaid"' not in web.get(path).text, path


def test_markdown_is_rendered_without_its_html() -> None:
    """Markup in a text stays text; tables and headings become what they say."""
    from arena.web.reading import rendered

    html = rendered("# A\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert "<script" not in html
    assert "javascript:" not in html.replace("[x](javascript:alert(1))", "")
    assert '<h1 id="a">A</h1>' in html
    assert "<td>1</td>" in html


async def test_a_failure_of_ours_shows_nothing_of_itself(tmp_path: Path) -> None:
    """A page that cannot be made is a plain 500 with all headers; a database that is away is a 503, and worth a retry."""
    from starlette.routing import Route

    from arena.settings import Settings
    from arena.web.app import build
    from arena.web.security import Guard

    async def broken(_request: object) -> None:
        raise ZeroDivisionError("a secret detail")

    app = build(Settings(data_dir=tmp_path))  # an empty database: it has no tables
    app.router.routes.insert(0, Route("/broken", broken))
    transport = httpx2.ASGITransport(app=Guard(app), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://arena") as client:
        failure = await client.get("/broken")
        assert failure.status_code == 500
        assert "secret" not in failure.text
        assert "frame-ancestors 'none'" in failure.headers["content-security-policy"]
        busy = await client.get("/ladders")
        assert busy.status_code == 503
        assert busy.headers["retry-after"] == "2"
        assert "sqlite" not in busy.text.lower()
    await app.state.site.close()


def test_a_ladder_is_searched_as_a_whole(web: WebArena) -> None:
    """``?q=`` finds bots and owners anywhere on the table with the ranks they have there; wildcards are letters."""

    def rows(page: Answer) -> list[tuple[str, str]]:
        return [
            row for row in re.findall(r'data-rank="(\d+)" [^>]*data-search="(\S+)', page.text) if row[1] == "zephyr"
        ]

    found = web.get(f"/ladders/{CHALLENGE}?q=ZEPH")
    assert len(rows(found)) == found.text.count("data-rank=") == 1
    web.get_when(f"/ladders/{CHALLENGE}", lambda whole: rows(whole) == rows(found))
    assert 'data-search="updraft grace' in web.get(f"/ladders/{CHALLENGE}?q=grace").text
    for wildcard in ("%25", "_", "%3Cimg"):
        page = web.get(f"/ladders/{CHALLENGE}?q={wildcard}")
        assert page.status == 200
        assert "No bot on this ladder" in page.text
        assert "<img" not in page.text


def test_each_language_has_its_first_bot(web: WebArena) -> None:
    """The documentation leads to a page for each kit, with the text of its own README and links to pages that there are."""
    addresses = re.findall(r'href="(/docs/first-bot[^"]*)"', web.get("/docs").text)
    assert len(set(addresses)) == len(kits.languages())
    for address in addresses:
        page = web.get(address)
        assert page.status == 200, address
        body = page.text.split("<article")[1].split("</article>")[0]
        for target in re.findall(r'href="([^"#]+)"', body):
            assert target.startswith("https://") or web.get(target).status == 200, (address, target)
    assert web.get("/docs/first-bot/cobol").status == 404


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md")))
def test_links_within_the_documentation_arrive(web: WebArena, page: str) -> None:
    """Each link to a page, a heading or a picture of it has what it names; what is for authors alone is not shown."""
    text = web.get(f"/docs/{page}").text
    assert "&lt;!--" not in text
    for address in re.findall(r'(?:href|src)="((?:/docs/|#|pictures/)[^"]*)"', text):
        path, _, name = address.partition("#")
        there = web.get(f"/docs/{path or page}" if not path.startswith("/") else path)
        assert there.status == 200, address
        assert not name or f'id="{name}"' in there.text, address

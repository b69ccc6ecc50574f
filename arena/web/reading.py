"""What people read: the games' rules and the documentation, from Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, Response

import engines
from arena import kits
from arena.match.deal import rules_hash
from arena.storage import overview, queries
from arena.web.content import HTML, Content
from arena.web.site import WARM_S, NotHere, Site

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
"""In a checkout; an installed arena comes without."""
HOUR: Final = 60
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_LINK: Final = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)
_DOC: Final = re.compile(r"(?:(?:\.\./)*docs/)?([a-z0-9-]+)\.md(#.*)?")
_HEADING: Final = re.compile(r"<(h[1-6])>(.*?)</\1>", re.DOTALL)
_COMMENT: Final = re.compile(r"^<!--.*?-->$\n*", re.DOTALL | re.MULTILINE)
_KIT: Final = re.compile(r"(?:\.\./)*bots/([a-z]+)/README\.md")
_PAGE: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


async def games(request: Request) -> Response:
    """``/games``"""
    site: Site = request.app.state.site

    async def make() -> Content:
        ladders = await site.read(queries.ladders)
        busy = (await site.read(lambda connection: overview.activity(connection, HOUR))).by_ladder
        return Content(site.html("games.html", games=installed_games(), ladders=ladders, busy=busy).encode(), HTML)

    return await site.page(request, "games", WARM_S, make)


async def game(request: Request) -> Response:
    """``/games/{name}``: the rules, the options, the ladders."""
    site: Site = request.app.state.site
    name = request.path_params["name"]

    async def make() -> Content:
        found = {one.name: one for one in installed_games()}.get(name)
        if found is None:
            raise NotHere(f"there is no game {name!r}")
        ladders = [row for row in await site.read(queries.ladders) if row.spec.game == name]
        headed = found.summary if _TITLE.match(found.summary) else f"# {found.title}\n\n{found.summary}"
        html = site.html(
            "game.html", game=found, rules=rendered(headed), ladders=ladders, rules_hash=rules_hash(found).hex()
        )
        return Content(html.encode(), HTML)

    return await site.page(request, ("game", name), WARM_S, make)


async def docs(request: Request) -> Response:
    """``/docs``"""
    site: Site = request.app.state.site

    async def make() -> Content:
        pages = [(path.stem, title(path.read_text(encoding="utf-8"))) for path in sorted(DOCS.glob("*.md"))]
        return Content(site.html("docs.html", pages=pages, kits=_kits()).encode(), HTML)

    return await site.page(request, "docs", WARM_S, make)


async def doc(request: Request) -> Response:
    """``/docs/{page}``"""
    site: Site = request.app.state.site
    name = request.path_params["page"].removesuffix(".md")

    async def make() -> Content:
        path = DOCS / f"{name}.md"
        if not _PAGE.fullmatch(name) or path not in DOCS.glob("*.md"):
            raise NotHere(f"there is no page {name!r} in the documentation")
        text = path.read_text(encoding="utf-8")
        return Content(site.html("doc.html", title=title(text), body=rendered(text)).encode(), HTML)

    return await site.page(request, ("doc", name), WARM_S, make)


async def picture(request: Request) -> Response:
    """``/docs/pictures/{name}``: what a page of the documentation shows."""
    there = {path.name: path for path in (DOCS / "pictures").glob("*.png")}
    path = there.get(request.path_params["name"])
    if path is None:
        raise NotHere("there is no such picture in the documentation")
    return FileResponse(path)


async def kit(request: Request) -> Response:
    """``/docs/first-bot/{language}``: what the language's kit says of itself."""
    site: Site = request.app.state.site
    language = request.path_params["language"]

    async def make() -> Content:
        if language not in _kits():
            raise NotHere(f"there is no kit for {language!r}")
        text = (kits.FOLDER / language / "README.md").read_text(encoding="utf-8")
        return Content(site.html("doc.html", title=title(text), body=rendered(text)).encode(), HTML)

    return await site.page(request, ("kit", language), WARM_S, make)


def _kits() -> dict[str, str]:
    """Languages whose kit has something to read here, and what people call them."""
    there = (language for language in kits.languages() if (kits.FOLDER / language / "README.md").is_file())
    return {language: kits.load(language).title for language in there}


def _reachable(link: re.Match[str]) -> str:
    """A link between files of the project as one between pages; its text alone where no page shows the file."""
    target, text = link[1], link[2]
    if page := _DOC.fullmatch(target):
        return f'<a href="/docs/{page[1]}{page[2] or ""}">{text}</a>'
    if readme := _KIT.fullmatch(target):
        return f'<a href="/docs/first-bot/{readme[1]}">{text}</a>'
    return link[0] if target.startswith(("http://", "https://", "/", "#")) else text


def _anchored(heading: re.Match[str]) -> str:
    """A heading that links within its page reach, by the name that GitHub gives it."""
    words = re.sub(r"<[^>]*>|&[a-z]+;", "", heading[2]).lower()
    name = re.sub(r"[^\w -]", "", words).strip().replace(" ", "-")
    return f'<{heading[1]} id="{name}">{heading[2]}</{heading[1]}>'


def rendered(text: str) -> Markup:
    """Markdown as HTML; HTML in it stays text; comments are for authors. Wide tables and code scroll by themselves."""
    html = _MARKDOWN.render(_COMMENT.sub("", text))
    html = _LINK.sub(_reachable, _HEADING.sub(_anchored, html))
    html = html.replace("<table>", '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    html = html.replace("</table>", "</table></div>")
    html = html.replace("<pre>", '<pre tabindex="0">')
    return Markup(html)  # noqa: S704 - the renderer escapes


def title(text: str) -> str:
    """The first heading."""
    found = _TITLE.search(text)
    return found[1] if found else ""


def installed_games() -> list[engines.Game]:
    """The games that are installed here."""
    found = []
    for name in engines.names():
        try:
            found.append(engines.get(name))
        except ModuleNotFoundError:
            continue
    return found

"""A match as one HTML file: the viewer, the drawing of its game and the films, with nothing to fetch."""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Final

import orjson
from markupsafe import Markup

from arena.web.assets import environment, load_assets, release_of
from arena.web.content import Content
from arena.web.film import film, picture_at
from arena.web.replay import Eyes, Replayed

_IMPORT: Final = re.compile(r'from "(\.{1,2}/[\w./-]+)"')
_ROOT: Final = "arena/"


def offline_page(match: Replayed, eyes: Sequence[Eyes]) -> str:
    """The page with the films of ``eyes``, the first of them shown first. The match must have been refereed again."""
    assets = load_assets()
    board = f"boards/{match.record.header['game']}.js"
    films = {_name(whose): film(match, whose) for whose in eyes}
    return (
        environment(assets, release_of(assets))
        .get_template("offline.html")
        .render(
            header=match.record.header,
            footer=match.record.footer,
            title=films[_name(eyes[0])]["title"],
            frame=picture_at(match, eyes[0], len(match.events)),
            order=sorted((place, seat) for seat, place in enumerate(match.record.footer["places"])),
            last=len(match.events),
            eyes=list(films),
            films={name: _in_script(document) for name, document in films.items()},
            styles=Markup(_css(assets, "arena.css") + _css(assets, "viewer.css")),  # noqa: S704 - our own files
            modules=_in_script({"imports": _modules(assets, ["viewer.js", *([board] if board in assets else [])])}),
            board=_ROOT + board if board in assets else "",
            notes=match.notes,
        )
    )


def _name(eyes: Eyes) -> str:
    return "public" if eyes is None else str(eyes)


def _css(assets: Mapping[str, Content], name: str) -> str:
    return assets[name].body.decode()


def _in_script(document: object) -> Markup:
    """JSON that cannot end the script element that it stands in."""
    text = orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - nothing in it can be taken for markup


def _modules(assets: Mapping[str, Content], names: Sequence[str]) -> dict[str, str]:
    """An import map: scripts, and those that they import, as data addresses under ``arena/``."""
    made: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if _ROOT + name in made:
            continue
        text = assets[name].body.decode()
        needs = {
            found: posixpath.normpath(posixpath.join(posixpath.dirname(name), found)) for found in _IMPORT.findall(text)
        }
        for relative, whole in needs.items():
            text = text.replace(f'from "{relative}"', f'from "{_ROOT}{whole}"')
        made[_ROOT + name] = "data:text/javascript;base64," + base64.b64encode(text.encode()).decode()
        waiting += needs.values()
    return made

"""Scripts, style sheets and templates, as the package carries them."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from arena.web import words
from arena.web.charts import bars, sparkline
from arena.web.content import FOREVER, Content

TEXT: Final = ("text/", "application/json", "image/svg")


def load_assets() -> dict[str, Content]:
    """The files of ``static`` by name, those in folders by ``folder/name``."""
    folder = resources.files("arena.web").joinpath("static")
    return {name: Content(data, _kind(name), cache=FOREVER) for name, data in _files(folder)}


def release_of(assets: Mapping[str, Content]) -> str:
    """A word that changes when any of the files does."""
    return sha256("".join(sorted(asset.etag for asset in assets.values())).encode()).hexdigest()[:8]


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _files(file, f"{prefix}{file.name}/")
        else:
            yield prefix + file.name, file.read_bytes()


def _kind(name: str) -> str:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith(TEXT) else kind


def environment(assets: Mapping[str, Content], release: str) -> Environment:
    """The templates with what they call; ``release`` is in the addresses of static files."""

    def asset(name: str) -> str:
        """The address of a static file, which changes with the release; it must be there."""
        assert name in assets, name
        return f"/static/{release}/{name}"

    def board(game: str) -> str:
        """The address of the script that draws a game; empty if there is none."""
        name = f"boards/{game}.js"
        return asset(name) if name in assets else ""

    made = Environment(
        loader=PackageLoader("arena.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(words.FILTERS)
    made.globals.update(asset=asset, board=board, sparkline=sparkline, bars=bars, ladder_title=words.ladder_title)
    return made

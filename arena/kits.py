"""The starter kits of languages, and the projects that are made of them.

A kit is a folder ``bots/<language>`` with a ``template/`` and a ``kit.toml``:

    title = "Go"                        # as people call the language
    build = ["go build"]                # in the project's folder, before it plays
    program = "./{{name}}"              # for `arena match`: a command or a Python file
    run = "./{{name}}"                  # the same program, for a shell
    reserved = []                       # patterns of names with which its tools would build nothing

    [tools]                             # what must be on PATH, and what to install where it is not
    go = "Go 1.25 or newer: https://go.dev/dl"

    [sdk]                               # the SDK's files that travel with a project, if its language wants that
    folder = "botarena"                 # where to
    include = ["*.go"]                  # patterns, relative to the kit
    exclude = ["*_test.go"]
    beside = ["go.sum"]                 # files of the kit that the project itself needs as well

``{{name}}`` and ``{{game}}`` are filled in, in the template's files and their names and in ``kit.toml``.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.errors import UserError

FOLDER: Final = Path(__file__).parents[1] / "bots"
"""The kits are beside the house bots, in a checkout and where the package is installed."""
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_NAME: Final = 40
SDK: Final = "botarena"
"""What the SDK is called in every language: a project of that name could not depend on it."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """The SDK's files that travel with a project: patterns, relative to the kit."""

    folder: str
    include: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kit:
    """A language's kit; see the module for what its words mean."""

    language: str
    title: str
    build: tuple[str, ...]
    program: str
    run: str
    reserved: tuple[str, ...]
    tools: Mapping[str, str]
    sdk: Sdk | None

    @property
    def folder(self) -> Path:
        return FOLDER / self.language

    def missing_tools(self) -> list[str]:
        """What to install before a project of this kit can be built."""
        return [hint for tool, hint in self.tools.items() if shutil.which(tool) is None]


def languages() -> tuple[str, ...]:
    """The languages that have a kit."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/kit.toml")))


def load(language: str) -> Kit:
    """The kit of a language. Raises UserError, naming those that there are."""
    if language not in (known := languages()):
        raise UserError(f"there is no kit for {language!r}; there are: {', '.join(known)}")
    doc: dict[str, Any] = tomllib.loads((FOLDER / language / "kit.toml").read_text())
    sdk = doc.get("sdk")
    return Kit(
        language=language,
        title=doc["title"],
        build=tuple(doc["build"]),
        program=doc["program"],
        run=doc["run"],
        reserved=tuple(doc.get("reserved", ())),
        tools=doc.get("tools", {}),
        sdk=Sdk(sdk["folder"], *(tuple(sdk.get(key, ())) for key in ("include", "exclude", "beside"))) if sdk else None,
    )


def fill_in(text: str, name: str, game: str) -> str:
    """``text`` with the project's name and game in their places."""
    return text.replace("{{name}}", name).replace("{{game}}", game)


def make_project(kit: Kit, target: Path, game: str) -> None:
    """Makes the folder ``target``, named as the bot, of a kit. Raises UserError, and makes nothing then."""
    check_name(target.name)
    if target.name == SDK or any(re.fullmatch(pattern, target.name) for pattern in kit.reserved):
        raise UserError(
            f"the name {target.name!r} is taken by the tools of {kit.title}: choose another, as my-{target.name}"
        )
    if target.exists():
        raise UserError(f"{target} is there already")
    for relative in _files(kit.folder / "template", ("**/*",)):
        path = target / fill_in(str(relative), target.name, game)
        path.parent.mkdir(parents=True, exist_ok=True)
        source = kit.folder / "template" / relative
        path.write_text(fill_in(source.read_text(), target.name, game))
        path.chmod(source.stat().st_mode & 0o777)
    if kit.sdk is not None:
        for relative in _files(kit.folder, kit.sdk.include):
            if not any(relative.match(pattern) for pattern in kit.sdk.exclude):
                _copy(kit.folder / relative, target / kit.sdk.folder / relative)
        for beside in kit.sdk.beside:
            _copy(kit.folder / beside, target / beside)


def check_name(name: str) -> None:
    """Raises UserError unless every language and the arena take ``name`` for a project and its bot."""
    if not NAME.fullmatch(name) or not 2 <= len(name) <= MAX_NAME:
        raise UserError(
            f"{name!r} is no name for a bot: 2 to {MAX_NAME} small letters, digits and single '-', a letter first"
        )


def _files(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """Files by pattern, relative to ``folder``."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return (path.relative_to(folder) for path in sorted(found))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)

"""Reads TOML so that what is wrong is told with its line and key."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from arena.errors import UserError

Key: TypeAlias = tuple[str | int, ...]
T = TypeVar("T")

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([\w.\"' -]+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT: Final = re.compile(r"\s*([\w.\"'-]+)\s*=")
_KINDS: Final = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


def lines_of(text: str) -> dict[Key, int]:
    """The line, from 1, of each table header and each key at the beginning of a line."""
    found: dict[Key, int] = {}
    table: Key = ()
    counts: dict[Key, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if (header := _HEADER.match(line)) is not None:
            table = tuple(_parts(header[2]))
            if header[1] == "[[":
                index = counts.get(table, 0)
                counts[table] = index + 1
                table = (*table, index)
            found.setdefault(table, number)
        elif (assignment := _ASSIGNMENT.match(line)) is not None:
            found.setdefault((*table, *_parts(assignment[1])), number)
    return found


def _parts(dotted: str) -> Iterator[str]:
    return (part.strip().strip("\"'") for part in dotted.split("."))


class Section:
    """One table of a TOML file. Each ``take`` removes a key; :meth:`close` complains of those that are left."""

    def __init__(self, path: Path, lines: Mapping[Key, int], values: Mapping[str, Any], key: Key = ()) -> None:
        self._path = path
        self._lines = lines
        self._left = dict(values)
        self._key = key
        self._known: list[str] = []

    def optional(self, *names: str) -> None:
        """Keys that are taken only where they are there."""
        self._known += names

    @classmethod
    def parse(cls, text: str, path: Path) -> Section:
        """The whole file. Raises UserError where it is not TOML."""
        try:
            return cls(path, lines_of(text), tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{path}: not valid TOML: {error}") from None

    def error(self, why: str, name: str | int = "") -> UserError:
        """``why`` with file, line and key in front."""
        key = (*self._key, name) if name != "" else self._key
        shown = ".".join(str(part) if isinstance(part, str) else str(part + 1) for part in key)
        where = key
        while where and where not in self._lines:
            where = where[:-1]
        line = f", line {self._lines[where]}" if where in self._lines else ""
        return UserError(f"{self._path}{line}, {f'key {shown}: ' if shown else ''}{why}")

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, kind: type[T], default: T) -> T:
        """The value of a key, or ``default`` where it is missing. Raises UserError if it is of another kind."""
        self._known.append(name)
        return self._typed(name, kind, self._left.pop(name)) if name in self._left else default

    def need(self, name: str, kind: type[T]) -> T:
        """The value of a key that must be there."""
        self._known.append(name)
        if name not in self._left:
            raise self.error(f"the key {name!r} is needed here")
        return self._typed(name, kind, self._left.pop(name))

    def number(self, name: str, default: int, least: int, most: int = 10**9) -> int:
        """A whole number within bounds."""
        if name not in self:
            return self.take(name, int, default)
        value = self.take(name, int, default)
        if not least <= value <= most:
            raise self.error(f"a whole number from {least} to {most} is needed, not {value}", name)
        return value

    def choice(self, name: str, default: str, among: Mapping[str, Any] | tuple[str, ...]) -> str:
        """One of some words."""
        value = self.take(name, str, default)
        if value not in among:
            raise self.error(f"{value!r} is none of {', '.join(among)}{_hint(value, among)}", name)
        return value

    def words(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of strings."""
        values = self.take(name, list, list(default))
        for value in values:
            self._typed(name, str, value)
        return tuple(values)

    def section(self, name: str) -> Section:
        """A table in this one; empty if it is missing."""
        return Section(self._path, self._lines, self.take(name, dict, {}), (*self._key, name))

    def sections(self, name: str) -> tuple[Section, ...]:
        """An array of tables, written ``[[name]]``."""
        return tuple(
            Section(self._path, self._lines, self._typed(name, dict, one), (*self._key, name, number))
            for number, one in enumerate(self.take(name, list, []))
        )

    def close(self) -> None:
        """Raises UserError for the first key that nobody took."""
        for name in self._left:
            there = ", ".join(self._known)
            raise self.error(f"there is no such key; there are: {there}{_hint(name, tuple(self._known))}", name)

    def _typed(self, name: str, kind: type[T], value: Any) -> T:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = _KINDS.get(kind, kind.__name__)
            raise self.error(f"{wanted} is needed, not {value!r}", name)
        return value


def _hint(word: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""

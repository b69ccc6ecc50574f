"""Choosing one of many actions by what a person types: its text, its number in the list, or the beginning of either word."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

SHOWN = 60
"""Longer lists are cut: a person narrows them by typing."""

_VERB = re.compile(r"[a-z]+ |[A-Za-z]+")


class Menu:
    """The legal actions of one decision, by id to canonical text, in the order of the ids.

    Texts such as ``play R3`` may be typed without the first word. Entries are numbered from 1 unless what is left of a text
    without its first word is itself a number: there ``17`` means the card.
    """

    def __init__(self, actions: Mapping[int, str]) -> None:
        self._ids = list(actions)
        self._texts = list(actions.values())
        self._rests = [text.partition(" ")[2] or text for text in self._texts]
        self.numbered = not any(rest.isdigit() for rest in self._rests)

    def find(self, typed: str) -> list[int]:
        """The ids that ``typed`` may mean: one if it is clear, several if it only begins them, none if it is no action."""
        word = " ".join(typed.split())
        for texts in (self._texts, self._rests):
            if texts.count(word) == 1:
                return [self._ids[texts.index(word)]]
        if self.numbered and word.isdigit() and 1 <= int(word) <= len(self._ids):
            return [self._ids[int(word) - 1]]
        start = word.lower()
        return [
            action
            for action, text, rest in zip(self._ids, self._texts, self._rests, strict=True)
            if text.lower().startswith(start) or rest.lower().startswith(start)
        ]

    def lines(self, width: int, only: list[int] | None = None) -> Iterator[str]:
        """The list for a screen of ``width``, a paragraph for each first word; ``only`` these ids."""
        wanted = [number for number, action in enumerate(self._ids) if only is None or action in only]
        shown = wanted if only is not None else wanted[:SHOWN]
        for verb, numbers in groupby(shown, key=self._verb):
            entries = [self._entry(number, verb) for number in numbers]
            wide = max(map(len, entries)) + 3
            cells = "".join(entry.ljust(wide) for entry in entries)
            indent = " " * max(8, len(verb) + 1)
            for line, part in enumerate(_chunks(cells, max(1, (width - len(indent)) // wide) * wide)):
                yield ((verb.ljust(len(indent)) if line == 0 else indent) + part).rstrip()
        if len(shown) < len(wanted):
            yield f"... and {len(wanted) - len(shown)} more: type how one begins, or * for all"

    def _verb(self, number: int) -> str:
        found = _VERB.match(self._texts[number])
        return found[0].strip() if found else ""

    def _entry(self, number: int, verb: str) -> str:
        rest = self._rests[number] if self._texts[number].startswith(f"{verb} ") else self._texts[number]
        return f"{number + 1}) {rest}" if self.numbered else rest


def _chunks(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def folded(texts: Sequence[str], width: int) -> str:
    """Texts one behind the other, those that come again once with how often, as lines of ``width``."""
    words = ", ".join(text if times == 1 else f"{text} ({times} times)" for text, times in Counter(texts).items())
    return textwrap.fill(words, width, subsequent_indent="  ")

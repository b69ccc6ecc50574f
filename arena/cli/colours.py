"""Colours for the pictures of our own games on a terminal. What a colour shows, the picture also says by a letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

RED: Final = "bold red"
GREEN: Final = "bold green"
BLUE: Final = "bold bright_blue"
YELLOW: Final = "bold yellow"
PINK: Final = "bold magenta"
WHITE: Final = "bold"
CYAN: Final = "bold cyan"
GREY: Final = "bright_black"

_ALONE: Final = r"(?<![\w+]){}(?![\w+])"

PATTERNS: Final[Mapping[str, Mapping[str, str]]] = {
    "balloon-challenge": {
        rf"\b{letter}\d\b": style
        for letter, style in zip("RBWYGK", (RED, BLUE, CYAN, YELLOW, GREY, WHITE), strict=True)
    },
    "balloon-pop": {
        **{
            rf"(?<![^rgbywRGBY|: \n]){letter}(?=[rgbywRGBY]*(?:[| (\d\n]|$))": style
            for letter, style in zip("rgbyRGBY", (RED, GREEN, BLUE, YELLOW) * 2, strict=True)
        },
        "·": GREY,
    },
    "balloon-race": {
        **{
            _ALONE.format(rf"{letter}[1-6]?"): style
            for letter, style in zip("RGYPB", (RED, GREEN, YELLOW, PINK, BLUE), strict=True)
        },
        r" @": CYAN,
        r" \.(?=[ \n]|$)": GREY,
    },
    "pop": {
        rf"\b\d+{letter}\*+\^?": style for letter, style in zip("RYGBP", (RED, YELLOW, GREEN, BLUE, PINK), strict=True)
    },
}
"""By game: regular expression to style."""


def painted(game: str, picture: str) -> Text:
    """The picture with the game's colours; plain for games that have none."""
    text = Text(picture)
    for pattern, style in PATTERNS.get(game, {}).items():
        text.highlight_regex(pattern, style)
    return text

"""What somebody who opens a table asks for, as a form says it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import engines
from arena.errors import UserError
from arena.match.spec import TimeControl
from bots.house import catalogue

PERSON: Final = "person"
"""Stands in a form where a house bot's name may stand."""
GUEST: Final = "guest"
LONGEST_NAME: Final = 20
PACES: Final[Mapping[str, TimeControl]] = {
    "calm": TimeControl(bank_ms=60 * 60_000, increment_ms=30_000, move_cap_ms=0),
    "brisk": TimeControl(bank_ms=5 * 60_000, increment_ms=10_000, move_cap_ms=0),
}
"""How much time each seat has: a bank, and what each decision adds."""


class BadOrder(UserError):
    """There is no such table to be had; the message says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """A table: ``config`` is complete, ``others`` says who sits there beside its opener (house bots' names and PERSON)."""

    game: str
    config: Mapping[str, bool | int]
    others: tuple[str, ...]
    pace: str
    shuffle: bool

    @property
    def players(self) -> int:
        """Seats."""
        return 1 + len(self.others)


def opponents(game: str) -> tuple[str, ...]:
    """The house bots that play a game, from the weakest to the strongest."""
    return tuple(name for name in catalogue.NAMES if game in catalogue.games_of(name))


def order_of(game: engines.Game, form: Mapping[str, Sequence[str]]) -> Order:
    """Reads a form: ``with`` a seat each (empty: nobody), ``pace``, ``shuffle``, and the game's options. Raises BadOrder."""
    others = tuple(name for name in form.get("with", ()) if name)
    known = (*opponents(game.name), PERSON)
    if strangers := [name for name in others if name not in known]:
        raise BadOrder(f"{strangers[0]!r} does not play {game.title}; these do: {', '.join(known)}")
    pace = _only(form, "pace", "calm")
    if pace not in PACES:
        raise BadOrder(f"there is no pace {pace!r}; there are: {', '.join(PACES)}")
    try:
        config = game.complete_config(1 + len(others), _options(game, form))
    except engines.GameError as error:
        raise BadOrder(str(error)) from None
    return Order(game.name, config, others, pace, shuffle=_only(form, "shuffle", "") == "on")


def name_of(text: str) -> str:
    """A person's name as others see it: printable, on one line, not long; a guest's if nothing is left."""
    shown = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in unicodedata.normalize("NFC", text))
    return " ".join(shown.split())[:LONGEST_NAME].strip() or GUEST


def _options(game: engines.Game, form: Mapping[str, Sequence[str]]) -> dict[str, bool | int]:
    """Options as a form has them: a box that is not ticked is not there, an integer that is not there is the default."""
    found: dict[str, bool | int] = {}
    for name, option in game.options.items():
        text = _only(form, f"option-{name}", "")
        if isinstance(option.default, bool):
            found[name] = text == "on"
        elif text:
            if not text.isdecimal() or len(text) > 9:
                raise BadOrder(f"{name} is a whole number, not {text[:20]!r}")
            found[name] = int(text)
    return found


def _only(form: Mapping[str, Sequence[str]], name: str, default: str) -> str:
    given = form.get(name, ())
    return given[-1] if given else default

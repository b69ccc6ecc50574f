"""The shape of a record's lines: which members they have, and of what kind.

Anybody can write lines under a chain that fits, so a record from elsewhere may hold any JSON. It is looked at here, once, by
whoever parses it; behind that nobody has to ask whether a member is there or what it is. Whether it is *true* is the
referee's to say, who also finds members that do not belong: ``arena.match.replay``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

from arena.match.deal import DealMode
from arena.match.referee import Source
from arena.match.spec import SeatReason

Check: TypeAlias = Callable[[Any], str]
"""What is wrong with a value, as the end of a sentence that its name begins; empty if nothing is."""

MOST: Final = 1 << 64
"""Numbers are packed into eight bytes."""


def wrong_line(documents: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """The first line, from 1, of header, events and footer that has not its shape, and why; None if all have."""
    if why := _HEADER(documents[0]):
        return 1, why
    seats = len(documents[0]["seats"])
    event, footer = _event(seats), _footer(seats)
    for number, document in enumerate(documents[1:], 2):
        if why := (footer if number == len(documents) else event)(document):
            return number, why
    return None


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "is no string"


def _truth(value: Any) -> str:
    return "" if isinstance(value, bool) else "is neither true nor false"


def _integer(value: Any) -> str:
    return "" if type(value) is int else "is no integer"


def _natural(value: Any) -> str:
    return "" if type(value) is int and 0 <= value < MOST else "is no integer from 0"


def _option(value: Any) -> str:
    return "" if isinstance(value, int) else "is neither an integer nor true nor false"


def _below(bound: int) -> Check:
    return lambda value: "" if type(value) is int and 0 <= value < bound else f"is no integer from 0 to {bound - 1}"


def _one_of(values: Sequence[str]) -> Check:
    return lambda value: "" if isinstance(value, str) and value in values else f"is none of {', '.join(values)}"


def _hex(count: int | None = None) -> Check:
    """So many bytes in hexadecimal digits."""

    def check(value: Any) -> str:
        try:
            data = bytes.fromhex(value)
        except (TypeError, ValueError):
            return "is not hexadecimal"
        return "" if count in (None, len(data)) else f"is not of {count} bytes"

    return check


def _list(item: Check, count: int | None = None) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, list):
            return "is no list"
        if count not in (None, len(value)):
            return f"has not {count} items"
        return next((f"has an item that {why}" for why in map(item, value) if why), "")

    return check


def _values(item: Check) -> Check:
    """An object whose members may have any name."""

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return "is no object"
        return next((f"has a member {name!r} that {why}" for name, one in value.items() if (why := item(one))), "")

    return check


def _object(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    known = {**needed, **(optional or {})}

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return "is no object"
        for name, kind in known.items():
            if name in value:
                if why := kind(value[name]):
                    return f"has a member {name!r} that {why}"
            elif name in needed:
                return f"has no member {name!r}"
        return ""

    return check


def _note(value: Any) -> str:
    return "" if not _text(value) or not _integer(value) or not _list(_text)(value) else "is no note"


_HEADER: Final = _object(
    {
        "record": _natural,
        "engine": _text,
        "rules_version": _integer,
        "rules_hash": _hex(32),
        "game": _text,
        "players": _natural,
        "config": _values(_option),
        "match_id": _text,
        "set_id": _text,
        "attempt": _natural,
        "game_index": _natural,
        "rated": _truth,
        "seats": _list(_object({"bot": _text, "version": _text, "owner": _text})),
        "time_control": _object({"bank_ms": _natural, "increment_ms": _natural, "move_cap_ms": _natural}),
        "deal": _object(
            {
                "mode": _one_of(get_args(DealMode)),
                "commitment": _hex(32),
                "nonces": _list(_hex()),
                "set_attempt": _natural,
                "proven": _truth,
                "stream": _natural,
            }
        ),
        "bot_seeds": _list(_natural),
        "arena_key": _hex(32),
        "receipt": _hex(64),
    }
)


def _event(seats: int) -> Check:
    chance = _object({"seq": _natural, "ms": _natural, "chance": _natural, "text": _text})
    part = _object(
        {"seat": _below(seats), "source": _one_of(tuple(Source)), "legal": _natural},
        {
            "id": _natural,
            "text": _text,
            "us": _integer,
            "rtt_us": _integer,
            "charged": _integer,
            "fault": _one_of(tuple(SeatReason)),
            "detail": _text,
            "annotation": _values(_note),
        },
    )
    decision = _object({"seq": _natural, "ms": _natural, "joint": _list(part)}, {"ended": _truth})

    def check(document: Mapping[str, Any]) -> str:
        if ("chance" in document) == ("joint" in document):
            return "is neither a chance event nor a decision"
        return (chance if "chance" in document else decision)(document)

    return check


def _footer(seats: int) -> Check:
    return _object(
        {
            "places": _list(_natural, seats),
            "scores": _list(_integer, seats),
            "reasons": _list(_one_of(tuple(SeatReason)), seats),
            "events": _natural,
            "secret": _hex(),
        }
    )

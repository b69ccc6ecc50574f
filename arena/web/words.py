"""Numbers, times and reasons as people read them: the templates' filters."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Final

import engines
from arena.match.spec import SeatReason
from arena.storage.incidents import Incident, IncidentKind
from arena.tournaments.crosstable import number
from bots.house import catalogue

HUES: Final = 8
MINUS: Final = "−"

REASONS: Final = {
    SeatReason.NORMAL: "played to the end",
    SeatReason.TIMEOUT: "ran out of time",
    SeatReason.ILLEGAL: "played an illegal action",
    SeatReason.MALFORMED: "answered with something that is no action",
    SeatReason.BOT_CRASH: "crashed",
    SeatReason.DISCONNECT: "disconnected",
}
SHORT_REASONS: Final = {
    SeatReason.NORMAL: "finished",
    SeatReason.TIMEOUT: "timeout",
    SeatReason.ILLEGAL: "illegal move",
    SeatReason.MALFORMED: "malformed answer",
    SeatReason.BOT_CRASH: "crash",
    SeatReason.DISCONNECT: "disconnect",
}
INCIDENTS: Final = {
    IncidentKind.BROKEN_OFF: (
        "match was broken off by us, and is played again",
        "matches were broken off by us, and are played again",
    ),
    IncidentKind.ENGINE_ERROR: ("match failed in its game's rules", "matches failed in their games' rules"),
    IncidentKind.GIVEN_UP: (
        "set was given up after failing again and again",
        "sets were given up after failing again and again",
    ),
    IncidentKind.WORKER_LOST: ("worker was lost", "workers were lost"),
    IncidentKind.CONTRADICTION: ("result contradicts another", "results contradict others"),
    IncidentKind.REDIS_OUTAGE: ("outage of Redis, seen from here", "outages of Redis, seen from here"),
}
"""Of one, and of several."""
ORDINALS: Final = ("th", "st", "nd", "rd")


def reason(code: str) -> str:
    """How a seat's game ended, in a sentence's words."""
    return REASONS.get(SeatReason(code), code) if code in set(SeatReason) else code.lower().replace("_", " ")


def short_reason(code: str) -> str:
    """How a seat's game ended, in one or two words."""
    return SHORT_REASONS.get(SeatReason(code), code) if code in set(SeatReason) else code.lower().replace("_", " ")


def incident(one: Incident) -> str:
    """What happened, how often."""
    single, several = INCIDENTS[one.kind]
    return counted(one.count, single, several)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen or number % 10 > 3 else ORDINALS[number % 10]}"


def count(number: float) -> str:
    """With narrow spaces between the thousands."""
    return f"{number:,.0f}".replace(",", "\u202f")


def counted(number: float, one: str, several: str = "") -> str:
    """With what is counted: 1 game, 2 games."""
    return f"{count(number)} {one if number == 1 else several or f'{one}s'}"


def signed(number: float, digits: int = 0) -> str:
    """With its sign, and a real minus."""
    text = f"{abs(number):.{digits}f}"
    return text if float(text) == 0 else f"{'+' if number > 0 else MINUS}{text}"


def points(number: int) -> str:
    """A score with a real minus."""
    return str(number).replace("-", MINUS)


def duration(ms: float | None) -> str:
    """Milliseconds as the nearest usual unit: 340 µs, 12 ms, 3.4 s, 5 min, 2.5 h, 3 d."""
    if ms is None:
        return "–"
    if ms < 1:
        return f"{ms * 1000:.0f} µs"
    if ms < 1000:
        return f"{ms:.3g} ms" if ms < 10 else f"{ms:.0f} ms"
    for limit, unit, size in ((60e3, "s", 1e3), (3.6e6, "min", 60e3), (172.8e6, "h", 3.6e6)):
        if ms < limit:
            return f"{ms / size:.1f} {unit}" if ms < 10 * size else f"{ms / size:.0f} {unit}"
    return f"{ms / 86.4e6:.0f} d"


def iso(ms: int) -> str:
    """RFC 3339 in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(ms: int) -> str:
    """What stands where no script turns a time into "3 minutes ago"."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%d %b %H:%M")


def hour(ms: int) -> str:
    """A time of day."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%H:%M")


def hue(name: str) -> int:
    """A bot's colour, 0..7, the same everywhere. House bots are on every page, and have colours far from each other's."""
    house = {one: number for number, one in enumerate(catalogue.NAMES)}
    if name.lower() in house:
        return house[name.lower()] * HUES // len(house)
    return sha256(name.lower().encode()).digest()[0] % HUES


@cache
def game_title(name: str) -> str:
    """What the game calls itself; of one that is not installed here its name, in capitals."""
    try:
        return engines.get(name).title
    except (engines.UnknownGame, ModuleNotFoundError):
        return name.replace("-", " ").title()


def ladder_title(slug: str, game: str, players: int) -> str:
    """What a ladder is called on pages; a slug that says more than game and players is kept."""
    return game_title(game) if slug == f"{game}-{players}p" else f"{game_title(game)} ({slug})"


FILTERS: Final = {
    "reason": reason,
    "short_reason": short_reason,
    "incident": incident,
    "ordinal": ordinal,
    "count": count,
    "counted": counted,
    "signed": signed,
    "points": points,
    "duration": duration,
    "iso": iso,
    "clock": clock,
    "hour": hour,
    "hue": hue,
    "trimmed": number,
    "game_title": game_title,
}

"""A recorded match as a film: what the viewer draws, for one pair of eyes, as compact JSON. ``docs/boards.md`` has the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import engines
from arena.match.clock import SeatClock
from arena.match.referee import ChanceDrawn, Event, JointPlayed, Played, Source
from arena.match.replay import spec_of
from arena.match.spec import Player
from arena.web.replay import Eyes, Replayed, describe, kind_of, state_after
from arena.web.words import hue
from engines import State
from engines.game import Json

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """One position as some eyes see it, before it is made small.

    ``view`` is the spectator's, ``private`` by seat what that seat's view has otherwise: only the seats whose eyes these
    are. ``text``: the position as text. ``due``: the seats that decide next. ``clocks``: ms that each seat has left, None where these eyes do not see it.
    ``notes`` by seat: what a bot wrote to the move that led here. ``scenes``: what happened on the way, as the game tells it.
    """

    view: Mapping[str, Json]
    private: Mapping[int, Mapping[str, Json]]
    text: str
    scores: tuple[int, ...]
    clocks: tuple[int | None, ...]
    due: tuple[int, ...]
    kind: str
    actors: tuple[int, ...]
    said: tuple[str, ...]
    at_ms: int
    notes: Mapping[int, Mapping[str, Any]]
    scenes: tuple[Json, ...]


def film(match: Replayed, eyes: Eyes) -> dict[str, Any]:
    """The whole film as ``eyes`` saw the match, as a JSON object."""
    header, footer = match.record.header, match.record.footer
    players = [Player(**seat) for seat in header["seats"]]
    return {
        **heading(header["match_id"], header["game"], header["config"], eyes, players),
        "result": {name: footer[name] for name in ("places", "scores", "reasons")},
        "frames": list(shortened(pictures(match, eyes))),
    }


def heading(
    match_id: str, game: str, config: Mapping[str, bool | int], eyes: Eyes, players: Sequence[Player]
) -> dict[str, Any]:
    """What a film says of its match beside its frames and its result."""
    return {
        "film": FORMAT,
        "match": match_id,
        "game": game,
        "title": engines.get(game).title,
        "config": dict(config),
        "eyes": "public" if eyes is None else eyes,
        "seats": [{"bot": player.bot, "version": player.version, "hue": hue(player.bot)} for player in players],
    }


def pictures(match: Replayed, eyes: Eyes) -> Iterator[Picture]:
    """All positions as ``eyes`` could see them, the first and the last one included; none of a record that does not hold."""
    if not match.events:
        return iter(())
    return (picture(match, eyes, n, clocks) for n, clocks in enumerate(_clocks(match)))


def picture_at(match: Replayed, eyes: Eyes, n: int) -> Picture:
    """The position after ``n`` events alone."""
    return picture(match, eyes, n, next(islice(_clocks(match), n, None)))


def shortened(shown: Iterable[Picture]) -> Iterator[dict[str, Any]]:
    """Each picture as a JSON object that holds only what differs from the one before.

    One is taken when one is asked for, so that a film can be made while it is played.
    """
    last: dict[str, Any] = {"view": {}, "private": {}, "lines": [], "scores": None, "clocks": None, "due": ()}
    for picture in shown:
        lines = picture.text.split("\n")
        frame: dict[str, Any] = {"kind": picture.kind, "said": picture.said}
        if picture.actors:
            frame["actors"] = picture.actors
        private = {str(seat): dict(own) for seat, own in picture.private.items()}
        for name, changes in (
            ("view", _changed(last["view"], picture.view)),
            ("private", {seat: own for seat, own in private.items() if last["private"].get(seat) != own}),
            ("lines", [[at, line] for at, line in enumerate(lines) if last["lines"][at : at + 1] != [line]]),
        ):
            if changes:
                frame[name] = changes
        if len(lines) < len(last["lines"]):
            frame["height"] = len(lines)
        for name, value in (("scores", picture.scores), ("clocks", picture.clocks), ("due", picture.due)):
            if last[name] != value:
                frame[name] = value
        if picture.notes:
            frame["notes"] = picture.notes
        if picture.scenes:
            frame["scenes"] = picture.scenes
        last = {
            "view": picture.view,
            "private": private,
            "lines": lines,
            "scores": picture.scores,
            "clocks": picture.clocks,
            "due": picture.due,
        }
        yield frame


def picture(match: Replayed, eyes: Eyes, n: int, clocks: Sequence[int]) -> Picture:
    """The position after ``n`` events; ``clocks``: ms that each seat has left there."""
    event = match.events[n - 1] if n else None
    state = match.events[n].before if n < len(match.events) else state_after(match.events[-1])
    return seen(event, state, eyes, clocks)


def seen(event: Event | None, state: State, eyes: Eyes, clocks: Sequence[int | None]) -> Picture:
    """The position ``state``, to which ``event`` led; None: the beginning."""
    public = state.view(None).to_json()
    seats = _seats(eyes, state.players)
    private = {seat: _changed(public, state.view(seat).to_json(), but="seat") for seat in seats}
    return Picture(
        view=public,
        private=private,
        text=_everything(state, private) if eyes == "all" else state.render(eyes),
        scores=state.scores(),
        # A seat is told its own clock alone, a spectator none: thinking times tell about hands.
        clocks=tuple(clock if seat in seats else None for seat, clock in enumerate(clocks)),
        due=state.actors(),
        kind="start" if event is None else kind_of(event),
        actors=tuple(part.seat for part in event.parts) if isinstance(event, JointPlayed) else (),
        said=("The match begins.",) if event is None else describe(event, eyes),
        at_ms=0 if event is None else event.at_ms,
        notes={part.seat: part.annotation for part in _parts(event) if part.seat in seats and part.annotation},
        scenes=() if event is None or (isinstance(event, JointPlayed) and event.ended) else _scenes(event),
    )


def _scenes(event: Event) -> tuple[Json, ...]:
    if isinstance(event, ChanceDrawn):
        return event.before.scenes({}, event.outcome)
    return event.before.scenes({part.seat: part.action for part in event.parts if part.action is not None}, None)


def _seats(eyes: Eyes, players: int) -> Sequence[int]:
    """The seats whose knowledge is in these eyes."""
    if eyes == "all":
        return range(players)
    return () if eyes is None else (eyes,)


def _parts(event: Event | None) -> tuple[Played, ...]:
    return event.parts if isinstance(event, JointPlayed) else ()


def _changed(old: Mapping[str, Json], new: Mapping[str, Json], but: str = "") -> dict[str, Json]:
    return {name: value for name, value in new.items() if name != but and (name not in old or old[name] != value)}


def _everything(state: State, private: Mapping[int, Mapping[str, Json]]) -> str:
    """The spectator's text, and what the text of each seat that knows more has beyond it."""
    public = state.render(None).split("\n")
    told = list(public)
    for seat in (seat for seat, own in private.items() if own):
        known = {_anybody(line, seat) for line in public}
        for at, line in enumerate(state.render(seat).split("\n")):
            if _anybody(line, seat) not in known:
                said = line.removeprefix(public[at]) if at < len(public) else line
                told.append(f"seat {seat} · {said.strip()}")
    return "\n".join(told)


def _anybody(line: str, seat: int) -> str:
    """A line without what says that it is ``seat`` who reads it."""
    for word in (f"seat {seat}", "your", "you", "()", ">"):
        line = line.replace(word, "")
    return "".join(line.split())


def _clocks(match: Replayed) -> Iterator[tuple[int, ...]]:
    """The seats' banks as the referee kept them: before the first event, and after each."""
    spec = spec_of(match.record)
    clocks = [SeatClock(spec.time_control) for _ in spec.seats]
    yield tuple(clock.bank_ms for clock in clocks)
    for event in match.events:
        for part in _parts(event):
            if part.source in (Source.BOT, Source.TIMER) or part.fault is not None:
                clocks[part.seat].charge(part.elapsed_us, part.rtt_us, event.before.timer_ms(part.seat))
        yield tuple(clock.bank_ms for clock in clocks)

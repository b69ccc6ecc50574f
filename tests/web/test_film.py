"""A film shows what its eyes could see, all of it, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import orjson
import pytest

from arena.match.referee import ChanceDrawn, Event, JointPlayed, Played, Source
from arena.web.film import film, picture_at, pictures, shortened
from arena.web.replay import HIDDEN, Eyes, Replayed, state_after
from engines import State
from tests.web.films import TABLES, match_of

HIDING = [table for table in TABLES if table[0] != "balloon-pop"]


def unfolded(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whole frames out of those that hold only what changed, as the viewer does it."""
    whole: list[dict[str, Any]] = []
    last: dict[str, Any] = {"view": {}, "private": {}, "lines": [], "scores": None, "clocks": None, "due": ()}
    for frame in frames:
        lines = dict(enumerate(last["lines"][: frame.get("height")])) | dict(frame.get("lines", []))
        last = {
            **last,
            **frame,
            "view": {**last["view"], **frame.get("view", {})},
            "private": {**last["private"], **frame.get("private", {})},
            "lines": [lines[at] for at in range(len(lines))],
        }
        whole.append(last)
    return whole


def states(match: Replayed) -> list[State]:
    """The position before the first event and after each."""
    return [match.events[0].before, *map(state_after, match.events)]


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_a_film_holds_what_each_seat_may_know_and_nothing_else(game: str, players: int) -> None:
    """In every position the spectator's view and what a seat's film adds are exactly that seat's view; texts are its own."""
    match = match_of(game, players)
    for eyes in (None, *range(players)):
        frames = unfolded(orjson.loads(orjson.dumps(film(match, eyes), option=orjson.OPT_NON_STR_KEYS))["frames"])
        assert len(frames) == len(match.events) + 1
        for frame, state in zip(frames, states(match), strict=True):
            assert frame["view"] == state.view(None).to_json()
            assert "\n".join(frame["lines"]) == state.render(eyes)
            if eyes is None:
                assert frame["private"] == {}
            else:
                assert frame["private"].keys() == {str(eyes)}
                assert frame["view"] | frame["private"][str(eyes)] | {"seat": eyes} == state.view(eyes).to_json()
            assert [clock is not None for clock in frame["clocks"]] == [seat == eyes for seat in range(players)]
        for frame, event in zip(frames[1:], match.events, strict=True):
            assert frame["said"] == [said(event, eyes, part) for part in parts(event)]


def parts(event: Event) -> tuple[Played | None, ...]:
    return (None,) if isinstance(event, ChanceDrawn) else event.parts


def said(event: Event, eyes: Eyes, part: Played | None) -> str:
    """What an event is called to these eyes, by the contract's ``sees``."""
    assert eyes != "all"
    actor, happened = (part.seat, part.action) if part else (None, event.outcome)  # type: ignore[union-attr]
    assert happened is not None
    if (actor != eyes and not event.before.sees(eyes, actor, happened)) or (
        actor is None and not event.before.sees(eyes, None, happened)
    ):
        return HIDDEN
    text = event.before.game.text(happened)
    return f"{text} (forced)" if part and actor == eyes and part.source is Source.FORCED else text


@pytest.mark.parametrize(("game", "players"), HIDING)
def test_r25_what_a_seat_or_a_spectator_cannot_tell_apart_makes_the_same_film(game: str, players: int) -> None:
    """Hidden outcomes are dealt otherwise, so that nothing a seat was told changes: its film is the same, byte by byte."""
    match, rng = match_of(game, players), Random(players)
    tried = 0
    for eyes in (None, *range(players)):
        for _ in range(4):
            length = rng.randrange(4, min(150, len(match.events)))
            other = otherwise(match.events[:length], eyes, rng)
            if other is None:
                continue
            tried += 1
            ours, theirs = (replace(match, events=events) for events in (match.events[:length], other))
            assert everything_in(ours, eyes) == everything_in(theirs, eyes)
            assert everything_in(ours, "all") != everything_in(theirs, "all")
    assert tried > players, "the test must have found histories to compare"


def everything_in(match: Replayed, eyes: Eyes) -> bytes:
    return orjson.dumps(list(shortened(pictures(match, eyes))), option=orjson.OPT_NON_STR_KEYS)


def otherwise(events: tuple[Event, ...], eyes: int | None, rng: Random) -> tuple[Event, ...] | None:
    """The same history to ``eyes`` with two hidden outcomes swapped; None if none was found."""
    hidden = [
        at
        for at, event in enumerate(events)
        if isinstance(event, ChanceDrawn) and not event.before.sees(eyes, None, event.outcome)
    ]
    for _ in range(12):
        if len(hidden) < 2:
            return None
        one, two = rng.sample(hidden, 2)
        swap = {one: events[two].outcome, two: events[one].outcome}  # type: ignore[union-attr]
        found = played_again(events, swap, eyes)
        if found is not None and swap[one] != swap[two]:
            return found
    return None


def played_again(events: tuple[Event, ...], swap: dict[int, int], eyes: int | None) -> tuple[Event, ...] | None:
    state, made = events[0].before, list[Event]()
    for at, event in enumerate(events):
        if isinstance(event, ChanceDrawn):
            outcome = swap.get(at, event.outcome)
            if outcome not in {one for one, _ in state.chance()}:
                return None
            made.append(event._replace(before=state, outcome=outcome))
        else:
            joint = {part.seat: part.action for part in event.parts}
            if not all(action in state.legal(seat) for seat, action in joint.items()):
                return None
            made.append(event._replace(before=state))
        state = state_after(made[-1])
        if state.view(eyes) != state_after(event).view(eyes):
            return None
    return tuple(made)


@pytest.mark.parametrize(("game", "players"), [("pop", 3), ("balloon-race", 4)])
def test_clocks_and_notes_are_the_records(game: str, players: int) -> None:
    """Clocks fall by what was charged and rise by the increment; notes are there for everything and for their own seat."""
    match = match_of(game, players, notes=True)
    shown = list(pictures(match, "all"))
    control = match.record.header["time_control"]
    assert shown[0].clocks == (control["bank_ms"],) * players
    for (before, after), event in zip(pairwise(shown), match.events, strict=True):
        for part in parts(event):
            if part is not None:
                asked = part.source is Source.BOT
                timed = asked and event.before.timer_ms(part.seat) is None
                charged = part.charged_ms - control["increment_ms"] if timed else 0
                assert after.clocks[part.seat] == before.clocks[part.seat] - charged  # type: ignore[operator]
                assert (part.seat in after.notes) == asked
    assert any(picture.notes for picture in shown)
    for eyes in (None, *range(players)):
        assert {seat for picture in pictures(match, eyes) for seat in picture.notes} <= (
            {eyes} if eyes is not None else set()
        )


def test_a_fault_is_told_to_all_and_its_details_to_its_seat() -> None:
    """Everybody sees that a bot failed; what it had written is for its own eyes and those of everything."""
    match = match_of("balloon-challenge", 4, fault_rate=0.08)
    at = next(
        n
        for n, event in enumerate(match.events, 1)
        if isinstance(event, JointPlayed) and any(part.fault for part in event.parts)
    )
    event = match.events[at - 1]
    assert isinstance(event, JointPlayed)
    (culprit,) = event.parts
    for eyes in ("all", None, *range(4)):
        shown = picture_at(match, eyes, at)  # type: ignore[arg-type]
        assert shown.kind == "fault"
        assert "disconnect" in shown.said[0]
        assert ("default" in shown.said[0]) == (eyes in ("all", culprit.seat))


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_the_last_picture_is_the_result(game: str, players: int) -> None:
    """For all player counts the last frame has the record's scores, and one picture alone is as in the film."""
    match = match_of(game, players, seed=2)
    shown = list(pictures(match, "all"))
    assert list(shown[-1].scores) == match.record.footer["scores"]
    for n in (0, len(shown) // 2, len(shown) - 1):
        assert picture_at(match, "all", n) == shown[n]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_scenes_of_pop_lead_from_one_position_to_the_next(players: int) -> None:
    """A turn's scenes begin with the columns before it and end with those after; what is doomed is gone in the next."""
    match = match_of("pop", players)
    turns = 0
    for event, before, after in zip(match.events, states(match), states(match)[1:], strict=False):
        shown = film_scenes(event)
        if not shown:
            continue
        turns += 1
        assert shown[0]["columns"] == before.view(None).to_json()["columns"]
        assert sum(slot is not None for slot in shown[0]["slots"]) == 5
        assert shown[-1]["columns"] == after.view(None).to_json()["columns"]
        assert not any(shown[-1]["slots"])
        for one, following in pairwise(shown):
            lying = {card for column in following["columns"] for card in column}
            assert not lying & set(one["doomed"])
            assert lying >= {card for column in one["columns"] for card in column} - set(one["doomed"])
    assert turns == 8


def film_scenes(event: Event) -> tuple[Any, ...]:
    """The scenes of an event."""
    if isinstance(event, ChanceDrawn):
        return event.before.scenes({}, event.outcome)
    return event.before.scenes({part.seat: part.action for part in event.parts if part.action is not None}, None)

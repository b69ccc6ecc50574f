"""What a seat tells its bot of what happens in the match."""

from __future__ import annotations

import asyncio

import pytest

from arena.host.play import Voided, play_match
from arena.host.port import Port
from arena.host.seats import ScriptedSeat, SessionSeat
from arena.match.referee import Reply, Request
from arena.match.spec import SeatReason, VoidReason
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb
from engines.balloon_challenge.rules import State
from tests.match.support import KEY, play, spec, uniform


def told(players: int) -> list[pb.Notice]:
    """The notices that the bot of seat 0 gets of a match in which seat 1 times out at its first decision."""
    match = spec(players=players)
    _, seats = play(match, uniform(1), lambda _: Reply(None, SeatReason.TIMEOUT), *map(uniform, range(2, players)))
    sent: list[relay.WorkerEvent] = []
    seat = SessionSeat(Port("s", sent.append), "o")
    seat.start(match, 0, b"")
    seat.observe(seats[0].observed)
    return [event.deliver.notice for event in sent if event.deliver.HasField("notice")]


def test_everybody_is_told_of_a_seat_that_goes_on_with_default_actions() -> None:
    """Once: what is played for it afterwards is no news."""
    (notice,) = told(players=3)
    assert notice.kind == pb.Notice.KIND_SEAT_FAILED
    assert notice.game_id
    assert notice.text == "Seat 1 has failed (timeout) and goes on with default actions."


def test_a_game_of_two_ends_with_a_fault() -> None:
    """Nobody goes on."""
    assert told(players=2) == []


@pytest.mark.parametrize("moment", ["apply", "actors", "placements", "chance"])
def test_r77_an_engine_that_raises_is_nobodys_loss(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Whenever it does: the attempt is void by the engine's fault, every seat is told so, and none of a result."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    seats = [ScriptedSeat(uniform(seat)) for seat in range(3)]
    monkeypatch.setattr(State, moment, broken)
    with pytest.raises(Voided) as void:
        asyncio.run(play_match(spec(), seats, KEY))
    assert void.value.reason is VoidReason.ENGINE_ERROR
    assert [(seat.voided, seat.outcome) for seat in seats] == [(True, None)] * 3


@pytest.mark.parametrize("error", [RuntimeError("a bug"), SystemExit(3)])
def test_r76_rules_that_fail_void_their_match_and_end_nothing_else(error: BaseException) -> None:
    """A game's author may call sys.exit() too: the worker that plays it goes on."""

    def broken(_: Request) -> Reply:
        raise error

    for match in (
        spec(),
        spec("balloon-pop", 3, simultaneous_cards=True),
    ):  # in the match's own task, or one for each seat
        with pytest.raises(Voided) as void:
            play(match, broken, uniform(2), uniform(3))
        assert void.value.reason is VoidReason.ENGINE_ERROR

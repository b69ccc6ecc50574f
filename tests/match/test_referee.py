"""The referee's policy."""

from __future__ import annotations

import pytest

import engines
from arena.match.deal import ChanceStream
from arena.match.referee import JointPlayed, Referee, Reply, Request, Source
from arena.match.spec import SeatReason
from tests.match.support import Decide, play, spec, uniform

DROP = engines.get("balloon-challenge").parse("drop")


def failing(after: int, reply: Reply) -> Decide:
    """Answers at random ``after`` times, then with ``reply``."""
    decide, count = uniform(5), 0

    def decide_or_fail(request: Request) -> Reply:
        nonlocal count
        count += 1
        return decide(request) if count <= after else reply

    return decide_or_fail


def test_whole_match_has_places_scores_and_normal_reasons() -> None:
    """Three bots that answer well end NORMAL, and the outcome is the game's own."""
    finished, seats = play(spec(), uniform(1), uniform(2), uniform(3))
    assert finished.outcome.reasons == (SeatReason.NORMAL,) * 3
    assert sorted(finished.outcome.places)[0] == 1
    assert len(seats[0].observed) == finished.events


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(None, SeatReason.MALFORMED), SeatReason.MALFORMED),
        (Reply(10_000), SeatReason.ILLEGAL),
        (Reply(None, SeatReason.TIMEOUT, elapsed_us=3_600_000), SeatReason.TIMEOUT),
        (Reply(None, SeatReason.DISCONNECT), SeatReason.DISCONNECT),
        (Reply(None, SeatReason.BOT_CRASH), SeatReason.BOT_CRASH),
        (Reply(DROP, elapsed_us=3_001_000), SeatReason.TIMEOUT),
        (Reply(10_000, elapsed_us=9_000_000), SeatReason.ILLEGAL),
    ],
)
def test_r14_two_players_fault_ends_the_game_as_a_loss(reply: Reply, reason: SeatReason) -> None:
    """In a game of two the fault ends it, whoever was ahead; illegal is judged before late, and nothing of it is played."""
    finished, seats = play(spec(players=2), uniform(1), failing(2, reply))
    assert finished.outcome.places == (1, 2)
    assert finished.outcome.reasons == (SeatReason.NORMAL, reason)
    last = seats[0].observed[-1]
    assert isinstance(last, JointPlayed)
    assert last.ended
    assert [(part.action, part.fault) for part in last.parts if part.seat == 1] == [(None, reason)]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(Reply(None, SeatReason.TIMEOUT), SeatReason.TIMEOUT), (Reply(10_000), SeatReason.ILLEGAL)],
)
def test_r14_more_players_go_on_with_default_actions(reply: Reply, reason: SeatReason) -> None:
    """A failed seat is never asked again, plays the default action, and is placed last."""
    asked: list[int] = []

    def failing_once(request: Request) -> Reply:
        asked.append(request.decision_id)
        return uniform(5)(request) if len(asked) == 1 else reply

    finished, seats = play(spec(players=3), uniform(1), failing_once, uniform(3))
    assert asked == [1, 2]
    assert finished.outcome.reasons == (SeatReason.NORMAL, reason, SeatReason.NORMAL)
    assert finished.outcome.places[1] == 3
    played = [part for event in seats[0].observed if isinstance(event, JointPlayed) for part in event.parts]
    after = [part for part in played if part.seat == 1][2:]
    assert {part.source for part in after} <= {Source.DEFAULT, Source.FORCED}
    assert Source.DEFAULT in {part.source for part in after}


def test_later_offender_ranks_above_an_earlier_one() -> None:
    """Offenders are placed behind everybody else, the earliest last."""
    crash = Reply(None, SeatReason.BOT_CRASH)
    finished, _ = play(spec(players=4), failing(0, crash), uniform(1), failing(3, crash), uniform(2))
    assert finished.outcome.places[0] == 4
    assert finished.outcome.places[2] == 3


def test_simultaneous_faults_tie() -> None:
    """Both seats of a simultaneous decision failed: both replies are judged, and they share the place."""
    finished, _ = play(spec("pop", players=2), failing(0, Reply(None, SeatReason.TIMEOUT)), failing(0, Reply(99_999)))
    assert finished.outcome.places == (1, 1)
    assert finished.outcome.reasons == (SeatReason.TIMEOUT, SeatReason.ILLEGAL)


def test_forced_moves_are_played_without_asking() -> None:
    """A single legal action is played as forced, costs no time, and the seat hears of it with its next request."""
    asked: list[Request] = []

    def keep(request: Request) -> Reply:
        asked.append(request)
        return uniform(1)(request)

    match = spec(players=2)
    referee = Referee(match, ChanceStream(match.deal.seed("m_test", 1, "s_test")).pick)
    step = referee.start()
    while step.outcome is None:
        step = referee.advance({request.seat: keep(request) for request in step.requests}, at_ms=0)
    forced = [
        part
        for event in referee.events
        if isinstance(event, JointPlayed)
        for part in event.parts
        if part.source is Source.FORCED
    ]
    assert forced
    assert all(part.legal_count == 1 and part.charged_ms == 0 for part in forced)
    assert all(len(request.legal) > 1 for request in asked)
    assert any(request.played_for_you for request in asked)


def test_rules_timer_is_the_referees_action_and_no_fault() -> None:
    """The dice timer of Balloon Race passes: `timeout` is played, recorded as the timer's, and the seat goes on."""
    timeout = Reply(None, SeatReason.TIMEOUT, elapsed_us=3_500_000)
    decide = uniform(2)
    match = spec("balloon-race", players=2, dice_timer_ms=3000)
    finished, seats = play(match, lambda r: timeout if r.timer_ms else decide(r), uniform(3))
    assert finished.outcome.reasons == (SeatReason.NORMAL, SeatReason.NORMAL)
    parts = [part for event in seats[0].observed if isinstance(event, JointPlayed) for part in event.parts]
    timed = [part for part in parts if part.source is Source.TIMER]
    assert timed
    assert all(part.action == engines.get("balloon-race").parse("timeout") for part in timed)


def test_replies_of_the_wrong_seats_are_a_programming_error() -> None:
    """advance() takes exactly the replies of the asked seats."""
    match = spec(players=2)
    referee = Referee(match, ChanceStream(bytes(32)).pick)
    referee.start()
    with pytest.raises(ValueError, match="asked seats"):
        referee.advance({}, at_ms=0)

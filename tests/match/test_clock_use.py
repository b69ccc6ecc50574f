"""How the time of a recorded match was spent."""

from __future__ import annotations

from arena.match.clock_use import clock_use
from arena.match.record import parse_record
from arena.match.referee import Reply, Request
from arena.match.spec import TimeControl
from tests.match.support import Decide, play, spec, uniform


def thinking(*ms: int) -> Decide:
    """The default action after so many ms each, in turn; the last of them for ever."""
    times = list(ms)

    def decide(request: Request) -> Reply:
        spent = times.pop(0) if len(times) > 1 else times[0]
        return Reply(request.default_action, elapsed_us=spent * 1000)

    return decide


def test_what_a_seat_used_and_how_near_it_came() -> None:
    """Of a cap of 1 s decisions of 800 and 999 ms are near it, 799 ms is not; used and given are the clock's own sums."""
    control = TimeControl(60_000, 100, 1_000)
    finished, _ = play(spec(time_control=control), thinking(800, 799, 999, 10), uniform(1), uniform(2))
    used = clock_use(parse_record(finished.record.to_bytes()))
    slow, quick = used[0], used[1]
    assert slow.decisions > 4
    assert slow.near == 2
    assert slow.used_ms == 800 + 799 + 999 + 10 * (slow.decisions - 3)
    assert slow.given_ms == 60_000 + 100 * slow.decisions
    assert slow.share == slow.used_ms / slow.given_ms
    assert (quick.near, quick.used_ms) == (0, quick.decisions)


def test_running_out_counts_as_near() -> None:
    """The decision at which a bank ran dry is near its limit, and the share is at most one."""
    finished, _ = play(spec(players=2, time_control=TimeControl(2_000, 0, 0)), thinking(1_500), uniform(1))
    used = clock_use(parse_record(finished.record.to_bytes()))
    assert (used[0].decisions, used[0].near, used[0].share) == (2, 1, 1.0)


def test_the_rules_own_timer_is_no_bank() -> None:
    """Balloon Race has a timer of its own for dice: what it grants is not the clock's, but its limit can be near."""
    race = spec("balloon-race", players=2, dice_timer_ms=3_000)
    finished, _ = play(race, thinking(2_700), uniform(1))
    used = clock_use(parse_record(finished.record.to_bytes()))
    assert used[0].near > 0
    assert used[0].used_ms % 2_700 == 0
    assert used[0].used_ms < 2_700 * used[0].decisions

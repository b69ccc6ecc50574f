"""Clocks."""

from __future__ import annotations

from arena.match.clock import NETWORK_QUOTA_MS, SeatClock
from arena.match.spec import TimeControl


def test_increment_and_cap() -> None:
    """A decision is limited by cap and bank; what it took goes off, the increment comes on."""
    clock = SeatClock(TimeControl(bank_ms=10_000, increment_ms=100, move_cap_ms=3_000))
    assert clock.limit_ms(None) == 3_000
    assert clock.charge(2_000_999, 0, None).charged_ms == 2_000
    assert clock.bank_ms == 8_100
    clock.charge(7_000_000, 0, None)
    assert clock.limit_ms(None) == 1_200


def test_no_cap() -> None:
    """Without a cap the bank is the limit."""
    assert SeatClock(TimeControl(bank_ms=5_000, increment_ms=0, move_cap_ms=0)).limit_ms(None) == 5_000


def test_network_is_not_charged_within_the_quota() -> None:
    """The measured round trip comes off what is charged, up to a quota that refills a little each decision."""
    clock = SeatClock(TimeControl())
    charge = clock.charge(250_000, 200_000, None)
    assert (charge.charged_ms, charge.network_ms) == (50, 200)
    assert clock.quota_ms == NETWORK_QUOTA_MS - 200 + 100


def test_faked_network_runs_out() -> None:
    """A bot that pretends to have a round trip of seconds gains the quota once, then the refill only."""
    clock = SeatClock(TimeControl())
    charged = [clock.charge(1_000_000, 5_000_000, None).charged_ms for _ in range(4)]
    assert charged == [500, 900, 900, 900]


def test_rules_timer_stands_in_for_the_clock() -> None:
    """A decision with a timer of the rules' own neither costs bank nor earns an increment."""
    clock = SeatClock(TimeControl())
    assert clock.limit_ms(30_000) == 30_000
    clock.charge(20_000_000, 0, 30_000)
    assert clock.bank_ms == 10_000

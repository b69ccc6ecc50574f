"""How often an address, a bot or a token may do something."""

from __future__ import annotations

from arena.gateway.limits import KEPT, PER_TOKEN, Buckets, Guesses
from arena.gateway.session.model import SECOND_US

TOKEN = "arena_ABCDEFGH_" + "x" * 38


def test_r44_an_address_guesses_once_a_second_after_its_first_tries() -> None:
    """Each wrong token counts, those that came while others were looked at too; time alone makes good for them."""
    guesses = Guesses(at_once=3)
    assert all(guesses.may_look("a", f"guess {number}", 0) for number in range(10)), "they came together"
    for number in range(10):
        guesses.wrong("a", f"guess {number}", 0)
    assert not guesses.may_look("a", TOKEN, 7 * SECOND_US)
    assert guesses.may_look("a", TOKEN, 8 * SECOND_US)
    assert guesses.may_look("b", TOKEN, 0)


def test_r44_whoever_shares_an_address_with_a_guesser_goes_on() -> None:
    """A token that was right is no guess, until it is nobody's any more."""
    guesses = Guesses(at_once=1)
    guesses.right(TOKEN)
    guesses.wrong("a", "guess", 0)
    assert guesses.may_look("a", TOKEN, 0)
    assert not guesses.may_look("a", TOKEN.replace("ABC", "CBA"), 0)
    guesses.wrong("a", TOKEN, 0)
    assert not guesses.may_look("a", TOKEN, 0)


def test_r44_one_token_is_not_guessed_from_many_addresses() -> None:
    """All together show more wrong ones than any single address can, and then nobody for a while; other tokens are open."""
    guesses = Guesses(at_once=3)
    for number in range(3 * PER_TOKEN):
        assert guesses.may_look(f"address {number}", TOKEN, 0)
        guesses.wrong(f"address {number}", TOKEN[:-1] + "y", 0)
    assert not guesses.may_look("another", TOKEN, 0)
    assert guesses.may_look("another", TOKEN.replace("ABC", "CBA"), 0)
    assert guesses.may_look("another", TOKEN, SECOND_US // PER_TOKEN)


def test_r44_who_is_remembered_is_bounded() -> None:
    """However many ask, the last of them are known, and what is owed cannot be shaken off by asking on."""
    buckets = Buckets(1, 1)
    for number in range(2 * KEPT):
        buckets.of(str(number)).take(0)
        assert not buckets.of("0").take(0) or number == 0
    assert len(buckets) == KEPT

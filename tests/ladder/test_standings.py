"""The fold of the ledger."""

from __future__ import annotations

from random import Random

import pytest

from arena.ladder.standings import BrokenLedger, Standing, concerned, fold, step
from arena.ratings.entries import AnchorSet, Entry, LedgerEntry, Recentring, SetResult, SetVoid
from arena.storage import ledger


def random_ledger(seed: int, players: int = 3, length: int = 300) -> list[LedgerEntry]:
    """A ledger of all kinds of entries, whose results make sense."""
    rng = Random(seed)
    made: list[LedgerEntry] = [Entry(1, 1000.0), AnchorSet(1, 1000.0), *(Entry(bot, 1000.0) for bot in range(2, 7))]
    entered = 6
    while len(made) < length:
        kind = rng.random()
        if kind < 0.03:
            entered += 1
            made.append(Entry(entered, rng.uniform(900, 1400), predecessor=entered - 1))
        elif kind < 0.05:
            made.append(Recentring(rng.uniform(-20, 20)))
        elif kind < 0.07:
            made.append(SetVoid(f"s{len(made)}", "INFRA_VOID"))
        else:
            table = rng.choices(range(1, entered + 1), k=players)  # now and then somebody twice
            if len(set(table)) == 1:
                continue
            places = tuple(tuple(rng.choices(range(1, players + 1), k=players)) for _ in range(players))
            made.append(SetResult(f"s{len(made)}", tuple(table), places))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_steps_on_the_rows_concerned_equal_the_fold_of_everything(seed: int) -> None:
    """What settling does, reading only the bots of each entry, gives exactly what a rebuild gives."""
    entries = random_ledger(seed)
    stored: dict[int, Standing] = {}
    for seq, entry in enumerate(entries, 1):
        named = concerned(entry)
        rows = stored if named is None else {version: stored[version] for version in named if version in stored}
        stored.update(step(dict(rows), seq, entry))
    assert stored == fold(enumerate(entries, 1))


@pytest.mark.parametrize("seed", range(3))
def test_entries_survive_json(seed: int) -> None:
    """An entry read back from the ledger is the entry that was written."""
    for entry in random_ledger(seed):
        assert ledger.from_json(*ledger.to_json(entry)) == entry


def test_counts_of_a_set() -> None:
    """Wins are sole firsts, draws shared ones; the score is the mean against each opponent."""
    entries: list[LedgerEntry] = [*(Entry(bot, 1000.0) for bot in (1, 2, 3))]
    entries.append(SetResult("s", (1, 2, 3), ((1, 2, 3), (1, 1, 3), (3, 1, 2))))
    standings = fold(enumerate(entries, 1))
    first, second, third = (standings[bot] for bot in (1, 2, 3))
    assert (first.wins, first.draws, first.losses, first.half_points) == (1, 1, 1, 4 + 3 + 0)
    assert (second.wins, second.draws, second.losses, second.half_points) == (1, 1, 1, 2 + 3 + 4)
    assert (third.wins, third.draws, third.losses, third.half_points) == (0, 0, 3, 0 + 0 + 2)
    assert all((bot.sets, bot.games, bot.last_seq) == (1, 3, 4) for bot in standings.values())
    assert sum(bot.score(3) for bot in standings.values()) == pytest.approx(3 / 2)


def test_somebody_twice_at_a_table_counts_both_seats() -> None:
    """A house bot on two positions plays two games at once, none of them against itself."""
    entries: list[LedgerEntry] = [Entry(1, 1000.0), Entry(2, 1000.0)]
    entries.append(SetResult("s", (1, 2, 1), ((1, 2, 3),)))
    standings = fold(enumerate(entries, 1))
    assert (standings[1].sets, standings[1].games, standings[1].wins, standings[1].losses) == (1, 2, 1, 1)
    assert standings[1].rating == standings[2].rating == 1000.0


def test_a_provisional_mark_goes_with_play_and_anchors_have_none() -> None:
    """Newcomers are provisional, an anchor never is, and enough games end it."""
    assert Standing(1, 1000.0).provisional(3)
    assert not Standing(1, 1000.0, anchor=True).provisional(3)
    assert not Standing(1, 1000.0, games=32).provisional(3)


def test_recentring_moves_all_but_anchors() -> None:
    """The shift keeps differences among the others, and leaves the anchor's number."""
    entries: list[LedgerEntry] = [Entry(1, 1000.0), AnchorSet(1, 1000.0), Entry(2, 1100.0), Recentring(-12.5)]
    standings = fold(enumerate(entries, 1))
    assert (standings[1].rating, standings[2].rating) == (1000.0, 1087.5)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([(1, Entry(1, 1000.0)), (3, Entry(2, 1000.0))], "entry 2 is missing"),
        ([(2, Entry(1, 1000.0))], "entry 1 is missing"),
        ([(1, Entry(1, 1000.0)), (2, Entry(1, 1000.0))], "has entered before"),
        ([(1, SetResult("s", (1, 2), ((1, 2),)))], "has not entered"),
        ([(1, AnchorSet(1, 1000.0))], "has not entered"),
    ],
)
def test_a_broken_ledger_is_noticed(entries: list[tuple[int, LedgerEntry]], message: str) -> None:
    """Gaps, double entries and strangers do not fold."""
    with pytest.raises(BrokenLedger, match=message):
        fold(entries)

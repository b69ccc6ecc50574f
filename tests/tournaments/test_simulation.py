"""The simulated comparison of formats."""

from __future__ import annotations

from arena.tournaments.simulation import candidates, measure


def test_more_games_find_the_best_more_often() -> None:
    """A double round robin crowns the best more often than one loss and out; games are counted, a seed repeats it all."""
    chosen = {one.name: one for one in candidates(12)}
    single = measure(chosen["single elimination"], bots=12, events=150, seed=3, seeded=False)[0]
    double = measure(chosen["double round robin"], bots=12, events=40, seed=3, seeded=False)[0]
    assert double.best_won > single.best_won + 0.1
    assert double.games == 12 * 11 * 2
    assert 2 * 11 <= single.games <= 2 * 11 * 3
    assert measure(chosen["single elimination"], bots=12, events=5, seed=4, seeded=True) == measure(
        chosen["single elimination"], bots=12, events=5, seed=4, seeded=True
    )


def test_a_final_is_measured_beside_the_event_without_it() -> None:
    """A candidate with a final gives two rows of the same events; the second has played more."""
    chosen = {one.name: one for one in candidates(8)}
    plain, final = measure(chosen["round robin"], bots=8, events=6, seed=5, seeded=False)
    assert (plain.candidate, final.candidate) == ("round robin", "round robin, final of 4")
    assert plain.games == 8 * 7 < final.games
    assert plain.events == final.events == 6

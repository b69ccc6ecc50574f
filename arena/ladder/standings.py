"""The fold of a ladder's ledger: standings are what its entries, in order, add up to.

:func:`step` is the whole arithmetic. Settling a set applies it to the rows of the bots concerned; rebuilding applies it
to every entry from nothing; both give the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from arena.ratings import elo
from arena.ratings.entries import AnchorSet, Entry, LedgerEntry, Recentring, SetResult, SetVoid

START_RATING: Final = 1000.0
"""Rating of `random`, the anchor of every ladder, and of a newcomer without a predecessor."""
PROVISIONAL_SE: Final = 50.0
SETTLED_SE: Final = 20.0
"""House bots stop playing each other when their ratings are known so well."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One version on a ladder.

    ``wins``: games in which it was first alone; ``draws``: first with others. ``half_points``: twice its score against
    every single opponent, summed. ``last_seq``: the ledger entry that it last played in, or entered with.
    """

    version: int
    rating: float
    k2: float = elo.K_NEW
    sets: int = 0
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    half_points: int = 0
    anchor: bool = False
    last_seq: int = 0

    def standard_error(self, players: int) -> float:
        """Approximate error of the rating; an anchor's is 0 by definition."""
        return 0.0 if self.anchor else elo.standard_error(self.games, players)

    def provisional(self, players: int) -> bool:
        """Whether the rating is still too uncertain to be ranked with the others."""
        return self.standard_error(players) >= PROVISIONAL_SE

    def score(self, players: int) -> float:
        """Mean score against an opponent, 0..1; 0 before the first game."""
        return self.half_points / (2 * (players - 1) * self.games) if self.games else 0.0


class BrokenLedger(ValueError):
    """An entry that cannot follow on those before it; the ledger has been tampered with or its writer is wrong."""


def concerned(entry: LedgerEntry) -> tuple[int, ...] | None:
    """The versions whose standings :func:`step` must be given for this entry; None means all."""
    match entry:
        case SetResult(versions=versions):
            return tuple(sorted(set(versions)))
        case Entry(version=version) | AnchorSet(version=version):
            return (version,)
        case SetVoid():
            return ()
        case Recentring():
            return None


def step(standings: Mapping[int, Standing], seq: int, entry: LedgerEntry) -> dict[int, Standing]:
    """The standings that ``entry``, number ``seq`` of its ladder, changes or adds. Raises BrokenLedger."""
    match entry:
        case SetResult():
            return _play(standings, seq, entry)
        case Entry(version=version, rating=rating):
            if version in standings:
                raise BrokenLedger(f"entry {seq}: version {version} has entered before")
            return {version: Standing(version, elo.rounded(rating), last_seq=seq)}
        case AnchorSet(version=version, rating=rating):
            return {version: replace(_known(standings, seq, version), rating=elo.rounded(rating), anchor=True)}
        case Recentring(delta=delta):
            return {
                version: replace(standing, rating=elo.rounded(standing.rating + delta))
                for version, standing in standings.items()
                if not standing.anchor
            }
        case SetVoid():
            return {}


def fold(entries: Iterable[tuple[int, LedgerEntry]]) -> dict[int, Standing]:
    """Standings from nothing: ``entries`` are (seq, entry) from 1 without a gap. Raises BrokenLedger."""
    standings: dict[int, Standing] = {}
    for expected, (seq, entry) in enumerate(entries, 1):
        if seq != expected:
            raise BrokenLedger(f"entry {expected} is missing: the next one is {seq}")
        standings.update(step(standings, seq, entry))
    return standings


def _known(standings: Mapping[int, Standing], seq: int, version: int) -> Standing:
    try:
        return standings[version]
    except KeyError:
        raise BrokenLedger(f"entry {seq}: version {version} has not entered") from None


def _play(standings: Mapping[int, Standing], seq: int, entry: SetResult) -> dict[int, Standing]:
    """A version on several positions of one table (house bots, where there are few) moves by their mean."""
    versions, places, games = entry.versions, entry.places, len(entry.places)
    seated = [_known(standings, seq, version) for version in versions]
    lead = [sum(lead) for lead in zip(*map(elo.leads, places), strict=True)]
    after = elo.updated([elo.Rated(bot.rating, bot.k2, bot.anchor) for bot in seated], lead, games)
    tallies = [tally(game) for game in places]
    changed: dict[int, Standing] = {}
    for position, before in enumerate(seated):
        if before.version in changed:
            continue
        rating, k2 = after[position].rating, after[position].k2
        same: Sequence[int] = (position,)
        if versions.count(before.version) > 1:
            same = [at for at, other in enumerate(versions) if other == before.version]
            rating = elo.rounded(sum(after[at].rating for at in same) / len(same))
            k2 = elo.rounded(sum(after[at].k2 for at in same) / len(same))
        won, shared, halves = zip(*[game[at] for game in tallies for at in same], strict=True)
        wins, draws, finishes = sum(won), sum(shared), len(won)
        changed[before.version] = Standing(
            before.version,
            rating,
            k2,
            before.sets + 1,
            before.games + finishes,
            before.wins + wins,
            before.draws + draws,
            before.losses + finishes - wins - draws,
            before.half_points + sum(halves),
            before.anchor,
            seq,
        )
    return changed


@lru_cache(maxsize=10_000)
def tally(game: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """From one game's places, for each position: whether it was first alone, whether first with others, half points."""
    alone = game.count(1) == 1
    return tuple(
        (
            int(place == 1 and alone),
            int(place == 1 and not alone),
            # Everybody at the table but oneself, who would count as one tie.
            sum((place < other) * 2 + (place == other) for other in game) - 1,
        )
        for place in game
    )

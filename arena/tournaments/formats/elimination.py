"""Single and double elimination.

A bracket is a list of nodes, each fed by seeds or by winners and losers of earlier nodes. What a node's players are
follows from the results so far; a missing one (a bye, or two who both did not come) lets the other through unplayed.
Who wins: the higher score, then the better seed, once the tie-break sets of a level pairing are used up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from arena.tournaments.formats.event import Event, Pairing, Result

Outcome: TypeAlias = Literal["winner", "loser"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a node's player comes from: a seed (from 1), or the winner or loser of a node."""

    seed: int = 0
    node: str = ""
    outcome: Outcome = "winner"


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the bracket. ``round`` orders nodes by time: all sources of a node have smaller rounds."""

    id: str
    round: int
    label: str
    sources: tuple[Source, Source]


PENDING = object()
"""Nobody knows yet who it will be."""
Slot: TypeAlias = object
"""A name, None (nobody) or PENDING."""


def seed_order(size: int) -> tuple[int, ...]:
    """Seeds from top to bottom of a bracket of ``size``, a power of two: 1 and 2 can only meet in the final."""
    order: tuple[int, ...] = (1,)
    while len(order) < size:
        total = 2 * len(order) + 1
        order = tuple(seed for one in order for seed in (one, total - one))
    return order


def bracket_size(entrants: int) -> int:
    """The power of two that holds them."""
    return 1 << max(1, (entrants - 1).bit_length())


@lru_cache(maxsize=32)
def single_bracket(entrants: int, third_place: bool) -> tuple[Node, ...]:
    """All nodes of a single elimination, by round."""
    size = bracket_size(entrants)
    nodes = list(_winners(size, "w", step=1))
    rounds = size.bit_length() - 1
    if third_place and entrants > 3:
        losers = tuple(Source(node=f"w{rounds - 1}.{k}", outcome="loser") for k in (1, 2))
        nodes.append(Node("third", rounds, "third place", (losers[0], losers[1])))
    return tuple(nodes)


@lru_cache(maxsize=32)
def double_bracket(entrants: int) -> tuple[Node, ...]:
    """All nodes of a double elimination but the grand final's second match, by round.

    Whoever loses in the winners' bracket drops into the losers'. Those who drop are crossed, every other round from the
    other side, so that two meet again as late as can be.
    """
    size = bracket_size(entrants)
    rounds = size.bit_length() - 1
    nodes = list(_winners(size, "w", step=2))
    previous = [Source(node=f"w1.{k}", outcome="loser") for k in range(1, size // 2 + 1)]
    number = 0
    for drop in range(2, rounds + 1):
        number += 1
        alive = list(_losers_round(number, 2 * drop - 2, previous))
        nodes += alive
        dropped = [Source(node=f"w{drop}.{k}", outcome="loser") for k in range(1, (size >> drop) + 1)]
        crossed = dropped[::-1] if drop % 2 == 0 else dropped[len(dropped) // 2 :] + dropped[: len(dropped) // 2]
        number += 1
        meeting = [source for one, other in zip(crossed, alive, strict=True) for source in (one, Source(node=other.id))]
        alive = list(_losers_round(number, 2 * drop - 1, meeting))
        nodes += alive
        previous = [Source(node=node.id) for node in alive]
    nodes.append(Node("final1", 2 * rounds, "grand final", (Source(node=f"w{rounds}.1"), previous[-1])))
    return tuple(sorted(nodes, key=lambda node: node.round))


def _winners(size: int, prefix: str, *, step: int) -> Iterator[Node]:
    order = seed_order(size)
    rounds = size.bit_length() - 1
    for number in range(1, rounds + 1):
        for k in range(1, (size >> number) + 1):
            if number == 1:
                sources = (Source(seed=order[2 * k - 2]), Source(seed=order[2 * k - 1]))
            else:
                sources = (
                    Source(node=f"{prefix}{number - 1}.{2 * k - 1}"),
                    Source(node=f"{prefix}{number - 1}.{2 * k}"),
                )
            at = number if step == 1 else max(1, 2 * number - 2)
            yield Node(f"{prefix}{number}.{k}", at, _name(size >> (number - 1), step), sources)


def _name(left: int, step: int) -> str:
    name = {2: "final", 4: "semi-final", 8: "quarter-final"}.get(left, f"round of {left}")
    return f"winners' {name}" if step == 2 else name


def _losers_round(number: int, at: int, sources: list[Source]) -> Iterator[Node]:
    for k in range(0, len(sources), 2):
        yield Node(f"l{number}.{k // 2 + 1}", at, f"losers' round {number}", (sources[k], sources[k + 1]))


@dataclass(frozen=True, slots=True)
class Elimination:
    """``losses`` 1 or 2 put an entrant out. After two a grand final is played again if the winners' side loses it first.

    ``third_place``: the losers of a single elimination's semi-finals play for it.
    """

    losses: int = 1
    third_place: bool = False
    late_entries: bool = False

    def rounds(self, entrants: int) -> int:
        if entrants < 2:
            raise ValueError("an elimination needs two entrants")
        return max(node.round for node in self.bracket(entrants)) + (self.losses == 2)

    def bracket(self, entrants: int) -> tuple[Node, ...]:
        """The nodes; a double elimination may need one more, its second grand final."""
        if self.losses == 1 or entrants < 3:
            nodes = single_bracket(entrants, self.third_place)
            if self.losses == 1:
                return nodes
            final = Node("final1", 2, "grand final", (Source(node="w1.1"), Source(node="w1.1", outcome="loser")))
            return (*nodes, final)
        return double_bracket(entrants)

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        made = []
        for node, players in self.known(event).items():
            if node.id not in event.issued and all(isinstance(player, str) for player in players):
                names = tuple(str(player) for player in players)
                made.append(Pairing(node.id, node.round, names, node.label, decisive=True))
        return tuple(made)

    def known(self, event: Event) -> dict[Node, tuple[Slot, Slot]]:
        """Each node with its players, as far as results tell."""
        filled: dict[Node, tuple[Slot, Slot]] = {}
        outcomes: dict[tuple[str, Outcome], Slot] = {}
        for node in self.bracket(len(event.entrants)):
            players = (_player(node.sources[0], event, outcomes), _player(node.sources[1], event, outcomes))
            filled[node] = players
            outcomes[node.id, "winner"], outcomes[node.id, "loser"] = _outcome(node, players, event)
        if self.losses == 2:
            final = next(node for node in filled if node.id == "final1")
            from_winners, from_losers = filled[final]
            # The winners' side has not lost yet, and a draw by default leaves it ahead by its seed or not at all.
            if (
                isinstance(from_losers, str)
                and outcomes["final1", "winner"] == from_losers
                and from_winners is not None
            ):
                again = Node("final2", final.round + 1, "grand final, second match", final.sources)
                filled[again] = (from_winners, from_losers)
        return filled

    def placed(self, event: Event) -> dict[str, int]:
        """The round in which each entrant was put out; whoever is still in has the last round + 1, the winner + 2."""
        last = self.rounds(len(event.entrants))
        lost: dict[str, list[int]] = {entrant.name: [] for entrant in event.entrants}
        for pairing, result in event.finished():
            if pairing.id != "third":
                winner = winner_of(pairing, result, event)
                for name in pairing.players:
                    if name != winner:  # two who both did not come are out, whatever they had left
                        lost[name] += [pairing.round] * (1 if winner else self.losses)
        out = {
            name: (rounds[self.losses - 1] if len(rounds) >= self.losses else last + 1) for name, rounds in lost.items()
        }
        if (third := event.results.get("third")) is not None:
            pairing = event.issued["third"]
            best = winner_of(pairing, third, event)
            out.update({name: last for name in pairing.players if name == best})
        if not event.open and not self.next_pairings(event):
            champion = [name for name in out if out[name] == last + 1]
            if len(champion) == 1:
                out[champion[0]] = last + 2
        return out


def _player(source: Source, event: Event, outcomes: Mapping[tuple[str, Outcome], Slot]) -> Slot:
    if source.seed:
        return event.entrants[source.seed - 1].name if source.seed <= len(event.entrants) else None
    return outcomes[source.node, source.outcome]


def _outcome(node: Node, players: tuple[Slot, Slot], event: Event) -> tuple[Slot, Slot]:
    """Winner and loser of a node."""
    if PENDING in players:
        return PENDING, PENDING
    if None in players:
        through = players[0] if players[1] is None else players[1]
        return through, None
    result = event.results.get(node.id)
    if result is None:
        return PENDING, PENDING
    pairing = event.issued[node.id]
    winner = winner_of(pairing, result, event)
    if winner is None:
        return None, None
    return winner, next(name for name in pairing.players if name != winner)


def winner_of(pairing: Pairing, result: Result, event: Event) -> str | None:
    """Who advances; None if nobody came."""
    present = [name for name in pairing.players if name not in result.absent]
    if not present:
        return None
    score = dict(zip(pairing.players, result.scores, strict=True))
    return min(present, key=lambda name: (-score[name], event.by_name[name].seed))

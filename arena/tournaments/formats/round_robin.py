"""Round robin and double round robin by Berger's tables."""

from __future__ import annotations

from dataclasses import dataclass

from arena.tournaments.formats.event import Event, Pairing


def berger(players: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Berger's table: by round the pairs of numbers 1..``players``, who begins named first. ``players`` is even.

    In round r the number that meets the last one is p with 2p = r + 1 modulo players - 1, and the others sit around it:
    p + k meets p - k.
    """
    if players < 2 or players % 2:
        raise ValueError("Berger's tables are for an even number of players")
    ring = players - 1
    rounds = []
    for number in range(ring):
        centre = (number * (players // 2)) % ring
        last = (centre + 1, players) if number % 2 == 0 else (players, centre + 1)
        around = (((centre + k) % ring + 1, (centre - k) % ring + 1) for k in range(1, players // 2))
        rounds.append((last, *around))
    return tuple(rounds)


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Everybody meets everybody ``cycles`` times. With an odd field whoever meets the missing number has a bye.

    Pairings are issued all at once, so that no round waits for its slowest game.
    """

    cycles: int = 1
    late_entries: bool = False

    def rounds(self, entrants: int) -> int:
        if entrants < 2:
            raise ValueError("a round robin needs two entrants")
        return self.cycles * (entrants + entrants % 2 - 1)

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        if event.pairings:
            return ()
        names = [entrant.name for entrant in event.entrants]
        table = berger(len(names) + len(names) % 2)
        made = []
        for cycle in range(self.cycles):
            for number, pairs in enumerate(table, cycle * len(table) + 1):
                for board, (first, second) in enumerate(pairs, 1):
                    seated = (second, first) if cycle % 2 else (first, second)
                    # A bye gives nothing here: everybody has one in each cycle.
                    if max(seated) <= len(names):
                        made.append(Pairing(f"r{number}.{board}", number, tuple(names[k - 1] for k in seated)))
        return tuple(made)

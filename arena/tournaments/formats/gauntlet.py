"""Gauntlet: one entrant, the challenger, meets all the others."""

from __future__ import annotations

from dataclasses import dataclass

from arena.tournaments.formats.event import Event, Pairing


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """``challenger`` by name; empty: the first of the field. Those who enter late are met too."""

    challenger: str = ""
    late_entries: bool = True

    def rounds(self, entrants: int) -> int:
        if entrants < 2:
            raise ValueError("a gauntlet needs a challenger and somebody to meet")
        return entrants - 1

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        challenger = self.challenger or event.entrants[0].name
        if event.by_name[challenger].withdrawn:
            return ()
        met = {name for pairing in event.pairings for name in pairing.players}
        fresh = [
            entrant.name
            for entrant in event.entrants
            if entrant.name != challenger and entrant.name not in met and not entrant.withdrawn
        ]
        first = event.last_round + 1
        return tuple(Pairing(f"g{k}", k, (challenger, name)) for k, name in enumerate(fresh, first))

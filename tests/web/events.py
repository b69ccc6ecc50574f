"""Events on a seeded arena: paired and written down by the arena's own code, their sets refereed here when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.storage import tournaments as store
from arena.storage.tournaments import Audience, Stage
from arena.tournaments import entry
from arena.tournaments.progress import SetOrder, State, next_step
from arena.tournaments.remote import games_of, open_ladders
from arena.tournaments.spec import parse
from tests.web.seed import SeededArena


def event_text(name: str, kind: str, bots: Sequence[str], more: str = "", top: str = "") -> str:
    """A tournament.toml of a game of two, with keys at its ``top`` and ``more`` tables at its end."""
    listed = ", ".join(f'"{one}"' for one in bots)
    return f"""\
name = "{name}"
format = "{kind}"
{top}
[[games]]
game = "balloon-challenge"
[field]
bots = [{listed}]
{more}"""


@dataclass(frozen=True, slots=True)
class SeededEvent:
    """An event of a seeded arena."""

    arena: SeededArena
    slug: str

    @classmethod
    def create(cls, arena: SeededArena, text: str) -> SeededEvent:
        """Opens it, not started."""
        spec = parse(text, Path("event.toml"))
        with arena.database.write() as connection:
            store.create(connection, spec, text)
        return cls(arena, spec.slug)

    def start(self) -> SeededEvent:
        """Draws the field."""
        with self.arena.database.write() as connection:
            event = store.get(connection, self.slug)
            store.begin(connection, event.id, entry.draw(connection, event))
            for number, ladder_id in open_ladders(connection, event).items():
                self.arena.ladders[f"{self.slug}/{number}"] = ladder_id
        return self

    def state(self) -> State:
        """What has happened so far."""
        with self.arena.database.read() as connection:
            return store.load(connection, store.get(connection, self.slug))

    def publish(self, stage: Stage, audience: Audience) -> None:
        """As the organiser does."""
        with self.arena.database.write() as connection:
            store.publish(connection, store.get(connection, self.slug).id, stage, audience)

    def play(self, sets: int = 10**6) -> str:
        """Plays so many sets at most; why the event is over, "" if it is not."""
        while True:
            step = next_step(self.state())
            with self.arena.database.write() as connection:
                event = store.get(connection, self.slug)
                if step.over:
                    store.finish(connection, event.id, step.over)
                    return step.over
                store.write(connection, event.id, step)
            if step.orders:
                if sets == 0:
                    return ""
                sets -= 1
                self._play(event, step.orders[0])

    def _play(self, event: store.Tournament, order: SetOrder) -> None:
        stage: Stage = "final" if order.pairing.label == "final" and order.pairing.id.startswith("f") else "main"
        listed = event.audiences[stage] == "public"
        set_id = self.arena.queue(f"{self.slug}/{order.game}", order.pairing.players, rated=False, listed=listed)
        with self.arena.database.write() as connection:
            store.name_set(connection, event.id, order, set_id)
        plan, keep = self.arena.begin(set_id)
        for game in plan.games:
            self.arena.finish_game(plan, game, keep[game.match_id])
        self.arena.settle(set_id)
        with self.arena.database.write() as connection:
            store.record_set(connection, event.id, order, games_of(connection, set_id))

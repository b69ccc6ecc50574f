"""How the sets of an event are had played by the arena, try by try."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.storage.plans import SetState
from arena.storage.tournaments import Attempt
from arena.tournaments.formats.event import Pairing
from arena.tournaments.progress import SetOrder, SetPlayed
from arena.tournaments.remote import TRIES, ArenaBackend, Calling

ORDER = SetOrder(Pairing("m1.1", 1, ("alice", "bob")), 0, 0)
PLAYED = SetPlayed(())


class Played(ArenaBackend):
    """A backend whose sets end as told, one after the other; how many were made outlives it, as in SQL."""

    def __init__(self, ends: list[str], tries: int = 0) -> None:
        self._event: Any = SimpleNamespace(id=1, spec=SimpleNamespace(absence=SimpleNamespace(wait_s=60)))
        self.ends = ends
        self.tries = tries

    async def _read(self, work: Any) -> Any:
        if getattr(work, "func", None) is not None:
            return PLAYED
        return Attempt("s", self.tries) if self.tries else None

    async def _finished(self, set_id: str) -> tuple[SetState, str]:
        end = self.ends.pop(0)
        return (SetState.FINISHED if end == "finished" else SetState.VOID), end

    async def _call(self, order: SetOrder) -> Calling:
        return Calling(seats=(object(), object()))  # type: ignore[arg-type]

    async def _make(self, order: SetOrder, seats: Any) -> None:
        self.tries += 1


async def test_a_pairing_that_the_arena_spoilt_can_be_resumed() -> None:
    """It ends a run after some tries, whoever mends the arena goes on, and tries at which a bot was silent are none of these."""
    run = Played(["infra void"] * TRIES)
    with pytest.raises(ArenaError, match=f"m1.1: {TRIES} sets came to nothing, the last one: infra void"):
        await run.play(ORDER)
    assert await Played(["infra void", "infra void", "finished"], run.tries).play(ORDER) is PLAYED


async def test_tries_at_which_a_bot_was_silent_are_not_the_arenas() -> None:
    """A bot that is slow to be ready does not end the event."""
    assert await Played(["not ready: alice"] * TRIES + ["infra void", "finished"]).play(ORDER) is PLAYED

"""A bot of the SDK that is wrong in the one way that its first argument names; "" is right."""

from __future__ import annotations

import itertools
import signal
import sys
from typing import Any

import botarena
from botarena.session import Session
from botarena.v1 import play_pb2 as pb

WRONG = sys.argv.pop(1)
TURNS = itertools.count()


@botarena.bot()
def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
    return legal[next(TURNS) % len(legal)]  # never the same twice in a row


def spoil() -> None:
    """Makes the SDK do what it should not."""
    handle, opened = Session.handle, Session.stream_opened

    def fights_back(session: Session, event: pb.ArenaEvent) -> None:
        if event.draining.reason != pb.Draining.REASON_REPLACED:
            handle(session, event)

    def hurries(session: Session, event: pb.ArenaEvent) -> None:
        handle(session, event)
        if session.reconnect_within_ms is not None:
            session.reconnect_within_ms = 0

    def forgets(session: Session) -> None:
        opened(session)
        for game in session.games.values():
            game.answer = None

    def drops_dead(session: Session) -> None:
        signal.raise_signal(signal.SIGKILL)

    ways: dict[str, dict[str, Any]] = {
        "": {},
        "fights back": {"handle": fights_back},
        "hurries": {"handle": hurries},
        "forgets its answer": {"stream_opened": forgets},
        "drops dead": {"drain": drops_dead},
    }
    for name, way in ways[WRONG].items():
        setattr(Session, name, way)


if __name__ == "__main__":
    spoil()
    botarena.run(act)

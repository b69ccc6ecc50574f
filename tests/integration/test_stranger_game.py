"""A stranger's game, from a package of its own, on a running arena with the generic part of the protocol only."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import select

from arena.match.record import parse_record
from arena.storage.records import RecordStore
from arena.storage.tables import result
from tests.conformance.test_stranger import STRANGER, install
from tests.integration.harness import RAW_BOT, Arena

LADDER = """
[[ladders]]
game = "goofspiel"
players = 2
"""


def test_a_strangers_game_is_played_on_a_ladder(tmp_path: Path) -> None:
    """With the package on the path and a ladder in arena.toml, a bot of the bare protocol plays it against house bots:
    views travel as JSON, actions by id and text, and the record names the game."""
    install(tmp_path)
    path = os.pathsep.join([str(tmp_path), str(STRANGER)])
    arena = Arena(tmp_path, ladders=LADDER, environment={"PYTHONPATH": path})
    arena.start()
    try:
        arena.start_bot(RAW_BOT, arena.register("ann", "raw"))
        arena.wait_results(6)
        assert arena.reasons()["raw"] == {"NORMAL"}
        with arena.database() as database, database.read() as connection:
            digest = connection.execute(select(result.c.record_digest)).scalars().first()
        record = parse_record(RecordStore(arena.data).read(digest))
        assert record.header["game"] == "goofspiel"
        assert arena.problems() == ()
    finally:
        arena.stop()

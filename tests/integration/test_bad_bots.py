"""Bots that fail get what RELIABILITY says, and slow nobody else."""

from __future__ import annotations

from pathlib import Path

from tests.integration.harness import DEMO_BOT, Arena, until

BAD_BOT = Path(__file__).with_name("bad_bot.py")
EXPECTED = {
    "illegal": "ILLEGAL",  # R14
    "late": "TIMEOUT",  # R9
    "garbage": "MALFORMED",  # R4
    "vanish": "DISCONNECT",  # R10, R20
    "quitter": "DISCONNECT",  # who leaves a set that goes badly loses the rest of it
    "twice": "NORMAL",  # R13
    "elsewhere": "NORMAL",  # R15
    "stale": "NORMAL",  # R12
}


def test_r4_9_10_12_13_14_15_each_bad_bot_gets_its_reason_and_the_others_play_on(arena: Arena) -> None:
    """Illegal, late, garbled, vanished: a loss with that reason; twice, stale, somebody else's: ignored. A good bot
    beside them ends every game NORMAL."""
    arena.start_bot(DEMO_BOT, arena.register("good", "demo"), "--credit", "4")
    for mode in EXPECTED:
        arena.start_bot(BAD_BOT, arena.register(f"owner-{mode}", f"bot-{mode}"), mode)

    def all_have_played() -> bool:
        ended = arena.reasons()
        return all(reason in ended.get(f"bot-{mode}", ()) for mode, reason in EXPECTED.items())

    until(all_have_played, 120, "every bad bot has met its end")
    ended = arena.reasons()
    for mode, reason in EXPECTED.items():
        assert ended[f"bot-{mode}"] <= {reason, "NORMAL"}, (mode, ended)
    for name in ("demo", "random", "greedy", "heuristic"):
        assert ended.get(name, {"NORMAL"}) == {"NORMAL"}, name
    assert arena.problems() == ()

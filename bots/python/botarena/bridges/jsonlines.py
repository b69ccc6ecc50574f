"""Plays a program that speaks lines of JSON on its standard input and output, in whatever language.

    python -m botarena.bridges.jsonlines [--game NAME] [--events] -- COMMAND...

A process is started for each game. It reads a line, an object whose ``type`` says what it is about, and answers only ``act``:

    {"type": "start", "game": "pop", "players": 2, "seat": 0, "config": {...}, "seats": ["me", "them"], "seed": 123}
    {"type": "event", "seq": 4, "actor": "seat", "seat": 1, "id": 7, "text": "play G3"}         with --events
    {"type": "act", "decision": 1, "view": {...}, "legal": [{"id": 3, "text": "play R0"}, ...],
     "clock": {"bank_ms": 10000, "limit_ms": 3000}}                                             each on one line
    {"type": "end", "outcome": "finished", "places": [1, 2], "scores": [12, 9]}

The answer is a line: an id (``3``), a text (``"play R0"``), or ``{"action": 3, "comment": "why"}``. After ``end`` standard
input is closed and the process should end. What it writes to standard error goes where the bridge's does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import botarena
from botarena.bridges.command_line import arguments

GOODBYE_S = 3.0
"""How long a process may take to end after its game."""
SAFE_BITS = 53
"""Numbers above are not read exactly in every language."""


class ProgramFailed(Exception):
    """The program has ended, or its answer makes no sense."""


class LinesBot(botarena.Bot):
    """One game, and the process that plays it."""

    command: ClassVar[Sequence[str]] = ()

    def on_match_start(self, match: botarena.Match) -> None:
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the bridge, which finishes the game
        )
        self._say(
            type="start",
            game=match.game,
            players=match.players,
            seat=match.seat,
            config=dict(match.config),
            seats=[player.bot for player in match.seats],
            seed=match.bot_seed % (1 << SAFE_BITS),
        )

    def act(self, view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
        self._say(
            type="act",
            decision=view.decision_id,
            view=view.json,
            legal=[{"id": action.id, "text": action.text} for action in legal],
            clock={"bank_ms": clock.bank_ms, "limit_ms": clock.limit_ms},
        )
        assert self._process.stdout is not None
        return answer_of(self._process.stdout.readline())

    def on_end(self, result: botarena.Result) -> None:
        process = self._process
        try:
            self._say(type="end", outcome=result.outcome, places=result.places, scores=result.scores)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(GOODBYE_S)
        except (OSError, ProgramFailed):
            pass  # it has gone already
        except subprocess.TimeoutExpired:
            process.kill()
        finally:
            process.wait()

    def _say(self, **message: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message, separators=(",", ":")) + "\n")
        except BrokenPipeError:
            raise ProgramFailed(f"the program has ended, with status {self._process.wait()}") from None


class EventfulLinesBot(LinesBot):
    """Also tells what happens."""

    def on_event(self, event: botarena.Event) -> None:
        self._say(type="event", seq=event.seq, actor=event.actor, seat=event.seat, id=event.id, text=event.text)


def answer_of(line: str) -> botarena.Answer:
    """What a line of the program means. Raises ProgramFailed."""
    if not line:
        raise ProgramFailed("the program has closed its standard output instead of answering")
    try:
        answer = json.loads(line)
    except ValueError:
        raise ProgramFailed(f"the program answered with what is no JSON: {line[:80]!r}") from None
    choice, comment = (answer.get("action"), answer.get("comment", "")) if isinstance(answer, dict) else (answer, "")
    if isinstance(choice, bool) or not isinstance(choice, (int, str)) or not isinstance(comment, str):
        raise ProgramFailed(f'the answer is an id, a text or {{"action": ..., "comment": ...}}, not {line[:80]!r}')
    return (choice, comment) if comment else choice


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m botarena.bridges.jsonlines", description=__doc__.partition("\n")[0]
    )
    parser.usage = "%(prog)s [--game NAME] [--events] [FLAGS] -- COMMAND..."
    parser.add_argument("--events", action="store_true", help="tell the program what happens, not only when to act")
    own, command = _split(sys.argv[1:])
    parsed = arguments(parser, own)
    if not command:
        parser.error("which program? It goes after --")
    base = EventfulLinesBot if parsed.given.events else LinesBot
    bot = type("Lines", (base,), {"command": tuple(command)})
    botarena.run(botarena.bot(*parsed.games)(bot), parsed.rest)


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


if __name__ == "__main__":
    main()

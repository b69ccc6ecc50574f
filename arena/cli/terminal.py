"""A person at the terminal: sees the view of a seat, reads what the others did, types what to do."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

import engines
from arena.cli.colours import painted
from arena.cli.menu import Menu, folded
from botarena.v1 import play_pb2 as pb

HELP: Final = """\
Type an action as it is written in the list, without its first word if you like (`R3` for `play R3`), its number where
the list is numbered, or as much of it as makes it clear. Enter shows the table again, `*` all actions, `?` the rules;
Ctrl-C or Ctrl-D leaves the game.
"""


class Lines:
    """Lines of standard input, read by a thread, so that the arena and its bots go on while a person thinks.

    It reads the file descriptor itself: a buffered file that a thread waits on could not be closed when the program ends.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._thread: threading.Thread | None = None

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input, again and again."""
        if self._thread is None:
            reader = threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True)
            self._thread = reader
            reader.start()
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        left = b""
        while block := self._block():
            *lines, left = (left + block).split(b"\n")
            for line in lines:
                loop.call_soon_threadsafe(self._queue.put_nowait, line.decode(errors="replace"))
        if left:
            loop.call_soon_threadsafe(self._queue.put_nowait, left.decode(errors="replace"))
        loop.call_soon_threadsafe(self._queue.put_nowait, None)

    def _block(self) -> bytes:
        try:
            return os.read(self._descriptor, 1 << 16)
        except OSError:  # the terminal is gone
            return b""


class TerminalPerson:
    """Sits at one seat of one game. ``left`` is set when the input ends before the game does."""

    def __init__(self, game: engines.Game, console: Console, lines: Lines) -> None:
        self._game = game
        self._console = console
        self._lines = lines
        self._names: list[str] = []
        self._news: list[tuple[str, str]] = []
        """(who, what) since the last decision."""
        self.left = asyncio.Event()

    def start(self, started: pb.MatchStarted) -> None:
        self._seat = started.seat
        for seat, player in enumerate(started.seats):
            self._names.append("you" if seat == self._seat else f"{player.bot} (seat {seat})")
        others = ", ".join(name for seat, name in enumerate(self._names) if seat != self._seat)
        self._print(f"{self._game.title}: you are seat {self._seat}, against {others}. Type ? for help.")

    def observe(self, events: Sequence[pb.ObservedEvent]) -> None:
        for event in events:
            by_chance = event.actor == pb.ObservedEvent.ACTOR_CHANCE
            self._news.append(("chance" if by_chance else self._names[event.seat], event.text))

    async def choose(self, request: pb.DecisionRequested) -> int:
        menu = Menu({action.id: action.text for action in request.legal})
        self.show_news()
        self._show(request.view.text, menu)
        while True:
            self._console.print(Text("> ", style="bold"), end="")
            typed = await self._lines.next()
            if typed is None:
                self.left.set()
                await asyncio.Future()  # whoever waits for `left` ends the match
                continue
            if not self._console.is_terminal:
                self._print(typed)  # which a terminal has shown already
            if (choice := self._understood(typed.strip(), request.view.text, menu)) is not None:
                return choice

    def _understood(self, typed: str, table: str, menu: Menu) -> int | None:
        """The choice; None if something was shown instead."""
        if not typed:
            self._show(table, menu)
        elif typed == "?":
            self._console.print(Markdown(self._game.summary))
            self._print(HELP)
        elif typed == "*":
            self._list(menu, menu.find(""))
        elif not (found := menu.find(typed)):
            self._print(f"{typed!r} is not possible now.")
            self._list(menu)
        elif len(found) == 1:
            return found[0]
        else:
            self._list(menu, found)
        return None

    def end(self, ended: pb.MatchEnded) -> None:
        """The result is shown from the record, which has the last table too."""

    def show_result(self, table: str, ended: Sequence[tuple[int, int, str]]) -> None:
        """The last table, and by seat (place, score, how it ended) as a ranking."""
        self._board(table)
        for place, seat in sorted((place, seat) for seat, (place, _, _) in enumerate(ended)):
            _, score, reason = ended[seat]
            failed = "" if reason == "NORMAL" else f", {reason.lower().replace('_', ' ')}"
            self._print(f"{place}. {self._names[seat]}, {score} points{failed}")

    def show_news(self) -> None:
        """What happened since the last decision."""
        for who, run in groupby(self._news, key=itemgetter(0)):
            texts = folded([text for _, text in run], self._console.width - len(who) - 2)
            self._console.print(Text(f"{who}: {texts}", style="dim"))
        self._news.clear()

    def _show(self, table: str, menu: Menu) -> None:
        self._board(table)
        self._list(menu)

    def _board(self, table: str) -> None:
        """In a frame where it fits; as it is where the output is no terminal."""
        board = painted(self._game.name, table)
        widest = max(len(line) for line in table.splitlines())
        if self._console.is_terminal and widest + 4 <= self._console.width:
            self._console.print(Panel(board, expand=False))
        else:
            self._console.print(board, soft_wrap=True)

    def _list(self, menu: Menu, only: list[int] | None = None) -> None:
        for line in menu.lines(self._console.width, only):
            self._print(line)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

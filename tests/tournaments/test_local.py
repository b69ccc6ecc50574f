"""Whole events on this machine, through the command line: to the end, killed, frozen, archived."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from arena.match.record import parse_record
from arena.match.replay import verify
from tests.tournaments.support import ROUND_ROBIN, arena, match_ids, state_of, write_event

RANDOM_BOT = Path(__file__).parents[2] / "bots" / "python" / "raw_random.py"
CUP = """\
name = "<Cup> & more"
slug = "cup"
format = "swiss"
rounds = 2
[[games]]
game = "balloon-pop"
[field]
bots = ["random", "greedy", { name = "mine", program = "mine.py", team = "<i>red</i>" }, { name = "gone", program = "gone.py" }]
[final]
top = 2
max_sets = 5
[absence]
missed = 2
[publication]
final = "hidden"
"""


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished event: house bots, a bot of somebody's, and one that never connects."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "mine.py").write_text(RANDOM_BOT.read_text())
    (folder / "gone.py").write_text("print('I have other plans')\n")
    file = write_event(folder, CUP)
    played = arena("tournament", "run", file, "--json").document
    assert played["state"] == "FINISHED"
    return file


def test_event_is_played_to_its_end(cup: Path) -> None:
    """Everybody is placed, the bot that never came is withdrawn with no wins played, every record verifies."""
    state = state_of(cup)
    table = {row.name: row for row in state.table()}
    assert table["gone"].withdrawn
    assert not any(
        played and "gone" in state.main.issued[pairing].players
        for pairing, played in state.sets.items()
        if pairing in state.main.issued
    )
    order = state.final_order()
    assert order is not None
    assert order.sets == 5
    assert sorted(state.final_table()) == ["gone", "greedy", "mine", "random"]
    assert set(match_ids(state).values()) == {1}
    for path in (cup.with_suffix(".tournament") / "records").rglob("*.gz"):
        verify(parse_record(path.read_bytes()))


def test_viewers_see_what_they_may(cup: Path) -> None:
    """The public sees no trace of a hidden final; once it is published, everything."""
    public = arena("tournament", "status", cup, "--for", "public", "--json").document
    assert public["shown"] == ["main"]
    assert (public["final"], public["places"], public["over"]) == (None, [], "")
    assert {one["stage"] for one in public["pairings"]} == {"main"}
    organiser = arena("tournament", "status", cup, "--json").document
    assert organiser["final"]["sets"] == 5
    assert len(organiser["places"]) == 4


class Page(HTMLParser):
    """Links, scripts and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def test_archive_opens_without_a_server(cup: Path, tmp_path: Path) -> None:
    """All links of the pages lead to files of the folder, names are escaped, hidden results and their records are not there."""
    made = arena("tournament", "archive", cup, tmp_path / "public")
    assert made.status == 0, made.stderr
    pages = list((tmp_path / "public").rglob("*.html"))
    for path in pages:
        page = Page(path.read_text())
        assert not page.tags & {"script", "i", "iframe", "cup"}
        for link in page.links:
            assert (path.parent / link.partition("#")[0]).is_file(), (path, link)
    text = (tmp_path / "public" / "index.html").read_text()
    assert "&lt;Cup&gt; &amp; more" in text
    assert "&lt;i&gt;red" in text
    main_games = [game["match_id"] for one in public_pairings(cup) for games in one["sets"] for game in games]
    records = sorted(path.name.partition(".")[0] for path in (tmp_path / "public" / "records").iterdir())
    assert records == sorted(main_games)
    assert sorted(path.stem for path in pages if path.parent.name == "games") == records
    for path in (tmp_path / "public" / "records").iterdir():
        verify(parse_record(path.read_bytes()))
        assert gzip.decompress(path.read_bytes())
    again = arena("tournament", "archive", cup, tmp_path / "public")
    assert again.status == 2
    assert "not empty" in again.stderr


def public_pairings(file: Path) -> list[dict]:
    return arena("tournament", "status", file, "--for", "public", "--json").document["pairings"]


def test_started_once(cup: Path) -> None:
    """A second run says how to go on instead, and resuming a finished event plays nothing."""
    again = arena("tournament", "run", cup)
    assert again.status == 2
    assert "tournament resume" in again.stderr
    before = match_ids(state_of(cup))
    assert arena("tournament", "resume", cup, "--json").document["state"] == "FINISHED"
    assert match_ids(state_of(cup)) == before


def sets_played(file: Path) -> int:
    """How many sets are written down, -1 before the event has begun."""
    path = file.with_suffix(".tournament") / "state.db"
    if not path.exists():
        return -1
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
        try:
            begun = connection.execute("SELECT count(*) FROM tournament WHERE state != 'OPEN'").fetchone()[0]
            played = connection.execute("SELECT count(*) FROM tournament_set WHERE played_at IS NOT NULL").fetchone()[0]
        except sqlite3.OperationalError:
            return -1
    return int(played) if begun else -1


def run_and_kill(file: Path, command: str, sets: int, delay_s: float = 0.0) -> int:
    """Runs the event until so many sets are written down and a moment longer, then kills it; the process's status."""
    with (file.parent / "run.log").open("ab") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "arena", "tournament", command, str(file)], cwd=file.parent, stdout=log, stderr=log
        )
        while running.poll() is None and sets_played(file) < sets:
            time.sleep(0.02)
        time.sleep(delay_s)
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGKILL)
        return running.wait()


def test_killed_again_and_again(tmp_path: Path) -> None:
    """A runner killed at odd moments and resumed plays every set once, and keeps what it had each time."""
    file = write_event(tmp_path, ROUND_ROBIN.replace('"round-robin"', '"double-round-robin"'))
    before: dict[str, int] = {}
    for kill, sets in enumerate((0, 2, 5, 9)):
        # The delays put the kills between two sets, into the middle of one and into the end of one.
        status = run_and_kill(file, "resume" if kill else "run", sets, delay_s=0.07 * kill)
        assert status == -signal.SIGKILL, (tmp_path / "run.log").read_text()
        now = match_ids(state_of(file))
        assert before.items() <= now.items(), "a game that was written down is gone"
        assert set(now.values()) <= {1}, "a game is there twice"
        before = now
    assert arena("tournament", "resume", file, "--json").document["state"] == "FINISHED"
    state = state_of(file)
    games = match_ids(state)
    assert before.items() <= games.items()
    assert len(state.main.pairings) == 12
    assert all(sorted(state.sets[pairing.id]) == [0] for pairing in state.main.pairings)
    assert set(games.values()) == {1}
    assert len(games) == 12 * 2
    assert sum(row.points for row in state.table()) == 12


def test_two_runners_do_not_share_an_event(tmp_path: Path) -> None:
    """While one process runs an event another is turned away."""
    file = write_event(tmp_path, ROUND_ROBIN)
    first = subprocess.Popen([sys.executable, "-m", "arena", "tournament", "run", str(file)])
    try:
        lock = file.with_suffix(".tournament") / "state.db"
        while not lock.exists():
            assert first.poll() is None
            time.sleep(0.05)
        second = arena("tournament", "resume", file)
        assert second.status == 2 or first.poll() is not None
        assert "another process" in second.stderr or first.poll() is not None
    finally:
        first.kill()
        first.wait()


def test_submissions_are_frozen(tmp_path: Path) -> None:
    """A program that changes after the start is not played: resume names it, and goes on once it is withdrawn."""
    bot = tmp_path / "mine.py"
    bot.write_text(RANDOM_BOT.read_text())
    file = write_event(tmp_path, ROUND_ROBIN.replace('{ name = "other", program = "random" }', '"mine.py"'))
    run_and_kill(file, "run", 1)
    bot.write_text(bot.read_text() + "\n# better now\n")
    refused = arena("tournament", "resume", file)
    assert refused.status == 2
    assert "mine is not the program that it was" in refused.stderr
    assert arena("tournament", "withdraw", file, "mine").status == 0
    finished = arena("tournament", "resume", file, "--json").document
    assert finished["state"] == "FINISHED"


def test_errors_are_told_before_anything_is_written(tmp_path: Path) -> None:
    """A field that needs an arena, an unknown program and a wrong key are told in one line; no state is left behind."""
    for text, said in (
        (ROUND_ROBIN.replace('bots = ["random"', 'bots = ["nobody-knows"'), "line 5, key field.bots: .*no house bot"),
        (
            ROUND_ROBIN.replace('bots = ["random"', 'bots = ["gone.py"'),
            "line 5, key field.bots: there is no file gone.py",
        ),
        (re.sub(r"bots = .*", 'ladder = "balloon-pop-2p"', ROUND_ROBIN), "needs an arena"),
        (ROUND_ROBIN.replace("game =", "gam ="), "line 2, key games.1"),
    ):
        file = write_event(tmp_path, text)
        for command in ("plan", "run"):
            done = arena("tournament", command, file)
            assert done.status == 2
            assert re.search(said, done.stderr)
            assert "\n" not in done.stderr
        assert not file.with_suffix(".tournament").joinpath("state.db").exists()


def test_late_entry(tmp_path: Path) -> None:
    """A Swiss takes a late one, who plays from the next round; a round robin says no."""
    file = write_event(tmp_path, ROUND_ROBIN.replace("round-robin", "swiss"))
    run_and_kill(file, "run", 0)
    state = state_of(file)
    entered = arena("tournament", "enter", file, "late", "--program", "random")
    assert entered.status == 0, entered.stderr
    assert state_of(file).main.by_name["late"].enters == state.main.last_round + 1
    assert arena("tournament", "resume", file, "--json").document["state"] == "FINISHED"
    assert "late" in {row.name for row in state_of(file).table()}

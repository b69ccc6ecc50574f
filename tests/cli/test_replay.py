"""``arena replay``: a match as text, as JSON, and as a page of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli import application
from tests.web.films import record_of

RUNNER = CliRunner()
REPLAY = application("replay")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record whose bots tried to write markup into the page."""
    file = tmp_path / "match.jsonl.gz"
    file.write_bytes(record_of("balloon-challenge", 3, 5, notes=True))
    return file


def test_a_page_is_written_that_needs_nothing_else(record: Path, tmp_path: Path) -> None:
    """One file: no address of anybody's, nothing that ends a script element early, a policy that forbids fetching."""
    page = tmp_path / "match.html"
    result = RUNNER.invoke(REPLAY, ["replay", str(record), "--html", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\"(?!#|\?)", text)
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\"'\s)]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert text.count("</script>") == text.count("<script")
    assert len(re.findall(r"data-film=\"(\w+)\"", text)) == 5


def test_a_seats_page_names_no_card_that_the_seat_did_not_see(record: Path, tmp_path: Path) -> None:
    """With --seat the page has that seat's film alone; a spectator's and the others' are not in the file."""
    page = tmp_path / "match.html"
    assert RUNNER.invoke(REPLAY, ["replay", str(record), "--seat", "2", "--html", str(page)]).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"data-film=\"(\w+)\"", text) == ["2"]
    assert "thought" in text
    assert not re.search(r'"private":\{"[01]"', text)
    assert not re.search(r'"notes":\{"[01]"', text)


def test_what_cannot_be_shown_is_said(record: Path, tmp_path: Path) -> None:
    """A damaged record, a seat that is not there and a folder that is not there are errors of the user, and leave no page."""
    page = tmp_path / "match.html"
    assert RUNNER.invoke(REPLAY, ["replay", str(record), "--seat", "3", "--html", str(page)]).exit_code != 0
    missing = RUNNER.invoke(REPLAY, ["replay", str(record), "--html", str(tmp_path / "no" / "match.html")])
    assert missing.exit_code != 0
    record.write_bytes(record.read_bytes()[:-40])
    assert RUNNER.invoke(REPLAY, ["replay", str(record), "--html", str(page)]).exit_code != 0
    assert not page.exists()

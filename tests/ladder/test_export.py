"""A ladder's export: it verifies, and whatever is changed in it is found."""

from __future__ import annotations

import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from arena.errors import UserError
from arena.keys import load_or_create
from arena.ladder.export import SIGNATURE_TAG, write_export
from arena.ladder.verify import MOST_LINE, ExportReport, verify_export
from arena.settings import LadderSpec
from arena.storage.tables import rating
from tests.web.seed import SeededArena

SPEC = LadderSpec("pop", "pop", 2, {"two_player_variant": True, "rounds": 1})
Line = dict[str, Any]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> SeededArena:
    """A small ladder with finished sets of both deal modes, and one that is still being played."""
    made = SeededArena(tmp_path_factory.mktemp("export"), [SPEC], bots=("zephyr", "gasbag"))
    for mode in ("own", "shared", "own"):
        made.play("pop", ("zephyr", "gasbag"), mode)  # type: ignore[arg-type]
        made.play("pop", ("zephyr", "random"), mode)  # type: ignore[arg-type]
    plan, secrets = made.begin(made.queue("pop", ("gasbag", "greedy"), "shared"))
    made.finish_game(plan, plan.games[0], secrets[plan.games[0].match_id])
    return made


def export(arena: SeededArena, path: Path) -> ExportReport:
    with arena.database.read() as connection:
        write_export(connection, "pop", arena.records, load_or_create(arena.settings.data_dir), path)
    return verify_export(path)


def changed(arena: SeededArena, path: Path, change: Callable[[list[Line]], None], *, sign: bool = True) -> ExportReport:
    """The report on an export that the arena's own operator has changed, and signed again."""
    export(arena, path)
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(lines)
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
    digest = hashlib.sha256(body).digest()
    if sign:
        key = load_or_create(arena.settings.data_dir)
        lines[-1] |= {"sha256": digest.hex(), "signature": key.sign(SIGNATURE_TAG + digest).hex()}
    path.write_bytes(gzip.compress(body + json.dumps(lines[-1]).encode() + b"\n"))
    return verify_export(path)


def first(lines: list[Line], kind: str) -> Line:
    return next(line for line in lines if line["line"] == kind)


def test_an_export_verifies(arena: SeededArena, tmp_path: Path) -> None:
    """All matches are refereed again and all ratings recomputed; the set that is not final is not in it."""
    report = export(arena, tmp_path / "pop.jsonl.gz")
    assert report.problems == []
    assert (report.sets, report.matches, report.ratings) == (6, 12, 5)
    with gzip.open(tmp_path / "pop.jsonl.gz") as file:
        sets = [line for line in map(json.loads, file) if line["line"] == "set"]
    assert {line["state"] for line in sets} == {"FINISHED"}


def test_what_cannot_be_exported_leaves_nothing_behind(arena: SeededArena, tmp_path: Path) -> None:
    """Whole or not at all."""
    with arena.database.read() as connection, pytest.raises(UserError, match="no ladder"):
        write_export(connection, "chess", arena.records, load_or_create(arena.settings.data_dir), tmp_path / "chess.gz")
    assert list(tmp_path.glob("chess*")) == []


def change_places(lines: list[Line]) -> None:
    first(lines, "match")["result"]["places"].reverse()


def change_entry(lines: list[Line]) -> None:
    entry = next(line for line in lines if line["line"] == "entry" and line["kind"] == "RESULT")
    entry["payload"]["places"] = (
        [[1, 2], [1, 2]] if entry["payload"]["places"] != [[1, 2], [1, 2]] else [[2, 1], [2, 1]]
    )


def drop_entry(lines: list[Line]) -> None:
    lines.remove(next(line for line in reversed(lines) if line["line"] == "entry" and line["kind"] == "RESULT"))


def change_rating(lines: list[Line]) -> None:
    first(lines, "rating")["rating"] += 1e-6


def change_secret(lines: list[Line]) -> None:
    first(lines, "match")["attempts"][0]["secret"] = "00" * 32


def change_commitment(lines: list[Line]) -> None:
    first(lines, "match")["attempts"][0]["commitment"] = "00" * 32


def exchange_bots(lines: list[Line]) -> None:
    first(lines, "set")["versions"].reverse()


def drop_set(lines: list[Line]) -> None:
    at = lines.index(first(lines, "set"))
    del lines[at : at + 3]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (change_places, "places are not the refereed ones"),
        (change_entry, "does not say what the matches"),
        (drop_entry, "not in the ledger"),
        (change_rating, "but the ledger gives"),
        (change_secret, "another secret"),
        (change_commitment, "another commitment"),
        (exchange_bots, "other bots sat there"),
        (drop_set, "does not say what the matches"),
    ],
)
def test_every_lie_is_found(
    arena: SeededArena, tmp_path: Path, change: Callable[[list[Line]], None], found: str
) -> None:
    """Even the arena's operator, who can sign again, cannot change a result, a deal, a seat or a rating unnoticed."""
    report = changed(arena, tmp_path / "x.gz", change)
    assert any(found in problem for problem in report.problems), report.problems


def test_whatever_a_line_holds_is_in_the_report(arena: SeededArena, tmp_path: Path) -> None:
    """Any JSON in any member of any kind of line is a problem of the export, or none; never an error of the checker."""
    path = tmp_path / "x.gz"
    export(arena, path)
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    for line in lines:
        if line["line"] == "match":
            line["record"] = None  # to referee them takes its time, and is another test's
    values: tuple[Any, ...] = (None, -1, 1.5, "1", [1], {"a": []})
    for kind in ("header", "version", "set", "match", "entry", "rating"):
        number = lines.index(first(lines, kind))
        for name in sorted(lines[number].keys() - {"line", "export"}):
            for value in values:
                made = [*lines[:number], {**lines[number], name: value}, *lines[number + 1 :]]
                path.write_bytes(gzip.compress(b"\n".join(json.dumps(line).encode() for line in made), 1))
                assert verify_export(path).problems, (kind, name, value)


def test_others_cannot_change_it(arena: SeededArena, tmp_path: Path) -> None:
    """Without the key a change breaks the file's signature; cut short it lacks one; another file is no export."""
    report = changed(arena, tmp_path / "x.gz", change_rating, sign=False)
    assert "the file's lines are not those that were signed" in report.problems
    whole = gzip.decompress((tmp_path / "x.gz").read_bytes())
    (tmp_path / "cut.gz").write_bytes(gzip.compress(whole[: whole.rindex(b"\n", 0, -1) + 1]))
    assert any("is missing" in problem for problem in verify_export(tmp_path / "cut.gz").problems)
    (tmp_path / "other.gz").write_bytes(gzip.compress(b'{"a": 1}\n'))
    with pytest.raises(UserError, match="no export"):
        verify_export(tmp_path / "other.gz")


def test_a_rating_changed_by_hand_is_found_offline(arena: SeededArena, tmp_path: Path) -> None:
    """What the arena shows is not what its ledger gives: the export says so to anybody."""
    version = arena.seats["zephyr"].version_id
    with arena.database.write() as connection:
        connection.execute(update(rating).where(rating.c.version_id == version).values(rating=rating.c.rating + 50))
    report = export(arena, tmp_path / "pop.jsonl.gz")
    with arena.database.write() as connection:
        connection.execute(update(rating).where(rating.c.version_id == version).values(rating=rating.c.rating - 50))
    assert len(report.problems) == 1
    assert f"version {version}" in report.problems[0]


def test_r52_a_line_without_end_is_damage(tmp_path: Path) -> None:
    """A small file that unpacks to a line of any length is not unpacked beyond the bound."""
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(2 * MOST_LINE >> 20):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    report = verify_export(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert any("more than 64 MiB" in problem for problem in report.problems)
    assert most < 2.5 * MOST_LINE

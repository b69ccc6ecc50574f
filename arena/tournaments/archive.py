"""A static folder of an event: pages that open without a server, results as JSON, and the records.

The folder holds what one viewer may see and nothing else: hidden stages are left out, with their records.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from arena.errors import ArenaError, UserError
from arena.match.record import DamagedRecord, ParsedRecord, parse_record
from arena.storage.records import RecordStore
from arena.tournaments.bracket import bracket
from arena.tournaments.crosstable import grid, number
from arena.tournaments.formats.elimination import Elimination
from arena.tournaments.formats.event import Event, Pairing
from arena.tournaments.progress import GamePlayed, SetPlayed, Stage
from arena.tournaments.showing import Shown, document

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]+")


def write_archive(shown: Shown, folder: Path, records: RecordStore) -> int:
    """Writes the folder, which must be new or empty; returns the number of pages. Raises UserError."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; give the archive a folder of its own")
    (folder / "games").mkdir(parents=True)
    (folder / "records").mkdir()
    pages = _pages()
    shutil.copyfile(Path(__file__).parent / "pages" / "archive.css", folder / "archive.css")
    facts = document(shown)
    (folder / "results.json").write_text(json.dumps(facts, indent=2), encoding="utf-8")
    stages = [(stage, event, _rounds(event)) for stage, event in shown.stages()]
    _write(
        folder / "index.html",
        pages.get_template("index.html").render(**_index(shown), stages=stages, facts=facts, root=""),
    )
    count = 1
    for stage, event, rounds in stages:
        for index, pairings in rounds.items():
            page = pages.get_template("round.html").render(
                event=event, stage=stage, number=index, pairings=pairings, shown=shown, facts=facts, root=""
            )
            _write(folder / f"{stage}-{index}.html", page)
            count += 1
    for stage, pairing, played, game in _games(shown):
        record = _copy_record(game, records, folder)
        page = pages.get_template("game.html").render(
            stage=stage,
            pairing=pairing,
            played=played,
            game=game,
            record=record,
            moves=_moves(record),
            facts=facts,
            root="../",
        )
        _write(folder / "games" / f"{_name(game)}.html", page)
        count += 1
    return count


def _pages() -> Environment:
    """Everything is escaped: names come from people."""
    made = Environment(
        loader=PackageLoader("arena.tournaments", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number
    made.filters["percent"] = lambda value: f"{value:.1%}"
    made.filters["page"] = _name
    return made


def _index(shown: Shown) -> dict[str, Any]:
    table = shown.table
    facts: dict[str, Any] = {"table": table, "order": shown.order, "grid": None, "bracket": ""}
    if shown.state is None or not table:
        return facts
    form, main = shown.state.form, shown.state.main
    if isinstance(form, Elimination):
        rounds = {pairing.id: pairing.round for pairing in main.pairings}
        return {**facts, "bracket": bracket(form, main, lambda name: f"main-{rounds[name]}.html#{name}")}
    return {**facts, "grid": grid(form, main, table)}


def _rounds(event: Event) -> dict[int, list[Pairing]]:
    found: dict[int, list[Pairing]] = {}
    for pairing in event.pairings:
        found.setdefault(pairing.round, []).append(pairing)
    return dict(sorted(found.items()))


def _games(shown: Shown) -> Iterator[tuple[Stage, Pairing, SetPlayed, GamePlayed]]:
    for stage, event in shown.stages():
        for pairing in event.pairings:
            for _, played in sorted(shown.sets(pairing).items()):
                for game in played.games:
                    yield stage, pairing, played, game


def _name(game: GamePlayed) -> str:
    """The name of a game's page. Ids are ours, and still no path is made of what is not a plain name."""
    if not _SAFE.fullmatch(game.match_id):
        raise ArenaError(f"{game.match_id!r} is no id of a match")
    return game.match_id


def _copy_record(game: GamePlayed, records: RecordStore, folder: Path) -> ParsedRecord | None:
    """The record, checked and copied; None where none is kept or it is damaged, and then the page says so."""
    if not game.record:
        return None
    try:
        content = records.read(game.record)
        parsed = parse_record(content)
    except (ArenaError, DamagedRecord):
        return None
    (folder / "records" / f"{_name(game)}.jsonl.gz").write_bytes(content)
    return parsed


def _moves(record: ParsedRecord | None) -> list[tuple[str, str]]:
    """(who, what) of each event: a seat's bot, or chance."""
    if record is None:
        return []
    seats = [seat["bot"] for seat in record.header["seats"]]
    found = []
    for event in record.events:
        if "chance" in event:
            found.append(("chance", str(event["text"])))
        for part in event.get("joint", ()):
            what = str(part.get("text", "")) or str(part.get("fault", ""))
            fault = f"{what} ({part['fault']})" if "fault" in part and "text" in part else what
            found.append((seats[part["seat"]], fault))
    return found


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")

"""``arena verify``, ``arena replay`` and ``arena rerun``: what can be done with a record."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

import engines
from arena.cli.common import JsonFlag, console, print_json, program_logs, programs_of
from arena.cli.export import verify_ladder
from arena.errors import UserError
from arena.host.rerun import Difference
from arena.host.rerun import rerun as play_again
from arena.match.record import MOST_BYTES, DamagedRecord, ParsedRecord, parse_record
from arena.match.referee import ChanceDrawn, Event, JointPlayed
from arena.match.replay import Verified
from arena.match.replay import verify as verify_record

RecordFile = Annotated[Path, typer.Argument(metavar="FILE", help="A record: a .jsonl.gz file.")]


def add_to(app: typer.Typer) -> None:
    app.command()(verify)
    app.command()(replay)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(rerun)


def read(file: Path) -> ParsedRecord:
    """A record file whose chain holds. Raises UserError, DamagedRecord."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return parse_record(data)


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Records: .jsonl.gz files.")],
    as_json: JsonFlag = False,
) -> None:
    """Checks records: chain, commitment, deal, every move, the result and the arena's signatures.

    `arena verify ladder EXPORT` does so for all of a ladder's export, and recomputes its ratings. Exits with 1 if one does not hold, and names the first wrong line.
    """
    if len(files) == 2 and str(files[0]) == "ladder":
        verify_ladder(files[1], as_json=as_json)
        return
    results = [_verified(file) for file in files]
    if as_json:
        print_json(results if len(results) > 1 else results[0])
    else:
        for result in results:
            _print_verdict(result)
    if not all(result["ok"] for result in results):
        raise typer.Exit(1)


def _verified(file: Path) -> dict[str, Any]:
    try:
        verified = verify_record(read(file))
    except DamagedRecord as error:
        return {"file": str(file), "ok": False, "line": error.line, "error": str(error)}
    return {
        "file": str(file),
        "ok": True,
        "match_id": verified.spec.match_id,
        "game": verified.spec.game,
        "events": len(verified.events),
        "places": verified.record.footer["places"],
        "scores": verified.record.footer["scores"],
        "head": verified.record.head.hex(),
        "arena_key": verified.record.header["arena_key"],
        "notes": list(verified.notes),
    }


def _print_verdict(result: dict[str, Any]) -> None:
    if not result["ok"]:
        console.print(f"[red]WRONG[/red] {result['file']}: {result['error']}", highlight=False)
        return
    console.print(f"[green]OK[/green] {result['file']}: {result['game']}, {result['events']} events,", end=" ")
    console.print(f"places {result['places']}, signed by {result['arena_key'][:16]}", highlight=False)
    for note in result["notes"]:
        console.print(f"   note: {note}")


def replay(
    file: RecordFile,
    seat: Annotated[int | None, typer.Option(help="Show only what this seat could see.")] = None,
    boards: Annotated[bool, typer.Option(help="Show the position before each decision.")] = True,
    html: Annotated[
        Path | None, typer.Option(metavar="OUT.html", help="Write a page that shows the match, to open from disk.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Shows a recorded match, event by event, as the referee plays it again.

    With --html it writes a page instead: the boards to step through, all in one file that needs no network. With --seat the page
    holds what that seat could see and nothing else.
    """
    try:
        verified = verify_record(read(file))
    except DamagedRecord as error:
        raise UserError(f"{file}: {error}") from None
    players = len(verified.spec.seats)
    if seat is not None and not 0 <= seat < players:
        raise UserError(f"--seat is 0 to {players - 1}")
    if html is not None:
        _write_page(verified, seat, html)
        return
    if as_json:
        print_json(
            {"header": verified.record.header, "events": verified.record.events, "footer": verified.record.footer}
        )
        return
    for line in transcript(verified, seat, boards=boards):
        console.print(line, highlight=False, markup=False)


def _write_page(verified: Verified, seat: int | None, html: Path) -> None:
    from arena.web.offline import offline_page  # noqa: PLC0415 - templates are slow to import
    from arena.web.replay import Replayed  # noqa: PLC0415

    match = Replayed(verified.record, verified.events, verified.notes, None)
    page = offline_page(match, ["all", None, *range(match.players)] if seat is None else [seat])
    try:
        html.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {html}: {error.strerror}") from None
    console.print(f"{html}: {len(verified.events)} events, {len(page.encode()) // 1024} kB", highlight=False)


def rerun(
    file: RecordFile,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The bot's program.")],
    seat: Annotated[int, typer.Option("--seat", help="Whose requests it gets.")],
    as_json: JsonFlag = False,
) -> None:
    """Gives a recorded match's requests to a bot and shows the first move that differs. Exits 1 if one does."""
    record = _good(file)
    players = record.header["players"]
    if not 0 <= seat < players:
        raise UserError(f"--seat is 0 to {players - 1}")
    with program_logs() as logs:
        program = programs_of([shlex.join(command) if len(command) > 1 else command[0]], logs.folder)[0]
        outcome = asyncio.run(play_again(record, seat, program))
    difference = outcome.difference
    game = engines.get(record.header["game"])
    if as_json:
        print_json({"same": outcome.same, "difference": None if difference is None else _difference(game, difference)})
    elif difference is None:
        console.print(f"{program.name} answered all {outcome.same} requests as recorded")
    else:
        said = _difference(game, difference)
        console.print(difference.request.state.render(seat), highlight=False, markup=False)
        console.print(f"event {said['seq']}: recorded {said['recorded']}, now {said['now']}", highlight=False)
        console.print(f"{outcome.same} answers before it agreed")
    if difference is not None:
        raise typer.Exit(1)


def _good(file: Path) -> ParsedRecord:
    try:
        record = read(file)
        verify_record(record)
    except DamagedRecord as error:
        raise UserError(f"{file}: {error}") from None
    return record


def _difference(game: engines.Game, difference: Difference) -> dict[str, Any]:
    now = difference.now
    recorded = difference.recorded.action
    return {
        "seq": difference.seq,
        "decision": difference.request.decision_id,
        "recorded": None if recorded is None else game.text(recorded),
        "now": game.text(now.action) if now.action is not None else f"{now.fault} {now.detail}".strip(),
    }


def transcript(verified: Verified, seat: int | None, *, boards: bool) -> list[str]:
    """A match as lines of text; with a seat, what that seat could see, and everything otherwise."""
    spec, game = verified.spec, engines.get(verified.spec.game)
    names = [f"{player.bot} {player.version}" for player in spec.seats]
    lines = [f"{game.title}, match {spec.match_id}: " + ", ".join(f"seat {i} {name}" for i, name in enumerate(names))]
    for event in verified.events:
        if boards and isinstance(event, JointPlayed):
            lines += ["", event.before.render(seat)]
        lines.append(describe(game, event, seat))
    footer = verified.record.footer
    lines.append("")
    for i, name in enumerate(names):
        lines.append(f"{footer['places'][i]}. {name} (seat {i}): {footer['scores'][i]} points, {footer['reasons'][i]}")
    return lines


def describe(game: engines.Game, event: Event, seat: int | None) -> str:
    """One event in words."""
    if isinstance(event, ChanceDrawn):
        seen = seat is None or event.before.sees(seat, None, event.outcome)
        return f"{event.seq:4}  chance  {game.text(event.outcome) if seen else '(hidden)'}"
    parts = []
    for part in event.parts:
        text = game.text(part.action) if part.action is not None else "nothing"
        why = "" if part.source == "bot" else f" [{part.source}]"
        fault = f" {part.fault}: {part.detail}" if part.fault else ""
        parts.append(f"seat {part.seat} {text}{why}{fault} ({part.charged_ms} ms)")
    return f"{event.seq:4}  " + "; ".join(parts)

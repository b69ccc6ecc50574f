"""``arena sprt``: is the new version better than the old one? A test that stops as soon as it knows, on this machine."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.text import Text

from arena.cli.common import (
    Bank,
    ConfigOption,
    GameOption,
    Increment,
    JsonFlag,
    MoveCap,
    console,
    find_game,
    parse_config,
    print_json,
    program_logs,
    programs_of,
    progress_console,
)
from arena.errors import UserError
from arena.host.house import HOUSE
from arena.host.local_match import LocalGame, LocalMatch, play_local
from arena.match.spec import TimeControl
from arena.ratings.sprt import Hypotheses, Sprt, Verdict, set_score

EXIT_CODES = {Verdict.H1: 0, Verdict.H0: 1, Verdict.CONTINUE: 3}
BAR = 41
BIASED = (
    "The interval is biased, away from where the test would have gone on: it stopped because of this very result. "
    "For an unbiased one play a fixed number of games with `arena match`."
)


def add_to(app: typer.Typer) -> None:
    app.command()(sprt)


@dataclass(slots=True)
class Run:
    """A test as its state file keeps it. ``scores``: by number of the set, in steps of the support."""

    new: str
    old: str
    game: str
    players: int
    config: dict[str, bool | int]
    elo0: float
    elo1: float
    alpha: float
    beta: float
    seed: int | None
    own_deals: bool
    bank_ms: int
    increment_ms: int
    move_cap_ms: int
    max_sets: int
    scores: dict[int, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=lambda: {"new": 0, "old": 0})

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all."""
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)), encoding="utf-8")
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> Run:
        """Raises UserError."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            document["scores"] = {int(number): steps for number, steps in document["scores"].items()}
            return cls(**document)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{path} is no state file of arena sprt") from None

    def test(self) -> Sprt:
        """The test with all sets played so far. Raises UserError if there can be no such test."""
        try:
            made = Sprt(Hypotheses(self.elo0, self.elo1, self.alpha, self.beta), self.players)
        except ValueError as error:
            raise UserError(str(error)) from None
        for number, steps in self.scores.items():
            made.add(number, Fraction(steps, self.steps))
        return made

    @property
    def steps(self) -> int:
        """By how many steps a set's score goes from 0 to 1."""
        return 2 * self.players * (self.players - 1)


def sprt(
    new: Annotated[str | None, typer.Argument(help="The new version: a Python file, a command or a house bot.")] = None,
    old: Annotated[str | None, typer.Argument(help="The old one, which takes all other seats.")] = None,
    game: GameOption = "balloon-challenge",
    players: Annotated[int | None, typer.Option("--players", "-p", help="Seats; by default the fewest.")] = None,
    config: ConfigOption = [],  # noqa: B006 - typer copies it
    elo0: Annotated[float, typer.Option(help="H0: the new version is so much better.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1: the new version is so much better.")] = 20.0,
    alpha: Annotated[float, typer.Option(help="How often H1 may be accepted though H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often H0 may be accepted though H1 is true.")] = 0.05,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeats deals.")] = None,
    own_deals: Annotated[
        bool, typer.Option("--own-deals", help="Deals each game afresh and lets programs live on: faster, more luck.")
    ] = False,
    bank_ms: Bank = 10_000,
    increment_ms: Increment = 100,
    move_cap_ms: MoveCap = 3_000,
    max_sets: Annotated[int, typer.Option(min=1, help="Gives up without a verdict after so many.")] = 10_000,
    concurrency: Annotated[int, typer.Option(min=1, help="Sets played at once.")] = max(1, (os.cpu_count() or 1) // 2),
    state: Annotated[Path | None, typer.Option("--state", metavar="FILE", help="Where the test is kept.")] = None,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Goes on with a test.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Plays NEW against copies of OLD until one of two hypotheses about the difference is accepted, on this machine.

    `arena trial` has a running arena do it.
    The games of a set share one deal, seats rotate, and sets count in the order issued. Exit code: 0 if H1 is accepted
    (better), 1 if H0 is, 3 without a verdict. Ctrl-C keeps what was played and prints how to go on.
    """
    if resume is not None:
        run, path = Run.load(resume), resume
    else:
        if new is None or old is None:
            raise UserError("say which is new and which is old: arena sprt NEW OLD")
        rules = find_game(game)
        seats = players or rules.min_players
        complete = parse_config(rules, seats, config)
        times = (bank_ms, increment_ms, move_cap_ms)
        run = Run(new, old, rules.name, seats, complete, elo0, elo1, alpha, beta, seed, own_deals, *times, max_sets)
        path = state or Path(f"arena-sprt-{os.urandom(3).hex()}.json")
        if path.exists():
            raise UserError(f"{path} exists; go on with it by: {_resume_command(path)}")
    test = run.test()
    try:
        if test.verdict is Verdict.CONTINUE:
            _play(run, test, path, concurrency)
    except KeyboardInterrupt:
        if run.scores:
            print(f"\nto go on: {_resume_command(path)}", file=sys.stderr)
        raise
    _report(run, test, path, as_json=as_json)
    if test.verdict is not Verdict.CONTINUE and state is None:
        path.unlink(missing_ok=True)
    raise typer.Exit(EXIT_CODES[test.verdict])


def _resume_command(path: Path) -> str:
    return f"arena sprt --resume {shlex.quote(str(path))}"


def _play(run: Run, test: Sprt, path: Path, concurrency: int) -> None:
    with program_logs() as logs:
        programs = programs_of([run.new, *[run.old] * (run.players - 1)], logs.folder)
        plan = LocalMatch(
            game=run.game,
            config=run.config,
            programs=programs,
            games=run.max_sets * run.players,
            time_control=TimeControl(run.bank_ms, run.increment_ms, run.move_cap_ms),
            deal_mode="own" if run.own_deals else "shared",
            seed=run.seed,
            concurrency=concurrency,
            fresh=frozenset(i for i, program in enumerate(programs) if program.owner != HOUSE),
            skip=frozenset(run.scores),
        )
        before = sum(run.faults.values())
        try:
            with Live(_line(run, test), console=progress_console, transient=True) as live:
                asyncio.run(_until_verdict(run, test, plan, path, live))
        finally:
            if sum(run.faults.values()) > before:
                logs.wanted = True
                progress_console.print(f"what the programs printed: {logs.folder}", highlight=False, soft_wrap=True)


async def _until_verdict(run: Run, test: Sprt, plan: LocalMatch, path: Path, live: Live) -> None:
    """Ends the match with the verdict: sets that were still being played then are not counted."""
    unfinished: dict[int, list[tuple[int, ...]]] = {}

    def on_game(game: LocalGame) -> None:
        outcome = game.finished.outcome
        for seat, reason in enumerate(outcome.reasons):
            run.faults["new" if game.order[seat] == 0 else "old"] += reason != "NORMAL"
        played = unfinished.setdefault(game.set_number, [])
        played.append(tuple(outcome.places[game.order.index(position)] for position in range(run.players)))
        if len(played) < run.players:
            return
        score = set_score(unfinished.pop(game.set_number), 0)
        run.scores[game.set_number] = int(score * run.steps)
        run.save(path)
        if test.add(game.set_number, score) is not Verdict.CONTINUE:
            playing.cancel()
        live.update(_line(run, test))

    playing = asyncio.create_task(play_local(plan, on_game))
    try:
        await playing
    except asyncio.CancelledError:
        if test.verdict is Verdict.CONTINUE:
            playing.cancel()
            raise


def _line(run: Run, test: Sprt) -> Text:
    summary = test.summary()
    sets = f"{test.consumed} sets ({len(run.scores)} played)"
    return Text(gauge(test.llr, test.hypotheses.bounds, sets, summary.elo, summary.error, summary.los))


def gauge(
    llr: float, bounds: tuple[float, float], sets: str, elo: float | None, error: float | None, los: float
) -> str:
    """Where the LLR stands between its bounds, and what the sets say so far."""
    lower, upper = bounds
    place = round((min(max(llr, lower), upper) - lower) / (upper - lower) * (BAR - 1))
    bar = "".join("●" if k == place else "─" for k in range(BAR))
    interval = "" if elo is None else f", Elo {elo:+.1f} ± {error or 0:.1f}"
    return f"H0 {lower:+.2f} {bar} {upper:+.2f} H1\nLLR {llr:+.2f}, {sets}{interval}, LOS {los:.1%}"


def _report(run: Run, test: Sprt, path: Path, *, as_json: bool) -> None:
    summary, verdict = test.summary(), test.verdict
    stopped = verdict is not Verdict.CONTINUE
    if as_json:
        document: dict[str, Any] = asdict(run)
        del document["scores"]
        print_json(
            {
                **document,
                "verdict": str(verdict),
                "llr": round(test.llr, 4),
                "bounds": [round(bound, 4) for bound in test.hypotheses.bounds],
                "sets": test.consumed,
                "counts": test.counts,
                "score": round(summary.score, 6),
                "elo": summary.elo,
                "error": summary.error,
                "los": round(summary.los, 6),
                "interval_is_biased": stopped,
                "state": None if stopped else str(path),
            }
        )
        return
    meanings = {
        Verdict.H1: f"[green]H1 accepted[/green]: {run.new} is better than {run.old} by {run.elo1:g} Elo rather than {run.elo0:g}",
        Verdict.H0: f"[red]H0 accepted[/red]: {run.new} is better than {run.old} by {run.elo0:g} Elo rather than {run.elo1:g}",
        Verdict.CONTINUE: f"no verdict after {test.consumed} sets",
    }
    console.print(meanings[verdict], highlight=False)
    console.print(_line(run, test), highlight=False)
    if stopped:
        console.print(BIASED)
    if any(run.faults.values()):
        console.print(
            f"Faults count as losses: the new version had {run.faults['new']}, the old one {run.faults['old']}."
        )

"""``arena trial``: is the new version better? As ``arena sprt``, but played by a running arena."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text

from arena.cli.challenge import showing_document
from arena.cli.common import JsonFlag, console, print_json, progress_console
from arena.cli.dial import CALL_TIMEOUT_S, DEFAULT_ADDRESS, Address, bearer, call, dial
from arena.cli.sprt import BIASED, EXIT_CODES, gauge
from arena.errors import UserError
from arena.ratings.sprt import Verdict
from arena.settings import MOST
from botarena.v1 import trial_service_pb2 as pb
from botarena.v1.trial_service_pb2_grpc import TrialServiceStub

POLL_S = 1.0
VERDICTS = {
    pb.Trial.VERDICT_NONE: Verdict.CONTINUE,
    pb.Trial.VERDICT_H0: Verdict.H0,
    pb.Trial.VERDICT_H1: Verdict.H1,
}


def add_to(app: typer.Typer) -> None:
    app.command()(trial)


def trial(
    ladder: Annotated[
        str | None, typer.Argument(metavar="LADDER", help="Whose game, seats and clock are meant.")
    ] = None,
    new: Annotated[
        str | None, typer.Argument(help="The new version: BOT@VERSION, or BOT for its current one there.")
    ] = None,
    old: Annotated[str | None, typer.Argument(help="The old one, which takes all other seats.")] = None,
    elo0: Annotated[float, typer.Option(help="H0: the new version is so much better.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1: the new version is so much better.")] = 20.0,
    alpha: Annotated[float, typer.Option(help="How often H1 may be accepted though H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often H0 may be accepted though H1 is true.")] = 0.05,
    max_sets: Annotated[int, typer.Option(min=1, max=MOST, help="Gives up without a verdict after so many.")] = 2_000,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until there is a verdict.")] = True,
    follow: Annotated[
        str | None, typer.Option("--follow", metavar="ID", help="Looks at one that was asked for.")
    ] = None,
    cancel: Annotated[str | None, typer.Option("--cancel", metavar="ID", help="Ends one of yours.")] = None,
    address: Address = DEFAULT_ADDRESS,
    as_json: JsonFlag = False,
) -> None:
    """Has the arena play NEW against copies of OLD, unrated, until one of two hypotheses is accepted.

    Both have to be connected at once, each with an --instance of its own and OLD with a credit for each of its seats, or
    are house bots. ARENA_TOKEN says who you are; without arguments your trials are listed. The trial goes on without this
    command. Exit code: 0 if H1 is accepted (better), 1 if H0 is, 3 without a verdict.
    """
    with dial(address) as channel:
        stub = TrialServiceStub(channel)
        if cancel is not None:
            request = pb.CancelTrialRequest(trial_id=cancel)
            found = call(lambda: stub.CancelTrial(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address).trial
        elif follow is None and ladder is None:
            answer = call(
                lambda: stub.ListTrials(pb.ListTrialsRequest(), timeout=CALL_TIMEOUT_S, metadata=bearer()), address
            )
            _list(list(answer.trials), as_json=as_json)
            return
        else:
            if follow is None:
                if ladder is None or new is None or old is None:
                    raise UserError("say what is to be compared: arena trial LADDER NEW OLD")
                asked = pb.CreateTrialRequest(
                    ladder=ladder,
                    new_version=new,
                    old_version=old,
                    elo0=elo0,
                    elo1=elo1,
                    alpha=alpha,
                    beta=beta,
                    most_sets=max_sets,
                )
                follow = call(
                    lambda: stub.CreateTrial(asked, timeout=CALL_TIMEOUT_S, metadata=bearer()), address
                ).trial.trial_id
            found = _followed(stub, address, follow, wait=wait)
    _show(found, as_json=as_json)
    if wait:
        raise typer.Exit(EXIT_CODES[VERDICTS[found.verdict]])


def _followed(stub: TrialServiceStub, address: str, trial_id: str, *, wait: bool) -> pb.Trial:
    """The trial, once it is over if that is to be waited for."""
    request = pb.GetTrialRequest(trial_id=trial_id)
    with Live("waiting", console=progress_console, transient=True) as live:
        try:
            while True:
                found = call(lambda: stub.GetTrial(request, timeout=CALL_TIMEOUT_S), address).trial
                if found.over or not wait:
                    return found
                live.update(_line(found))
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            live.stop()
            progress_console.print(f"it goes on; to look again: arena trial --follow {trial_id}")
            raise


def _line(found: pb.Trial) -> Text:
    missing = f"\nnot connected: {', '.join(found.away)}" if found.away else ""
    elo, error = (getattr(found.showing, name) if found.showing.HasField(name) else None for name in ("elo", "error"))
    sets = f"{found.showing.sets} of at most {found.most_sets} sets"
    bounds = found.lower_bound, found.upper_bound
    return Text(gauge(found.llr, bounds, sets, elo, error, found.showing.los) + missing)


def _list(found: list[pb.Trial], *, as_json: bool) -> None:
    if as_json:
        print_json([_document(one) for one in found])
        return
    table = Table(Column("trial", no_wrap=True, overflow="fold"), "ladder", "new", "old", "sets", "LLR", "")
    for one in found:
        state = one.reason if one.over else "waits for " + ", ".join(one.away) if one.away else "open"
        table.add_row(
            one.trial_id, one.ladder, one.new_version, one.old_version, str(one.showing.sets), f"{one.llr:+.2f}", state
        )
    console.print(table if found else "no trials")


def _show(found: pb.Trial, *, as_json: bool) -> None:
    if as_json:
        print_json(_document(found))
        return
    verdict = VERDICTS[found.verdict]
    better = f"{found.new_version} is better than {found.old_version}"
    heads = {
        Verdict.H1: f"[green]H1 accepted[/green]: {better} by {found.elo1:g} Elo rather than {found.elo0:g}",
        Verdict.H0: f"[red]H0 accepted[/red]: {better} by {found.elo0:g} Elo rather than {found.elo1:g}",
        Verdict.CONTINUE: f"over: {found.reason}" if found.over else "no verdict yet",
    }
    console.print(f"trial {found.trial_id}, {found.ladder}", highlight=False)
    console.print(heads[verdict], highlight=False)
    console.print(_line(found), highlight=False)
    if verdict is not Verdict.CONTINUE:
        console.print(BIASED)


def _document(found: pb.Trial) -> dict[str, Any]:
    verdict = VERDICTS[found.verdict]
    return {
        "id": found.trial_id,
        "ladder": found.ladder,
        "new": found.new_version,
        "old": found.old_version,
        "elo0": found.elo0,
        "elo1": found.elo1,
        "alpha": found.alpha,
        "beta": found.beta,
        "verdict": str(verdict),
        "llr": round(found.llr, 4),
        "bounds": [round(found.lower_bound, 4), round(found.upper_bound, 4)],
        "counts": list(found.counts),
        "summary": showing_document(found.showing),
        "interval_is_biased": verdict is not Verdict.CONTINUE,
        "max_sets": found.most_sets,
        "over": found.over,
        "reason": found.reason,
        "away": list(found.away),
    }

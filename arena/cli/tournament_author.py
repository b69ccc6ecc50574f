"""The part of ``arena tournament`` that authors use: they ask a running arena's gateway, from anywhere."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from google.protobuf.json_format import MessageToDict
from rich.table import Table

from arena.cli.common import JsonFlag, console, print_json
from arena.cli.dial import CALL_TIMEOUT_S, DEFAULT_ADDRESS, Address, bearer, call, dial, maybe_bearer
from arena.tournaments.crosstable import number
from botarena.v1 import tournament_service_pb2 as pb
from botarena.v1.tournament_service_pb2_grpc import TournamentServiceStub

Slug = Annotated[
    str, typer.Argument(metavar="EVENT", help="The event's short name, as `arena tournament list` has it.")
]
Bot = Annotated[str, typer.Argument(help="Which of your bots; the one that the token was made for if left out.")]

_STATES = {
    pb.TOURNAMENT_STATE_OPEN: "open",
    pb.TOURNAMENT_STATE_RUNNING: "running",
    pb.TOURNAMENT_STATE_FINISHED: "over",
}


def add_to(app: typer.Typer) -> None:
    for command in (join, leave, show):
        app.command()(command)
    app.command("list")(list_events)


def join(
    code: Annotated[str, typer.Argument(help="What the organiser gave you.")],
    bot: Bot = "",
    team: Annotated[str, typer.Option("--team", help="The team it plays for.")] = "",
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Enters your bot into an event; ARENA_TOKEN holds a token of your account."""
    request = pb.JoinTournamentRequest(join_code=code, bot=bot, team=team)
    answer: pb.JoinTournamentResponse = _ask("JoinTournament", request, address, bearer())
    event, entrant = answer.tournament, answer.entrant
    late = event.state == pb.TOURNAMENT_STATE_RUNNING
    then = "it plays from the next round on" if late else "its newest version when the event begins is what plays"
    console.print(f"{entrant.bot} is in {event.title} ({event.name}): {then}", highlight=False)


def leave(event: Slug, bot: Bot = "", address: Address = DEFAULT_ADDRESS) -> None:
    """Takes your bot out of an event: before it begins as if it had never joined, afterwards for good."""
    request = pb.LeaveTournamentRequest(tournament=event, bot=bot)
    answer: pb.LeaveTournamentResponse = _ask("LeaveTournament", request, address, bearer())
    console.print(f"it is out of {answer.tournament.title}", highlight=False)


def list_events(address: Address = DEFAULT_ADDRESS, as_json: JsonFlag = False) -> None:
    """Lists the events of an arena, the newest first."""
    answer: pb.ListTournamentsResponse = _ask("ListTournaments", pb.ListTournamentsRequest(), address, maybe_bearer())
    if as_json:
        print_json(_document(answer))
        return
    table = Table("event", "title", "format", "state")
    for one in answer.tournaments:
        table.add_row(one.name, one.title, one.format, _STATES.get(one.state, ""))
    console.print(table, highlight=False)


def show(event: Slug, address: Address = DEFAULT_ADDRESS, as_json: JsonFlag = False) -> None:
    """Shows an event as you may see it: with a token in ARENA_TOKEN also what is for those who play or organise."""
    answer: pb.GetTournamentResponse = _ask(
        "GetTournament", pb.GetTournamentRequest(tournament=event), address, maybe_bearer()
    )
    if as_json:
        print_json(_document(answer))
        return
    about = answer.tournament
    console.print(f"{about.title}: {about.format}, {_STATES.get(about.state, '')}", style="bold", highlight=False)
    if answer.HasField("final"):
        final = Table("#", "finalist", "P(better than the next)", title=f"final, {answer.final.sets} sets")
        sure = [f"{one:.1%}" for one in answer.final.above]
        for place, name in enumerate(answer.final.bots, 1):
            final.add_row(str(place), name, sure[place - 1] if place <= len(sure) else "")
        console.print(final, highlight=False)
    if answer.standings:
        table = Table("#", "bot", "points", "W", "D", "L")
        for row in answer.standings:
            table.add_row(str(row.rank), row.bot, number(row.points), str(row.won), str(row.drawn), str(row.lost))
        console.print(table, highlight=False)
        return
    console.print("field: " + ", ".join(one.bot for one in answer.field), highlight=False)
    if about.state != pb.TOURNAMENT_STATE_OPEN:
        console.print("You may not see its results yet.")


def _ask(method: str, request: Any, address: str, metadata: Any) -> Any:
    """What the service's method answers. Raises UserError."""
    with dial(address) as channel:
        ask = getattr(TournamentServiceStub(channel), method)
        return call(lambda: ask(request, timeout=CALL_TIMEOUT_S, metadata=metadata), address)


def _document(answer: Any) -> dict[str, Any]:
    return MessageToDict(answer, preserving_proto_field_name=True)

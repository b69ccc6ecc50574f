"""``arena challenge``: unrated games against named opponents of a running arena."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from arena.cli.common import JsonFlag, console, print_json, progress_console
from arena.cli.dial import CALL_TIMEOUT_S, DEFAULT_ADDRESS, Address, bearer, call, dial
from arena.errors import UserError
from botarena.v1 import challenge_service_pb2 as pb
from botarena.v1.challenge_service_pb2_grpc import ChallengeServiceStub

POLL_S = 1.0


def add_to(app: typer.Typer) -> None:
    app.command()(challenge)


def challenge(
    ladder: Annotated[
        str | None, typer.Argument(metavar="LADDER", help="Whose game, seats and clock are meant.")
    ] = None,
    bot: Annotated[
        str | None, typer.Argument(metavar="BOT", help="Yours; BOT@VERSION, or its current version there.")
    ] = None,
    opponents: Annotated[
        list[str] | None, typer.Argument(metavar="OPPONENT...", help="As many as there are other seats.")
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", help="Rounded up to whole sets.")] = 10,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=-(2**63), max=2**63 - 1, help="Chooses the deals; the same seed deals the same."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is over, and print how it went.")] = True,
    follow: Annotated[
        str | None, typer.Option("--follow", metavar="ID", help="Looks at one that was asked for.")
    ] = None,
    cancel: Annotated[str | None, typer.Option("--cancel", metavar="ID", help="Ends one of yours.")] = None,
    address: Address = DEFAULT_ADDRESS,
    as_json: JsonFlag = False,
) -> None:
    """Has unrated games played, as soon as everybody has a free seat; without arguments lists what you asked for.

    ARENA_TOKEN says who you are. The games move no rating.
    """
    with dial(address) as channel:
        stub = ChallengeServiceStub(channel)
        if cancel is not None:
            request = pb.CancelChallengeRequest(challenge_id=cancel)
            found = call(lambda: stub.CancelChallenge(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
            _show(found.challenge, as_json=as_json)
            return
        if follow is not None:
            asked_for = follow
        elif ladder is not None and bot is not None and opponents:
            asked_for = _create(stub, address, ladder, bot, opponents, games, seed)
        elif ladder is None:
            answer = call(
                lambda: stub.ListChallenges(pb.ListChallengesRequest(), timeout=CALL_TIMEOUT_S, metadata=bearer()),
                address,
            )
            _list(list(answer.challenges), as_json=as_json)
            return
        else:
            raise UserError("say who plays: arena challenge LADDER BOT OPPONENT...")
        _show(_followed(stub, address, asked_for, wait=wait), as_json=as_json)


def _create(
    stub: ChallengeServiceStub, address: str, ladder: str, bot: str, opponents: list[str], games: int, seed: int | None
) -> str:
    request = pb.CreateChallengeRequest(ladder=ladder, bot=bot, opponents=opponents, games=max(0, games), seed=seed)
    answer = call(lambda: stub.CreateChallenge(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    return answer.challenge.challenge_id


def _followed(stub: ChallengeServiceStub, address: str, challenge_id: str, *, wait: bool) -> pb.Challenge:
    """The challenge, once it is over if that is to be waited for."""
    request = pb.GetChallengeRequest(challenge_id=challenge_id)
    with progress_console.status("waiting") as status:
        try:
            while True:
                found = call(lambda: stub.GetChallenge(request, timeout=CALL_TIMEOUT_S), address).challenge
                if found.over or not wait:
                    return found
                missing = f"; not connected: {', '.join(found.away)}" if found.away else ""
                status.update(f"{found.sets_finished} of {found.sets} sets{missing}")
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            progress_console.print(f"it goes on; to look again: arena challenge --follow {challenge_id}")
            raise


def _list(found: list[pb.Challenge], *, as_json: bool) -> None:
    if as_json:
        print_json([as_document(one) for one in found])
        return
    table = Table(Column("challenge", no_wrap=True, overflow="fold"), "ladder", "players", "sets", "score", "")
    for one in found:
        score = f"{one.showing.score:.1%}" if one.showing.sets else "-"
        how_far = "over" if one.over else "waits for " + ", ".join(one.away) if one.away else "open"
        sets = f"{one.sets_finished}/{one.sets}"
        table.add_row(one.challenge_id, one.ladder, ", ".join(one.players), sets, score, how_far)
    console.print(table if found else "no challenges")


def _show(found: pb.Challenge, *, as_json: bool) -> None:
    if as_json:
        print_json(as_document(found))
        return
    console.print(f"challenge {found.challenge_id}: {found.sets_finished} of {found.sets} sets", highlight=False)
    if found.away:
        console.print(f"not connected: {', '.join(found.away)}", highlight=False)
    showing = found.showing
    if showing.sets:
        elo = f", Elo {showing.elo:+.0f} ± {showing.error:.0f}" if showing.HasField("error") else ""
        console.print(f"{found.players[0]} scored {showing.score:.1%}{elo}", highlight=False)
        console.print(f"matches: {' '.join(found.match_ids)}", highlight=False)


def as_document(found: pb.Challenge) -> dict[str, Any]:
    """As JSON."""
    return {
        "id": found.challenge_id,
        "ladder": found.ladder,
        "players": list(found.players),
        "sets": found.sets,
        "sets_finished": found.sets_finished,
        "over": found.over,
        "seed": found.seed if found.HasField("seed") else None,
        "away": list(found.away),
        "matches": list(found.match_ids),
        "summary": showing_document(found.showing),
    }


def showing_document(showing: pb.Showing) -> dict[str, Any]:
    """As JSON."""
    return {
        "sets": showing.sets,
        "score": showing.score,
        "elo": showing.elo if showing.HasField("elo") else None,
        "error": showing.error if showing.HasField("error") else None,
        "los": showing.los,
    }

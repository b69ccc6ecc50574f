"""Tournaments by gRPC: what the caller may see of them, joining with a code, withdrawing."""

# ruff: noqa: N802 - methods are called what the services call them

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

import grpc
from sqlalchemy import Connection

from arena.errors import QuotaExceeded, UserError
from arena.gateway.calls import (
    Asking,
    CallFailed,
    Context,
    PerAddress,
    answer,
    has_token,
    named,
    page_offset,
    page_size,
)
from arena.gateway.limits import Guesses
from arena.gateway.messages import rfc3339
from arena.storage import tournaments as store
from arena.storage.accounts import Bot, Principal, bot_of
from arena.storage.db import Database
from arena.storage.tournaments import TournamentState
from arena.tournaments import entry
from arena.tournaments.formats.event import Event, Pairing
from arena.tournaments.progress import Stage
from arena.tournaments.showing import Shown, viewer_of, visible_to
from botarena.v1 import tournament_service_pb2 as pb
from botarena.v1.tournament_service_pb2_grpc import TournamentServiceServicer

T = TypeVar("T")

EVENTS: Final = 50
PAIRINGS: Final = 500
READS: Final = (2, 30)
"""Looks at an event a second and address, and at once: a large one takes a while to read, and bots are served here too."""
JOINS: Final = (1, 60)
"""Tries at a code a second and address, and at once: a class may sit behind one address."""

_AUDIENCES: Final = {
    "hidden": pb.AUDIENCE_HIDDEN,
    "participants": pb.AUDIENCE_PARTICIPANTS,
    "public": pb.AUDIENCE_PUBLIC,
}
_STATES: Final = {
    TournamentState.OPEN: pb.TOURNAMENT_STATE_OPEN,
    TournamentState.RUNNING: pb.TOURNAMENT_STATE_RUNNING,
    TournamentState.FINISHED: pb.TOURNAMENT_STATE_FINISHED,
}


class Tournaments(Asking, TournamentServiceServicer):
    """Events of this arena."""

    def __init__(self, database: Database, guesses: Guesses) -> None:
        super().__init__(database, guesses)
        self._reads = PerAddress(*READS)
        self._joins = PerAddress(*JOINS)

    async def ListTournaments(self, request: pb.ListTournamentsRequest, context: Context) -> pb.ListTournamentsResponse:
        """The newest first."""

        async def work() -> pb.ListTournamentsResponse:
            before, size = page_offset(request.page_token) or None, page_size(request.page_size, EVENTS, EVENTS)
            found = await self._read(lambda connection: store.newest(connection, size + 1, before))
            following = str(found[size - 1].id) if len(found) > size else ""
            return pb.ListTournamentsResponse(tournaments=map(_info, found[:size]), next_page_token=following)

        return await answer(context, work)

    async def GetTournament(self, request: pb.GetTournamentRequest, context: Context) -> pb.GetTournamentResponse:
        """Field, standings and final, as far as the caller may see them."""

        async def work() -> pb.GetTournamentResponse:
            shown = await self._shown(request.tournament, context)
            order = shown.order
            return pb.GetTournamentResponse(
                tournament=_info(shown.event),
                field=map(_entrant, shown.field),
                standings=[
                    pb.StandingRow(
                        rank=row.rank, bot=row.name, points=row.points, won=row.won, drawn=row.drawn, lost=row.lost
                    )
                    for row in shown.table
                ],
                final=None if order is None else pb.FinalOrder(bots=order.names, above=order.above, sets=order.sets),
            )

        return await answer(context, work)

    async def ListPairings(self, request: pb.ListPairingsRequest, context: Context) -> pb.ListPairingsResponse:
        """Pairings with results and matches, as far as the caller may see them."""

        async def work() -> pb.ListPairingsResponse:
            first, size = page_offset(request.page_token), page_size(request.page_size, 100, PAIRINGS)
            shown = await self._shown(request.tournament, context)
            issued = [(stage, event, pairing) for stage, event in shown.stages() for pairing in event.pairings]
            return pb.ListPairingsResponse(
                pairings=[_pairing(shown, *one) for one in issued[first : first + size]],
                next_page_token=str(first + size) if first + size < len(issued) else "",
            )

        return await answer(context, work)

    async def JoinTournament(self, request: pb.JoinTournamentRequest, context: Context) -> pb.JoinTournamentResponse:
        """Enters a bot of the caller's."""

        async def work() -> pb.JoinTournamentResponse:
            self._joins.check(context, time.monotonic_ns() // 1000)
            who = await self._caller(context)

            def join(connection: Connection) -> tuple[store.Tournament, store.Participant]:
                event = named(store.by_join_code, connection, request.join_code, "join_code")
                bot = _bot(connection, who, request.bot)
                return event, _allowed(lambda: entry.join(connection, event, bot, request.team))

            event, entered = await self._write(join)
            return pb.JoinTournamentResponse(tournament=_info(event), entrant=_entrant(entered))

        return await answer(context, work)

    async def LeaveTournament(self, request: pb.LeaveTournamentRequest, context: Context) -> pb.LeaveTournamentResponse:
        """Takes a bot of the caller's out."""

        async def work() -> pb.LeaveTournamentResponse:
            who = await self._caller(context)

            def leave(connection: Connection) -> store.Tournament:
                event = named(store.get, connection, request.tournament, "tournament")
                bot = _bot(connection, who, request.bot)
                _allowed(lambda: entry.leave(connection, event, bot))
                return event

            return pb.LeaveTournamentResponse(tournament=_info(await self._write(leave)))

        return await answer(context, work)

    async def _shown(self, slug: str, context: Context) -> Shown:
        """An event as the caller may see it, with or without a token. Raises CallFailed."""
        self._reads.check(context, time.monotonic_ns() // 1000)
        who = await self._caller(context) if has_token(context) else None

        def read(connection: Connection) -> Shown:
            event = named(store.get, connection, slug, "tournament")
            field = store.participants(connection, event.id)
            viewer = viewer_of(who.account if who else None, field, store.organisers(connection, event.id))
            state = None if event.state == TournamentState.OPEN else store.load(connection, event)
            return Shown(event, field, state, visible_to(event, viewer))

        return await self._read(read)


def _bot(connection: Connection, who: Principal, name: str) -> Bot:
    return named(lambda connection, name: bot_of(connection, who, name), connection, name, "bot")


def _allowed(work: Callable[[], T]) -> T:
    """What ``work`` gives, or CallFailed with what is in the way."""
    try:
        return work()
    except QuotaExceeded as error:
        raise CallFailed(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", str(error)) from None
    except UserError as error:
        raise CallFailed(grpc.StatusCode.FAILED_PRECONDITION, "NOT_POSSIBLE", str(error)) from None


def _info(event: store.Tournament) -> pb.TournamentInfo:
    spec = event.spec
    return pb.TournamentInfo(
        name=spec.slug,
        title=spec.name,
        format=spec.format,
        games=[game.game for game in spec.games],
        seats=spec.seats,
        state=_STATES[event.state],
        results=_AUDIENCES[event.audiences["main"]],
        final_results=_AUDIENCES[event.audiences["final"]],
        started_at="" if event.started_at is None else rfc3339(event.started_at),
    )


def _entrant(one: store.Participant) -> pb.Entrant:
    return pb.Entrant(bot=one.name, owner=one.owner, team=one.team, seed=one.seed or 0, withdrawn=one.withdrawn)


def _pairing(shown: Shown, stage: Stage, event: Event, pairing: Pairing) -> pb.PairingInfo:
    result = event.results.get(pairing.id)
    return pb.PairingInfo(
        id=pairing.id,
        final=stage == "final",
        round=pairing.round,
        bots=pairing.players,
        scores=() if result is None else result.scores,
        match_ids=[game.match_id for _, played in sorted(shown.sets(pairing).items()) for game in played.games],
    )

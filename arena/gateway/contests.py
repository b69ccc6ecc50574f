"""Challenges and trials: unrated sets that somebody asks for."""

# ruff: noqa: N802 - methods are called what the services call them

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import grpc
from sqlalchemy import Connection

from arena.errors import QuotaExceeded, UserError
from arena.gateway.calls import Asking, CallFailed, Context, answer, not_found
from arena.gateway.limits import Guesses
from arena.gateway.messages import challenge_info, trial_info
from arena.gateway.online import Online
from arena.ladder import trials
from arena.storage import challenges
from arena.storage.accounts import Principal
from arena.storage.db import Database
from botarena.v1 import challenge_service_pb2 as challenges_pb
from botarena.v1 import trial_service_pb2 as trials_pb
from botarena.v1.challenge_service_pb2_grpc import ChallengeServiceServicer
from botarena.v1.trial_service_pb2_grpc import TrialServiceServicer

T = TypeVar("T")


class _Asked(Asking):
    """A service whose calls a caller's account pays for."""

    def __init__(self, database: Database, online: Online, guesses: Guesses) -> None:
        super().__init__(database, guesses)
        self._online = online

    async def _for_caller(self, context: Context, work: Callable[[Connection, Principal], T]) -> T:
        """What ``work`` writes for whoever calls. Raises CallFailed."""
        who = await self._caller(context)
        try:
            return await self._write(lambda connection: work(connection, who))
        except QuotaExceeded as error:
            raise CallFailed(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", str(error)) from None
        except UserError as error:
            raise CallFailed(grpc.StatusCode.FAILED_PRECONDITION, "NOT_POSSIBLE", str(error)) from None


class Challenges(_Asked, ChallengeServiceServicer):
    """Unrated games against named opponents."""

    async def CreateChallenge(
        self, request: challenges_pb.CreateChallengeRequest, context: Context
    ) -> challenges_pb.CreateChallengeResponse:
        """Asks for games."""

        def create(connection: Connection, who: Principal) -> challenges.Challenge:
            seed = request.seed if request.HasField("seed") else None
            about = (request.ladder, request.bot, tuple(request.opponents), request.games, seed)
            return challenges.get(connection, challenges.create(connection, who.account_id, *about))

        async def work() -> challenges_pb.CreateChallengeResponse:
            return challenges_pb.CreateChallengeResponse(
                challenge=await self._told(await self._for_caller(context, create))
            )

        return await answer(context, work)

    async def GetChallenge(
        self, request: challenges_pb.GetChallengeRequest, context: Context
    ) -> challenges_pb.GetChallengeResponse:
        """How far it is."""

        async def work() -> challenges_pb.GetChallengeResponse:
            found = await _found(
                self._read(lambda connection: challenges.get(connection, request.challenge_id)), "challenge_id"
            )
            return challenges_pb.GetChallengeResponse(challenge=await self._told(found))

        return await answer(context, work)

    async def ListChallenges(
        self, request: challenges_pb.ListChallengesRequest, context: Context
    ) -> challenges_pb.ListChallengesResponse:
        """The caller's."""

        async def work() -> challenges_pb.ListChallengesResponse:
            who = await self._caller(context)
            found = await self._read(lambda connection: challenges.of_account(connection, who.account_id))
            return challenges_pb.ListChallengesResponse(challenges=[await self._told(one) for one in found])

        return await answer(context, work)

    async def CancelChallenge(
        self, request: challenges_pb.CancelChallengeRequest, context: Context
    ) -> challenges_pb.CancelChallengeResponse:
        """Ends one of the caller's."""

        def cancel(connection: Connection, who: Principal) -> challenges.Challenge:
            challenges.cancel(connection, who.account_id, request.challenge_id)
            return challenges.get(connection, request.challenge_id)

        async def work() -> challenges_pb.CancelChallengeResponse:
            return challenges_pb.CancelChallengeResponse(
                challenge=await self._told(await self._for_caller(context, cancel))
            )

        return await answer(context, work)

    async def _told(self, found: challenges.Challenge) -> challenges_pb.Challenge:
        return challenge_info(found, await self._online.versions())


class Trials(_Asked, TrialServiceServicer):
    """Is the new version better?"""

    async def CreateTrial(
        self, request: trials_pb.CreateTrialRequest, context: Context
    ) -> trials_pb.CreateTrialResponse:
        """Asks for a trial."""

        def create(connection: Connection, who: Principal) -> trials.Trial:
            given = (
                getattr(request, name) if request.HasField(name) else None for name in ("elo0", "elo1", "alpha", "beta")
            )
            most = request.most_sets if request.HasField("most_sets") else trials.SETS
            about = (request.ladder, request.new_version, request.old_version, trials.hypotheses(*given), most)
            return trials.get(connection, trials.create(connection, who.account_id, *about))

        async def work() -> trials_pb.CreateTrialResponse:
            return trials_pb.CreateTrialResponse(trial=await self._told(await self._for_caller(context, create)))

        return await answer(context, work)

    async def GetTrial(self, request: trials_pb.GetTrialRequest, context: Context) -> trials_pb.GetTrialResponse:
        """Where it stands."""

        async def work() -> trials_pb.GetTrialResponse:
            found = await _found(self._read(lambda connection: trials.get(connection, request.trial_id)), "trial_id")
            return trials_pb.GetTrialResponse(trial=await self._told(found))

        return await answer(context, work)

    async def ListTrials(self, request: trials_pb.ListTrialsRequest, context: Context) -> trials_pb.ListTrialsResponse:
        """The caller's."""

        async def work() -> trials_pb.ListTrialsResponse:
            who = await self._caller(context)
            found = await self._read(lambda connection: trials.of_account(connection, who.account_id))
            return trials_pb.ListTrialsResponse(trials=[await self._told(one) for one in found])

        return await answer(context, work)

    async def CancelTrial(
        self, request: trials_pb.CancelTrialRequest, context: Context
    ) -> trials_pb.CancelTrialResponse:
        """Ends one of the caller's."""

        def cancel(connection: Connection, who: Principal) -> trials.Trial:
            trials.cancel(connection, who.account_id, request.trial_id)
            return trials.get(connection, request.trial_id)

        async def work() -> trials_pb.CancelTrialResponse:
            return trials_pb.CancelTrialResponse(trial=await self._told(await self._for_caller(context, cancel)))

        return await answer(context, work)

    async def _told(self, found: trials.Trial) -> trials_pb.Trial:
        return trial_info(found, await self._online.versions())


async def _found(reading: Awaitable[T], field: str) -> T:
    try:
        return await reading
    except UserError as error:
        raise not_found(str(error), field) from None

"""The unary services, over storage: games, bots, matches, ladders. They show what pages show, and no more.

Challenges and trials are in :mod:`arena.gateway.contests`, tournaments in :mod:`arena.gateway.tournaments`.
"""

# ruff: noqa: N802 - methods are called what the services call them

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, TypeVar

import grpc
from sqlalchemy import Connection

import engines
from arena.errors import ArenaError, UserError
from arena.gateway.calls import (
    Asking,
    CallFailed,
    Context,
    PerAddress,
    Stored,
    answer,
    invalid,
    named,
    not_found,
    page_offset,
    page_size,
)
from arena.gateway.catalogue import installed_games
from arena.gateway.contests import Challenges, Trials
from arena.gateway.limits import Guesses
from arena.gateway.messages import bot_info, game_info, ladder_info, match_info, table_row, version_info
from arena.gateway.online import Online
from arena.gateway.registry import SessionRegistry
from arena.gateway.tournaments import Tournaments
from arena.storage import accounts, queries, versions
from arena.storage import matches as stored_matches
from arena.storage.accounts import Bot, NameTaken
from arena.storage.db import Database
from arena.storage.matches import MatchRow
from arena.storage.queries import LadderRow, TableRow
from arena.storage.records import RecordStore
from botarena.v1 import bot_service_pb2 as bots_pb
from botarena.v1 import game_service_pb2 as games_pb
from botarena.v1 import ladder_service_pb2 as ladders_pb
from botarena.v1 import match_service_pb2 as matches_pb
from botarena.v1.bot_service_pb2_grpc import BotServiceServicer, add_BotServiceServicer_to_server
from botarena.v1.challenge_service_pb2_grpc import add_ChallengeServiceServicer_to_server
from botarena.v1.game_service_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from botarena.v1.ladder_service_pb2_grpc import LadderServiceServicer, add_LadderServiceServicer_to_server
from botarena.v1.match_service_pb2_grpc import MatchServiceServicer, add_MatchServiceServicer_to_server
from botarena.v1.tournament_service_pb2_grpc import add_TournamentServiceServicer_to_server
from botarena.v1.trial_service_pb2_grpc import add_TrialServiceServicer_to_server

T = TypeVar("T")

PIECE: Final = 64 * 1024
MAX_ACTIONS: Final = 1_000
MAX_VERSIONS: Final = 500
REGISTRATIONS: Final = (2, 100)
"""A second and address, and at once."""


def add_services(
    server: grpc.aio.Server,
    database: Database,
    records: RecordStore,
    registry: SessionRegistry | None = None,
    guesses: Guesses | None = None,
) -> None:
    """Adds all of them to a server. Without a ``registry`` no bot is shown as online."""
    online = Online(registry)
    guesses = guesses or Guesses()
    add_GameServiceServicer_to_server(Games(), server)
    add_BotServiceServicer_to_server(Bots(database, online, guesses), server)
    add_MatchServiceServicer_to_server(Matches(database, records), server)
    add_LadderServiceServicer_to_server(Ladders(database, online), server)
    add_ChallengeServiceServicer_to_server(Challenges(database, online, guesses), server)
    add_TrialServiceServicer_to_server(Trials(database, online, guesses), server)
    add_TournamentServiceServicer_to_server(Tournaments(database, guesses), server)


class Games(GameServiceServicer):
    """What can be played."""

    async def ListGames(self, request: games_pb.ListGamesRequest, context: Context) -> games_pb.ListGamesResponse:
        """All installed games."""

        async def work() -> games_pb.ListGamesResponse:
            return games_pb.ListGamesResponse(games=[game_info(engines.get(name)) for name in installed_games()])

        return await answer(context, work)

    async def GetGame(self, request: games_pb.GetGameRequest, context: Context) -> games_pb.GetGameResponse:
        """One game with its rules."""

        async def work() -> games_pb.GetGameResponse:
            game = _game(request.name, "name")
            return games_pb.GetGameResponse(game=game_info(game), rules=game.summary)

        return await answer(context, work)

    async def ListActions(self, request: games_pb.ListActionsRequest, context: Context) -> games_pb.ListActionsResponse:
        """A page of ids and texts."""

        async def work() -> games_pb.ListActionsResponse:
            game = _game(request.game, "game")
            total = game.num_actions + game.num_chance
            first, size = page_offset(request.page_token), page_size(request.page_size, MAX_ACTIONS, MAX_ACTIONS)
            ids = range(min(first, total), min(first + size, total))
            return games_pb.ListActionsResponse(
                events=[games_pb.EventText(id=i, text=game.text(i), chance=i >= game.num_actions) for i in ids],
                next_page_token=str(ids.stop) if ids.stop < total else "",
            )

        return await answer(context, work)


class Bots(Asking, BotServiceServicer):
    """Accounts, bots, versions and tokens."""

    def __init__(self, database: Database, online: Online, guesses: Guesses) -> None:
        super().__init__(database, guesses)
        self._online = online
        self._registrations = PerAddress(*REGISTRATIONS)

    async def Register(self, request: bots_pb.RegisterRequest, context: Context) -> bots_pb.RegisterResponse:
        """A new account with a bot and its token."""

        async def work() -> bots_pb.RegisterResponse:
            self._registrations.check(context, time.monotonic_ns() // 1000)

            def register(connection: Connection) -> tuple[Bot, str]:
                _check_name(request.owner, "an account", "owner")
                _check_name(request.bot, "a bot", "bot")
                try:
                    return accounts.register(connection, request.owner, request.bot)
                except NameTaken as error:
                    raise _taken(error) from None

            bot, token = await self._write(register)
            return bots_pb.RegisterResponse(bot=bot_info(bot, "", online=False), token=token)

        return await answer(context, work)

    async def CreateBot(self, request: bots_pb.CreateBotRequest, context: Context) -> bots_pb.CreateBotResponse:
        """A further bot of the caller's."""

        async def work() -> bots_pb.CreateBotResponse:
            who = await self._caller(context)

            def create(connection: Connection) -> Bot:
                _check_name(request.bot, "a bot", "bot")
                try:
                    return accounts.create_bot(connection, who.account_id, request.bot)
                except NameTaken as error:
                    raise _taken(error) from None

            return bots_pb.CreateBotResponse(bot=bot_info(await self._write(create), "", online=False))

        return await answer(context, work)

    async def GetBot(self, request: bots_pb.GetBotRequest, context: Context) -> bots_pb.GetBotResponse:
        """A bot by name."""

        async def work() -> bots_pb.GetBotResponse:
            page = await self._read(lambda connection: named(queries.bot_page, connection, request.bot, "bot"))
            latest = next((one.label for one in page.versions if not one.retired), "")
            online = page.bot.id in await self._online.bots()
            return bots_pb.GetBotResponse(bot=bot_info(page.bot, latest, online=online))

        return await answer(context, work)

    async def ListVersions(
        self, request: bots_pb.ListVersionsRequest, context: Context
    ) -> bots_pb.ListVersionsResponse:
        """A bot's versions, newest first."""

        async def work() -> bots_pb.ListVersionsResponse:
            first, size = page_offset(request.page_token), page_size(request.page_size, 100, MAX_VERSIONS)
            page = await self._read(lambda connection: named(queries.bot_page, connection, request.bot, "bot"))
            shown = page.versions[first : first + size]
            return bots_pb.ListVersionsResponse(
                versions=map(version_info, shown),
                next_page_token=str(first + size) if first + size < len(page.versions) else "",
            )

        return await answer(context, work)

    async def CreateToken(self, request: bots_pb.CreateTokenRequest, context: Context) -> bots_pb.CreateTokenResponse:
        """A further token of the caller's account."""

        async def work() -> bots_pb.CreateTokenResponse:
            who = await self._caller(context)
            token = await self._write(
                lambda connection: accounts.create_token(connection, who.account_id, label=request.label)
            )
            return bots_pb.CreateTokenResponse(token=token, prefix=accounts.check_format(token))

        return await answer(context, work)

    async def RevokeToken(self, request: bots_pb.RevokeTokenRequest, context: Context) -> bots_pb.RevokeTokenResponse:
        """Ends one of the caller's tokens."""

        async def work() -> bots_pb.RevokeTokenResponse:
            who = await self._caller(context)

            def revoke(connection: Connection) -> None:
                try:
                    accounts.revoke_token(connection, who.account_id, request.prefix)
                except UserError as error:
                    raise not_found(str(error), "prefix") from None

            await self._write(revoke)
            return bots_pb.RevokeTokenResponse()

        return await answer(context, work)

    async def RetireVersion(
        self, request: bots_pb.RetireVersionRequest, context: Context
    ) -> bots_pb.RetireVersionResponse:
        """Off tables and out of rated play."""
        await self._change(context, request.bot, request.version, versions.retire)
        return bots_pb.RetireVersionResponse()

    async def RestoreVersion(
        self, request: bots_pb.RestoreVersionRequest, context: Context
    ) -> bots_pb.RestoreVersionResponse:
        """Back again."""
        await self._change(context, request.bot, request.version, versions.restore)
        return bots_pb.RestoreVersionResponse()

    async def RollBack(self, request: bots_pb.RollBackRequest, context: Context) -> bots_pb.RollBackResponse:
        """An older version becomes the current one."""
        await self._change(context, request.bot, request.version, versions.roll_back)
        return bots_pb.RollBackResponse()

    async def _change(
        self, context: Context, bot: str, version: str, change: Callable[[Connection, Bot, str], None]
    ) -> None:
        """Changes what becomes of a version of the caller's bot."""

        async def work() -> None:
            who = await self._caller(context)

            def write(connection: Connection) -> None:
                found = named(lambda connection, name: accounts.bot_of(connection, who, name), connection, bot, "bot")
                try:
                    change(connection, found, version)
                except UserError as error:
                    raise not_found(str(error), "version") from None

            await self._write(write)

        await answer(context, work)


class Matches(Stored, MatchServiceServicer):
    """Finished matches and their records."""

    def __init__(self, database: Database, records: RecordStore) -> None:
        super().__init__(database)
        self._records = records

    async def GetMatch(self, request: matches_pb.GetMatchRequest, context: Context) -> matches_pb.GetMatchResponse:
        """One match."""

        async def work() -> matches_pb.GetMatchResponse:
            return matches_pb.GetMatchResponse(match=match_info(await self._match(request.match_id)))

        return await answer(context, work)

    async def ListMatches(
        self, request: matches_pb.ListMatchesRequest, context: Context
    ) -> matches_pb.ListMatchesResponse:
        """Newest first."""

        async def work() -> matches_pb.ListMatchesResponse:
            def read(connection: Connection) -> tuple[Sequence[MatchRow], str]:
                if request.ladder:
                    named(queries.get_ladder, connection, request.ladder, "ladder")
                if request.bot and accounts.find_bot(connection, request.bot) is None:
                    raise not_found(f"there is no bot {request.bot!r}", "bot")
                try:
                    return stored_matches.recent_matches(
                        connection,
                        ladder_slug=request.ladder or None,
                        bot_name=request.bot or None,
                        limit=page_size(request.page_size, 50, stored_matches.MAX_MATCHES),
                        cursor=request.page_token,
                    )
                except UserError as error:
                    raise invalid(str(error), "page_token") from None

            rows, following = await self._read(read)
            return matches_pb.ListMatchesResponse(matches=map(match_info, rows), next_page_token=following)

        return await answer(context, work)

    async def DownloadRecord(
        self, request: matches_pb.DownloadRecordRequest, context: Context
    ) -> AsyncIterator[matches_pb.DownloadRecordResponse]:
        """A record in pieces."""

        async def work() -> bytes:
            match = await self._match(request.match_id)
            try:
                return await asyncio.to_thread(self._records.read, match.record_digest)
            except ArenaError as error:
                raise CallFailed(grpc.StatusCode.DATA_LOSS, "RECORD_LOST", str(error)) from None

        data = await answer(context, work)
        for first in range(0, len(data), PIECE):
            yield matches_pb.DownloadRecordResponse(data=data[first : first + PIECE])

    async def _match(self, match_id: str) -> MatchRow:
        page = await self._read(lambda connection: named(stored_matches.match_page, connection, match_id, "match_id"))
        return page.match


class Ladders(Stored, LadderServiceServicer):
    """Ladders and their live tables."""

    def __init__(self, database: Database, online: Online) -> None:
        super().__init__(database)
        self._online = online

    async def ListLadders(
        self, request: ladders_pb.ListLaddersRequest, context: Context
    ) -> ladders_pb.ListLaddersResponse:
        """All of them."""

        async def work() -> ladders_pb.ListLaddersResponse:
            return ladders_pb.ListLaddersResponse(ladders=map(ladder_info, await self._read(queries.ladders)))

        return await answer(context, work)

    async def GetLeaderboard(
        self, request: ladders_pb.GetLeaderboardRequest, context: Context
    ) -> ladders_pb.GetLeaderboardResponse:
        """A page of a table, best first."""

        async def work() -> ladders_pb.GetLeaderboardResponse:
            first, size = page_offset(request.page_token), page_size(request.page_size, 100, queries.MAX_ROWS)

            def read(connection: Connection) -> tuple[LadderRow, Sequence[TableRow]]:
                held = named(queries.get_ladder, connection, request.ladder, "ladder")
                return held, queries.leaderboard(connection, request.ladder, size, first)

            held, rows = await self._read(read)
            online = await self._online.versions()
            return ladders_pb.GetLeaderboardResponse(
                ladder=ladder_info(held),
                rows=[table_row(row, online=row.version_id in online) for row in rows],
                next_page_token=str(first + size) if first + size < held.bots else "",
            )

        return await answer(context, work)


def _game(name: str, field: str) -> engines.Game:
    if name not in installed_games():
        raise not_found(f"no game {name!r} is installed here; there are: {', '.join(installed_games())}", field)
    return engines.get(name)


def _check_name(name: str, what: str, field: str) -> None:
    try:
        accounts.check_name(name, what)
    except UserError as error:
        raise invalid(str(error), field) from None


def _taken(error: NameTaken) -> CallFailed:
    return CallFailed(grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN", str(error))

"""Tournaments by gRPC: joining with a code, withdrawing, and seeing what one may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from arena.gateway import tournaments as service_module
from arena.gateway.services import add_services
from arena.storage import accounts
from arena.storage import tournaments as store
from arena.tournaments import entry
from botarena.v1 import tournament_service_pb2 as pb
from botarena.v1.tournament_service_pb2_grpc import TournamentServiceStub
from tests.gateway.test_services import bearer, refusal
from tests.web.events import SeededEvent, event_text
from tests.web.seed import SeededArena
from tests.web.support import LADDERS

JOINED = event_text("Class", "swiss", (), top="rounds = 2").replace("bots = []", "join_code = true")


@pytest.fixture
def arena(tmp_path_factory: pytest.TempPathFactory) -> SeededArena:
    """An arena with two authors' bots."""
    return SeededArena(tmp_path_factory.mktemp("tournaments"), LADDERS, bots=("zephyr", "updraft"))


@pytest.fixture
async def stub(arena: SeededArena) -> AsyncIterator[Any]:
    """The service, dialled."""
    server = grpc.aio.server()
    add_services(server, arena.database, arena.records)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as opened:
        yield TournamentServiceStub(opened)
    await server.stop(0)


def token_of(arena: SeededArena, bot: str) -> Any:
    """The metadata of a call by a bot's owner."""
    with arena.database.write() as connection:
        found = accounts.find_bot(connection, bot)
        assert found is not None
        return bearer(accounts.create_token(connection, found.account_id, label="", bot_id=found.id))


def opened(arena: SeededArena, text: str = JOINED) -> tuple[SeededEvent, str]:
    """An event that can be joined, and its code."""
    made = SeededEvent.create(arena, text)
    with arena.database.write() as connection:
        return made, store.new_join_code(connection, store.get(connection, made.slug).id)


async def test_a_bot_joins_leaves_and_joins_again(arena: SeededArena, stub: Any) -> None:
    """With code and token it is in, by its own wish out, and as if nothing had been in again; the token's bot if none is
    named; after the start whoever leaves has withdrawn, and does not come back."""
    event, code = opened(arena)
    ann, bob = token_of(arena, "zephyr"), token_of(arena, "updraft")
    joined = await stub.JoinTournament(pb.JoinTournamentRequest(join_code=code.lower()), metadata=ann)
    assert (joined.tournament.name, joined.entrant.bot, joined.entrant.seed) == ("class", "zephyr", 0)
    code_, _, _ = await refusal(stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=ann))
    assert code_ == grpc.StatusCode.FAILED_PRECONDITION
    await stub.LeaveTournament(pb.LeaveTournamentRequest(tournament="class"), metadata=ann)
    assert not (await stub.GetTournament(pb.GetTournamentRequest(tournament="class"))).field
    for who in (ann, bob):
        await stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=who)
    event.start()
    await stub.LeaveTournament(pb.LeaveTournamentRequest(tournament="class", bot="zephyr"), metadata=ann)
    found = await stub.GetTournament(pb.GetTournamentRequest(tournament="class"))
    assert {one.bot: one.withdrawn for one in found.field} == {"zephyr": True, "updraft": False}
    _, message, _ = await refusal(stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=ann))
    assert "withdrawn" in message
    assert event.play() == "everything was played"
    _, message, _ = await refusal(stub.LeaveTournament(pb.LeaveTournamentRequest(tournament="class"), metadata=bob))
    assert message == "Class is over"


async def test_refusals_say_what_is_wrong(arena: SeededArena, stub: Any) -> None:
    """No token, a wrong code, somebody else's bot, an unknown event, a bot that is not in: a code and a field for each."""
    _, code = opened(arena)
    ann = token_of(arena, "zephyr")
    join, leave = pb.JoinTournamentRequest, pb.LeaveTournamentRequest
    cases: list[tuple[Any, grpc.StatusCode, str | None]] = [
        (stub.JoinTournament(join(join_code=code)), grpc.StatusCode.UNAUTHENTICATED, None),
        (stub.JoinTournament(join(join_code="NO"), metadata=ann), grpc.StatusCode.NOT_FOUND, "join_code"),
        (stub.JoinTournament(join(join_code=code, bot="updraft"), metadata=ann), grpc.StatusCode.NOT_FOUND, "bot"),
        (stub.LeaveTournament(leave(tournament="none"), metadata=ann), grpc.StatusCode.NOT_FOUND, "tournament"),
        (stub.LeaveTournament(leave(tournament="class"), metadata=ann), grpc.StatusCode.FAILED_PRECONDITION, None),
        (stub.GetTournament(pb.GetTournamentRequest(tournament="none")), grpc.StatusCode.NOT_FOUND, "tournament"),
        (
            stub.GetTournament(pb.GetTournamentRequest(tournament="class"), metadata=bearer("arena_x")),
            grpc.StatusCode.UNAUTHENTICATED,
            None,
        ),
    ]
    for call, wanted, field in cases:
        status, message, details = await refusal(call)
        assert (status, bool(message)) == (wanted, True)
        if field is not None:
            assert details["BadRequest"].field_violations[0].field == field


async def test_quotas(arena: SeededArena, stub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account enters so many bots and not one more; whoever tries codes too fast has to wait."""
    monkeypatch.setattr(entry, "MOST_OF_ONE_OWNER", 1)
    _, code = opened(arena)
    ann = token_of(arena, "zephyr")
    await stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=ann)
    with arena.database.write() as connection:
        mine = accounts.find_bot(connection, "zephyr")
        assert mine is not None
        accounts.create_bot(connection, mine.account_id, "third")
    request = pb.JoinTournamentRequest(join_code=code, bot="third")
    status, message, _ = await refusal(stub.JoinTournament(request, metadata=ann))
    assert status == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "1 bots of ada" in message
    wrong = [refusal(stub.JoinTournament(pb.JoinTournamentRequest(join_code="NO"), metadata=ann)) for _ in range(80)]
    found = [await one for one in wrong]
    assert {status for status, _, _ in found[: service_module.JOINS[1] - 5]} == {grpc.StatusCode.NOT_FOUND}
    assert "RetryInfo" in found[-1][2]


async def test_who_plays_sees_more_than_others(arena: SeededArena, stub: Any) -> None:
    """Results for participants: to them and to the organiser, with matches; to strangers, and without a token, not."""
    text = event_text(
        "Inner", "round-robin", ("random", "greedy", "zephyr"), '[publication]\nresults = "participants"\n'
    )
    event = SeededEvent.create(arena, text).start()
    event.play()
    get, pairings = pb.GetTournamentRequest(tournament="inner"), pb.ListPairingsRequest(tournament="inner", page_size=2)
    plays, stranger = token_of(arena, "zephyr"), token_of(arena, "updraft")
    for metadata in (None, stranger):
        found = await stub.GetTournament(get, metadata=metadata)
        assert (len(found.field), len(found.standings)) == (3, 0)
        assert not (await stub.ListPairings(pairings, metadata=metadata)).pairings
    found = await stub.GetTournament(get, metadata=plays)
    assert len(found.standings) == 3
    page = await stub.ListPairings(pairings, metadata=plays)
    assert [len(one.match_ids) for one in page.pairings] == [2, 2]
    rest = await stub.ListPairings(
        pb.ListPairingsRequest(tournament="inner", page_token=page.next_page_token), metadata=plays
    )
    assert (len(rest.pairings), rest.next_page_token) == (1, "")
    event.publish("main", "hidden")
    assert not (await stub.GetTournament(get, metadata=plays)).standings
    with arena.database.write() as connection:
        store.add_organiser(connection, store.get(connection, "inner").id, "grace")
    assert len((await stub.GetTournament(get, metadata=stranger)).standings) == 3
    listed = await stub.ListTournaments(pb.ListTournamentsRequest(page_size=1))
    assert [one.name for one in listed.tournaments] == ["inner"]


async def test_a_bot_without_a_version_joins_and_plays_if_it_connects_in_time(arena: SeededArena, stub: Any) -> None:
    """Joining needs no program yet; who has none when the event begins is left out, and the event begins all the same."""
    event, code = opened(arena)
    for name in ("zephyr", "updraft"):
        await stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=token_of(arena, name))
    with arena.database.write() as connection:
        token = accounts.register(connection, "late", "never")[1]
    await stub.JoinTournament(pb.JoinTournamentRequest(join_code=code), metadata=bearer(token))
    event.start()
    found = await stub.GetTournament(pb.GetTournamentRequest(tournament="class"))
    assert {one.bot: one.seed > 0 for one in found.field} == {"zephyr": True, "updraft": True, "never": False}

"""Tables and the lounge without HTTP: limits, who is forgotten when, clocks of people, what is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engines
from arena.host.person import PersonPort
from arena.host.port import Answer
from arena.match.spec import SeatReason
from arena.web.play.lounge import IDLE_S, KEEP_S, KEPT, WAITING_S, Lounge
from arena.web.play.order import GUEST, LONGEST_NAME, PERSON, BadOrder, Order, name_of, opponents, order_of
from arena.web.play.shelf import Shelf
from arena.web.play.table import Refused, Table, unlike
from botarena.v1 import play_pb2 as pb

POP = engines.get("pop")


def order(*others: str, shuffle: bool = False) -> Order:
    """A table of POP!."""
    return Order("pop", POP.complete_config(1 + len(others), {}), others, "calm", shuffle)


async def kept_nowhere(_table_id: str, _record: bytes) -> None:
    """Where records go that nobody looks at."""


def lounge(folder: Path, tables: int = 3, per_address: int = 2) -> Lounge:
    """A small one; no bot is started before somebody plays."""
    return Lounge(folder, kept_nowhere, tables=tables, per_address=per_address)


def test_tables_are_limited_in_all_and_by_address(tmp_path: Path) -> None:
    """One address has its share, all together theirs, bots that search have few places; what has ended makes room."""
    small = lounge(tmp_path)
    first = small.open(order(PERSON), "a", "here")
    small.open(order(PERSON), "a", "here")
    with pytest.raises(Refused, match="as many tables") as refused:
        small.open(order(PERSON), "a", "here")
    assert refused.value.status == 429
    small.open(order(PERSON), "b", "there")
    with pytest.raises(Refused, match="all tables") as refused:
        small.open(order(PERSON), "c", "elsewhere")
    assert refused.value.status == 503
    first.leave(first.chairs[first.opener_seat])
    small.open(order("flatmc-200", "flatmc-200", "flatmc-200", PERSON), "a", "here")
    roomy = lounge(tmp_path, 9, 9)
    roomy.open(order("flatmc-200", "flatmc-200", "flatmc-200", PERSON), "a", "here")
    with pytest.raises(Refused, match="search"):
        roomy.open(order("flatmc-200", "flatmc-200", PERSON), "a", "here")


def test_tables_that_nobody_attends_end_and_are_forgotten(tmp_path: Path) -> None:
    """With nobody connected a table lives for a while, with somebody as long as it may wait; once over it is forgotten later."""

    async def story() -> None:
        small = lounge(tmp_path)
        left, waiting = (small.open(order(PERSON), "a", "") for _ in range(2))
        stream = await waiting.events(waiting.opener_seat, 0)
        await anext(stream)
        assert waiting.attended
        small.sweep(left.since + IDLE_S - 1)
        assert left.phase == "waiting"
        small.sweep(left.since + IDLE_S + 1)
        assert (left.phase, waiting.phase) == ("ended", "waiting")
        small.sweep(waiting.opened + WAITING_S + 1)
        assert waiting.phase == "ended"
        small.sweep(max(left.since, waiting.since) + KEEP_S + 1)
        assert small.get(left.id) is None
        assert small.get(waiting.id) is waiting, "somebody looks at it"
        await stream.aclose()  # type: ignore[attr-defined]
        assert not waiting.watched
        small.sweep(waiting.since + KEEP_S + 1)
        assert small.get(waiting.id) is None

    asyncio.run(story())


def test_a_lounge_remembers_only_so_many_tables(tmp_path: Path) -> None:
    """Who opens and leaves tables all day fills no memory."""
    small = lounge(tmp_path)
    opened = []
    for _ in range(KEPT + 20):
        table = small.open(order(PERSON), "a", "")
        table.leave(table.chairs[table.opener_seat])
        opened.append(table.id)
    assert [small.get(table_id) is not None for table_id in opened] == [False] * 20 + [True] * KEPT


def test_a_bot_that_does_not_start_is_nobodys_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table ends without a result and says so."""

    async def story() -> None:
        async def broken(*_: Any) -> Any:
            from arena.host.processes import BotDidNotConnect

            raise BotDidNotConnect("no")

        small = lounge(tmp_path)
        monkeypatch.setattr(small._house, "port", broken)
        table = small.open(order("random"), "a", "")
        await asyncio.gather(*small._games.values())
        assert table.phase == "ended"
        assert "nobody's loss" in table.problem
        assert table.record is None
        await small.close()

    asyncio.run(story())


def test_a_persons_clock_runs_from_question_to_choice() -> None:
    """Its time is what a choice took; past the limit it is a timeout; who leaves is disconnected, then and later."""

    class Slow:
        def start(self, started: pb.MatchStarted) -> None: ...

        def observe(self, events: Any) -> None: ...

        def end(self, ended: pb.MatchEnded) -> None: ...

        async def choose(self, request: pb.DecisionRequested) -> int:
            await asyncio.sleep(request.decision_id / 1000)
            return 7

    def question(takes_ms: int) -> Any:
        def fill(request: pb.DecisionRequested) -> None:
            request.decision_id = takes_ms

        return fill

    async def story() -> list[Answer]:
        port = PersonPort(Slow())
        key = ("game", 1)
        answers = [await port.ask(key, question(20), 60_000), await port.ask(key, question(60_000), 30)]
        asking = asyncio.create_task(port.ask(key, question(60_000), 60_000))
        await asyncio.sleep(0.01)
        port.leave()
        return [*answers, await asking, await port.ask(key, question(1), 60_000)]

    chose, late, left, gone = asyncio.run(story())
    assert chose.act is not None
    assert chose.act.action_id == 7
    assert chose.elapsed_us >= 20_000
    assert (late.act, late.fault) == (None, SeatReason.TIMEOUT)
    assert late.elapsed_us >= 30_000
    assert (left.fault, gone.fault) == (SeatReason.DISCONNECT, SeatReason.DISCONNECT)


def test_orders_and_names() -> None:
    """Forms become orders with complete options; names are one printable line; opponents are those that play the game."""
    form = {"with": ["greedy", "", "person"], "pace": ["brisk"], "option-rounds": ["2"], "shuffle": ["on"]}
    read = order_of(POP, form)
    assert read == Order("pop", {"two_player_variant": False, "rounds": 2}, ("greedy", "person"), "brisk", True)
    assert read.players == 3
    with pytest.raises(BadOrder, match="does not play"):
        order_of(POP, {"with": ["flatmc-7"]})
    assert opponents("pop") == ("random", "greedy", "heuristic", "flatmc-200")
    assert name_of("  Ada\n\u202e Lovelace\x00 ") == "Ada Lovelace"
    assert name_of("\u200b \n") == GUEST
    assert len(name_of("x" * 99)) == LONGEST_NAME
    assert unlike("random", ["random", "random 2"]) == "random 3"


def test_seats_by_lot_put_the_opener_anywhere() -> None:
    """Without a lot the opener sits first."""
    assert {Table(order("random", "greedy"), "a").opener_seat for _ in range(5)} == {0}
    assert {Table(order("random", "greedy", shuffle=True), "a").opener_seat for _ in range(80)} == {0, 1, 2}


def test_a_shelf_keeps_the_newest(tmp_path: Path) -> None:
    """The oldest records make room; no name leads out of the folder."""
    shelf = Shelf(tmp_path / "tables", kept=3)
    ids = [f"t_{number:016x}" for number in range(5)]
    for table_id in ids:
        shelf.put(table_id, table_id.encode())
    assert [shelf.get(table_id) for table_id in ids] == [None, None, *(table_id.encode() for table_id in ids[2:])]
    (tmp_path / "secret.jsonl.gz").write_bytes(b"secret")
    assert shelf.get("../secret") is None

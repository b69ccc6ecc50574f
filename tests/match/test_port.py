"""What a session is told, and what becomes of it while the arena cannot reach it."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest

from arena.host import port as port_module
from arena.host.port import Answer, Port, SessionFailed
from arena.match.spec import SeatReason
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb

OFFER = pb.SetOffered(offer_id="o", game="pop", players=2, games=1)
READY = relay.GatewayEvent(ready=relay.ReadyReceived(offer_id="o", nonce=b"n"))


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_module, "GRACE_S", 0.0)


async def test_r69_an_offer_waits_for_a_session_out_of_reach() -> None:
    """It is made again where the bot turns up, also if it was made in between and went nowhere."""
    lost: list[relay.WorkerEvent] = []
    found: list[relay.WorkerEvent] = []
    port = Port("old", lost.append)
    before = asyncio.create_task(port.offer(OFFER, 10))
    await asyncio.sleep(0)
    assert [event.session for event in lost] == ["old"]
    port.freeze(None)
    meanwhile = asyncio.create_task(port.offer(pb.SetOffered(offer_id="o2"), 10))
    await asyncio.sleep(0)
    assert len(lost) == 1
    port.thaw("new", found.append)
    assert [(event.session, event.offer.offer.offer_id) for event in found] == [("new", "o"), ("new", "o2")]
    port.handle(READY)
    assert await before == b"n"
    port.handle(relay.GatewayEvent(offer_refused=relay.OfferRefused(offer_id="o2")))
    assert await meanwhile is None


@pytest.mark.usefixtures("no_grace")
async def test_r69_who_could_not_be_asked_is_not_unready() -> None:
    """The time is over either way; whose fault that is depends on whether the offer stood with the bot."""
    port = Port("s", lambda _: None)
    assert await port.offer(OFFER, 0.01) is None
    port.freeze(None)
    with pytest.raises(SessionFailed, match="out of reach"):
        await port.offer(OFFER, 0.01)


async def test_r69_a_session_that_is_lost_for_good_fails_its_offers() -> None:
    port = Port("s", lambda _: None)
    offering = asyncio.create_task(port.offer(OFFER, 10))
    await asyncio.sleep(0)
    port.freeze(None)
    port.fail("it did not come back")
    with pytest.raises(SessionFailed, match="did not come back"):
        await offering


@pytest.mark.usefixtures("no_grace")
async def test_a_bot_that_turns_up_as_its_offer_ends_is_not_offered_it() -> None:
    """In the very turn of the loop in which the time is over."""
    found: list[relay.WorkerEvent] = []
    port = Port("s", lambda _: None)
    port.freeze(None)
    offering = asyncio.create_task(port.offer(OFFER, 0.01))
    await asyncio.sleep(0)
    turned_up = asyncio.get_running_loop().create_future()

    def turn_up() -> None:
        port.thaw("new", found.append)
        turned_up.set_result(None)

    asyncio.get_running_loop().call_later(0.02, turn_up)
    time.sleep(0.03)  # noqa: ASYNC251 - so that both are due at once
    assert await offering is None
    assert turned_up.done()
    assert found == []


class Question:
    """A decision of ``limit_ms`` that is open at a session, on a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limit_ms: int = 3000) -> None:
        self.now = 100.0
        monkeypatch.setattr(port_module, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.asked_ms: list[int] = []
        """What was used up each time it was asked."""
        self.port = Port("s", lambda event: self.asked_ms.append(event.ask.elapsed_ms))
        self.answer = asyncio.create_task(self.port.ask(("g", 7), lambda request: None, limit_ms))

    def left(self, elapsed_ms: int) -> None:
        """The gateway's word that the bot left arrives."""
        self.port.account([relay.OpenDecision(game_id="g", decision_id=7, elapsed_ms=elapsed_ms)])

    def expired(self, elapsed_ms: int, *, disconnected: bool = False) -> None:
        about = relay.Expired(game_id="g", decision_id=7, elapsed_ms=elapsed_ms, disconnected=disconnected)
        self.port.handle(relay.GatewayEvent(expired=about))

    def acted(self, elapsed_ms: int) -> None:
        act = pb.Act(game_id="g", decision_id=7)
        self.port.handle(relay.GatewayEvent(act=relay.ActReceived(act=act, elapsed_us=elapsed_ms * 1000)))


@pytest.fixture
async def question(monkeypatch: pytest.MonkeyPatch) -> Question:
    one = Question(monkeypatch)
    await asyncio.sleep(0)
    return one


@pytest.mark.parametrize("disconnected", [False, True])
async def test_r10_an_absence_of_which_nobody_could_know_is_not_charged(question: Question, disconnected: bool) -> None:
    """The link to the gateway was silent: the bot was at another one, where nobody asked it. It is asked again, once."""
    question.now += 3.2
    question.left(200)
    question.now += 0.05
    question.expired(3100, disconnected=disconnected)
    await asyncio.sleep(0)
    assert question.asked_ms == [0, 250]
    assert not question.answer.done()
    question.now += 2.75
    question.expired(3000, disconnected=disconnected)
    fault = SeatReason.DISCONNECT if disconnected else SeatReason.TIMEOUT
    assert await question.answer == Answer(None, fault, 3_000_000, 0)
    assert question.asked_ms == [0, 250]


async def test_r10_what_the_worker_knew_of_an_absence_is_charged(question: Question) -> None:
    """A bot that leaves in an arena that is well pays for all of it, up to what a network takes."""
    question.now += 0.2
    question.left(195)
    question.now += 2.8
    question.expired(3005, disconnected=True)
    assert await question.answer == Answer(None, SeatReason.DISCONNECT, 3_005_000, 0)
    assert question.asked_ms == [0]


async def test_r10_an_answer_costs_no_more_than_what_was_known_of_the_absence(question: Question) -> None:
    """Its bank would pay for the silence of the link; a bot that never left pays by its gateway's clock alone."""
    question.now += 3.2
    question.left(200)
    question.now += 0.3
    question.acted(2900)
    assert (await question.answer).elapsed_us == 500_000


async def test_a_bot_that_never_left_pays_by_its_gateways_clock(question: Question) -> None:
    question.now += 0.1
    question.acted(2900)
    assert (await question.answer).elapsed_us == 2_900_000


async def test_r69_what_runs_out_while_the_session_is_out_of_reach_is_asked_where_it_is_found(
    question: Question,
) -> None:
    """Released or lost meanwhile: then the clock stands still here, and what its gateway says of it is late."""
    question.now += 3.2
    question.left(200)
    question.port.freeze(None)
    question.expired(3100, disconnected=True)
    await asyncio.sleep(0)
    assert not question.answer.done()
    found: list[int] = []
    question.port.thaw("t", lambda event: found.append(event.ask.elapsed_ms))
    assert found == [200]
    question.answer.cancel()


async def test_r10_a_question_that_came_while_nobody_could_know_is_asked_again(question: Question) -> None:
    """It was on its way when the bot left, and the link silent then: the worker hears of the absence and of its end at once."""
    question.now += 3.2
    question.port.account([])
    question.now += 0.0625
    question.expired(3100)
    await asyncio.sleep(0)
    assert question.asked_ms == [0, 62]
    question.expired(3100)
    assert (await question.answer).fault is SeatReason.TIMEOUT

"""What a session is told, and what becomes of it while the arena cannot reach it."""

from __future__ import annotations

import asyncio
import time

import pytest

from arena.host import port as port_module
from arena.host.port import Port, SessionFailed
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

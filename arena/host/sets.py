"""Plays one set: commits to its deals, asks every bot once whether it is ready, then plays its games in order."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import engines
from arena import logs, metrics
from arena.errors import ArenaError, Unavailable
from arena.host.play import Finished, Voided, Watcher, play_match
from arena.host.port import STORY, Port, SessionFailed
from arena.host.seats import Seat, SessionSeat
from arena.host.wire import config_json, time_control_message
from arena.match.deal import (
    NONCE_BYTES,
    SECRET_BYTES,
    Deal,
    DealMode,
    commitment,
    rules_hash,
    secret_from_seed,
    secret_of_seeded,
)
from arena.match.spec import Player, Spec, TimeControl, VoidReason
from arena.tracing import TRACES
from botarena.internal.v1 import relay_pb2 as relay
from botarena.v1 import play_pb2 as pb

log = logging.getLogger(__name__)

READY_TIMEOUT_S = 10.0


class NotReady(ArenaError):
    """Bots did not answer the offer; ``positions`` says which. Nothing was played and nobody is charged."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        super().__init__(f"not ready: positions {positions}")
        self.positions = positions


@dataclass(frozen=True, slots=True)
class GameJob:
    """One game still to be played. ``order`` names the position (index into ``SetJob.players``) on each seat."""

    match_id: str
    index: int
    attempt: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GameDeal:
    """A game with what its chance comes from: ``commitment`` and ``secret``, 32 bytes each."""

    game: GameJob
    commitment: bytes
    secret: bytes


@dataclass(frozen=True, slots=True)
class SetJob:
    """A set as it is to be played now. ``seed`` replaces the secret and makes the deals unproven."""

    set_id: str
    attempt: int
    game: str
    config: Mapping[str, bool | int]
    players: tuple[Player, ...]
    games: tuple[GameJob, ...]
    time_control: TimeControl
    deal_mode: DealMode
    rated: bool
    seed: int | None = None


class Ports(Protocol):
    """Where the sessions of a set's bots come from."""

    async def open(self, position: int) -> Port:
        """The session of the bot at ``position``; for a deal shared by several games a fresh one each time if need be."""

    async def close_game(self) -> None:
        """A game is over: whatever must not live into the next one ends."""


class Journal(Protocol):
    """Where a set's story is written. Every method may raise Fenced, which ends the set at once."""

    async def begin(self, deals: Sequence[GameDeal]) -> None:
        """Called once, before any bot hears of a commitment."""

    async def finished(self, game: GameJob, finished: Finished) -> Mapping[int, pb.RatingChange]:
        """Called with each result; the set's last one settles it, and gives what it did to ratings by position."""


async def play_set(
    job: SetJob, ports: Ports, journal: Journal, key: Ed25519PrivateKey, watch: Watcher | None = None
) -> None:
    """Plays all games of ``job``; ``watch`` hears of all that happens. Raises NotReady before the first event, Voided or Fenced after it."""
    deals = _deals(job)
    await journal.begin(deals)
    offers = [_offer(job, deals) for _ in job.players]
    nonces: dict[int, bytes] = {}
    with metrics.SETS_RUNNING.track_inprogress(), _offering(offers) as at:
        for number, deal in enumerate(deals):
            at[:] = opened = await _open(ports, len(job.players), begun=number > 0)
            if number == 0 or job.deal_mode == "shared":
                with TRACES.span("offer"), _told(job):
                    nonces = await _ready(job, offers, opened)
            spec = _spec(job, deal, nonces)
            seats = [SessionSeat(opened[position], offers[position].offer_id) for position in deal.game.order]
            with logs.bound(match_id=spec.match_id), TRACES.span("match", match_id=spec.match_id, game=spec.game):
                logs.event(log, "match.started", bots=[player.bot for player in spec.seats])
                finished = await play_match(spec, seats, key, watch)
                reveal = job.deal_mode == "own" or number == len(deals) - 1
                with TRACES.span("settle"):
                    changes = await _settle(deal.game, finished, seats, journal, reveal=reveal)
                logs.event(log, "match.finished", places=finished.outcome.places, reasons=finished.outcome.reasons)
            for position, change in changes.items():
                opened[position].deliver(_notice(change))
            await ports.close_game()
            _count(finished)


@contextmanager
def _offering(offers: Sequence[pb.SetOffered]) -> Iterator[list[Port]]:
    """To be filled with where the offers are made: a set that does not come to its end takes no credit any more."""
    at: list[Port] = []
    try:
        yield at
    except BaseException:
        for port, offer in zip(at, offers, strict=False):
            port.release_offer(offer.offer_id)
        raise


@contextmanager
def _told(job: SetJob) -> Iterator[None]:
    """Gateways that are asked within hear what logs and traces call the set, if there are any."""
    if not TRACES.on and not logs.as_json():
        yield
        return
    matches = {game.index: game.match_id for game in job.games}
    story = relay.Story(set_id=job.set_id, attempt=job.attempt, match_ids=matches, traceparent=TRACES.traceparent())
    token = STORY.set(story)
    try:
        yield
    finally:
        STORY.reset(token)


async def _settle(
    game: GameJob, finished: Finished, seats: Sequence[Seat], journal: Journal, *, reveal: bool
) -> Mapping[int, pb.RatingChange]:
    """Tells the seats of a result once it is written down; ``reveal``: with the deal's secret."""
    try:
        changes = await journal.finished(game, finished)
    except BaseException:
        for seat in seats:
            seat.void()
        raise
    for seat in seats:
        seat.end(finished.outcome, finished.record, reveal=reveal)
    return changes


def _notice(change: pb.RatingChange) -> pb.ArenaEvent:
    text = f"{change.ladder}: {change.before_milli / 1000:.1f} -> {change.after_milli / 1000:.1f}"
    return pb.ArenaEvent(notice=pb.Notice(kind=pb.Notice.KIND_RATING, text=text, rating=change))


async def _open(ports: Ports, players: int, *, begun: bool) -> list[Port]:
    """All sessions by position.

    Raises NotReady, or once a game was played SessionFailed, if a bot is not there; Voided if the arena cannot tell.
    """
    opened = []
    for position in range(players):
        try:
            opened.append(await ports.open(position))
        except Unavailable as error:
            raise Voided(VoidReason.INFRA_VOID, str(error)) from error
        except SessionFailed:
            if begun:
                raise
            raise NotReady((position,)) from None
    return opened


async def _ready(job: SetJob, offers: Sequence[pb.SetOffered], ports: Sequence[Port]) -> dict[int, bytes]:
    """The nonces by position. Raises NotReady, or Voided if the arena could not ask one of them."""
    asking = (
        port.offer(offer, READY_TIMEOUT_S, set_id=job.set_id, attempt=job.attempt)
        for port, offer in zip(ports, offers, strict=True)
    )
    nonces: dict[int, bytes] = {}
    missing = []
    for position, answer in enumerate(await asyncio.gather(*asking, return_exceptions=True)):
        if isinstance(answer, SessionFailed):
            raise Voided(VoidReason.INFRA_VOID, str(answer)) from answer
        if isinstance(answer, BaseException):
            raise answer
        if answer is None:
            missing.append(position)
        else:
            nonces[position] = answer[:NONCE_BYTES]
    if missing:
        raise NotReady(tuple(missing))
    return nonces


def _deals(job: SetJob) -> list[GameDeal]:
    """A secret and its commitment for each game: the seed's where there is one, one for all games of a shared deal."""
    rules = rules_hash(engines.get(job.game))
    common = secrets.token_bytes(SECRET_BYTES)
    deals = []
    for game in job.games:
        if job.seed is not None:
            seeded = job.deal_mode == "seeded"
            secret = secret_of_seeded(job.seed, game.index) if seeded else secret_from_seed(job.seed)
        else:
            secret = common if job.deal_mode == "shared" else secrets.token_bytes(SECRET_BYTES)
        deals.append(GameDeal(game, commitment(game.match_id, game.attempt, rules, secret), secret))
    return deals


def _offer(job: SetJob, deals: Sequence[GameDeal]) -> pb.SetOffered:
    """One position's offer; ids of their own tell a program nothing about who else sits at the table."""
    return pb.SetOffered(
        offer_id=f"o_{secrets.token_hex(8)}",
        game=job.game,
        players=len(job.players),
        config_json=config_json(tuple(job.config.items())),
        games=len(job.games),
        rated=job.rated,
        time_control=time_control_message(job.time_control),
        commitments=[deal.commitment for deal in deals],
    )


def _spec(job: SetJob, dealt: GameDeal, nonces: Mapping[int, bytes]) -> Spec:
    game = dealt.game
    uses_nonces = job.deal_mode == "own" and job.seed is None
    deal = Deal(
        mode=job.deal_mode,
        commitment=dealt.commitment,
        nonces=tuple(nonces[position] for position in game.order) if uses_nonces else (),
        set_attempt=job.attempt,
        proven=job.seed is None,
        secret=dealt.secret,
    )
    return Spec(
        match_id=game.match_id,
        set_id=job.set_id,
        attempt=game.attempt,
        game_index=game.index,
        game=job.game,
        config=job.config,
        seats=tuple(job.players[position] for position in game.order),
        time_control=job.time_control,
        deal=deal,
        rated=job.rated,
        bot_seeds=_bot_seeds(job, game),
    )


def _bot_seeds(job: SetJob, game: GameJob) -> tuple[int, ...]:
    """Seeds for the bots' own randomness by seat; unrelated to the deal, and repeatable where the set has a seed."""
    if job.seed is None:
        return tuple(secrets.randbits(63) for _ in game.order)
    return tuple(
        int.from_bytes(hashlib.sha256(f"bot {job.seed} {game.match_id} {position}".encode()).digest()[:8], "big") >> 1
        for position in game.order
    )


def _count(finished: Finished) -> None:
    faults = [str(reason) for reason in finished.outcome.reasons if reason != "NORMAL"]
    metrics.MATCHES.labels(finished.spec.game, faults[0] if faults else "NORMAL").inc()

"""Between protocol messages and the values of :mod:`botarena.model`: pure functions, one a message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from botarena.model import (
    Action,
    Annotation,
    Answer,
    Clock,
    Event,
    Legal,
    Match,
    PlayedForYou,
    Player,
    Receipts,
    Result,
    TimeControl,
    View,
)
from botarena.program import Program
from botarena.v1 import play_pb2 as pb

PROTOCOL = 1000
"""The version of botarena.v1 that this SDK was written for, as major * 1000 + minor."""

MAX_TEXT = 200
"""What of a wrong answer's text is sent, in characters: no action of any game is longer."""

_HISTORY = {
    "none": pb.Wants.HISTORY_NONE,
    "delta": pb.Wants.HISTORY_DELTA,
    "full": pb.Wants.HISTORY_FULL,
}


class _Enum(Protocol):
    def Name(self, number: Any) -> str: ...  # noqa: N802 - protobuf's name


def enum_name(enum: _Enum, number: int, prefix: str) -> str:
    """``SEAT_REASON_BOT_CRASH`` as ``bot_crash``; enums grow, so a number newer than this SDK becomes ``unknown_7``."""
    try:
        return enum.Name(number).removeprefix(prefix).lower()
    except ValueError:
        return f"unknown_{number}"


def hello(
    program: Program, *, sdk: str, instance: str, credit: int, resume: str, ladders: Sequence[str] = ()
) -> pb.Hello:
    """The first event of a stream."""
    profile = program.profile
    return pb.Hello(
        bot=profile.name,
        version=profile.version,
        instance=instance,
        sdk=sdk,
        games=[pb.GameSupport(game=game, players=profile.players) for game in profile.games],
        credit=credit,
        wants=pb.Wants(
            text=profile.text,
            json=profile.json,
            typed_actions=profile.typed_actions,
            history=_HISTORY[program.history],
        ),
        protocol=PROTOCOL,
        resume_session=resume,
        ladders=ladders,
    )


def match_from(message: pb.MatchStarted) -> Match:
    control = message.time_control
    return Match(
        game_id=message.game_id,
        game=message.game,
        players=message.players,
        config=json.loads(message.config_json or "{}"),
        rules_version=message.rules_version,
        seat=message.seat,
        seats=tuple(Player(player.bot, player.version, player.owner) for player in message.seats),
        time_control=TimeControl(control.bank_ms, control.increment_ms, control.move_cap_ms),
        rated=message.rated,
        resumed=message.resumed,
        bot_seed=message.bot_seed,
        game_index=message.game_index,
        commitment=message.commitment,
        receipt=message.receipt,
    )


def event_from(message: pb.ObservedEvent) -> Event:
    event_id = message.id if message.HasField("id") else None
    if message.actor == pb.ObservedEvent.ACTOR_CHANCE:
        return Event(message.seq, "chance", None, event_id, message.text)
    return Event(message.seq, "seat", message.seat, event_id, message.text)


def view_from(match: Match, message: pb.DecisionRequested) -> View:
    return View(
        match=match,
        seq=message.view.seq,
        decision_id=message.decision_id,
        played_for_you=tuple(
            PlayedForYou(item.action_id, item.text, enum_name(pb.PlayedForYou.Reason, item.reason, "REASON_"))
            for item in message.played_for_you
        ),
        history=tuple(event_from(event) for event in message.history),
        message=message.view,
    )


def legal_from(message: pb.DecisionRequested) -> Legal:
    return Legal(message.legal, message.default_action)


def clock_from(message: pb.Clock, arrived: float) -> Clock:
    """``arrived``: ``time.monotonic()`` when the request was read."""
    return Clock(message.bank_ms, message.limit_ms, message.last_charged_ms, message.last_network_ms, arrived)


def result_from(match: Match, message: pb.MatchEnded, arena_key: bytes) -> Result:
    receipts = Receipts(
        match_id=message.match_id,
        arena_key=arena_key,
        commitment=match.commitment,
        opening=match.receipt,
        head=message.record_head,
        secret=message.secret,
        closing=message.receipt,
    )
    return Result(
        outcome="finished" if message.end == pb.MatchEnded.END_FINISHED else "void",
        seat=match.seat,
        places=tuple(message.places),
        scores=tuple(message.scores),
        reasons=tuple(enum_name(pb.SeatReason, reason, "SEAT_REASON_") for reason in message.reasons),
        match_id=message.match_id,
        set_id=message.set_id,
        receipts=receipts,
    )


def act_from(request: pb.DecisionRequested, answer: Answer) -> pb.Act:
    """The message for what ``act`` returned. Raises LookupError or TypeError, saying what would be right."""
    choice, note = answer if isinstance(answer, tuple) else (answer, None)
    act = pb.Act(game_id=request.game_id, decision_id=request.decision_id, action_id=_legal_id(request.legal, choice))
    if isinstance(note, str):
        act.annotation.comment = note
    elif note is not None:
        act.annotation.CopyFrom(_annotation(note))
    return act


def _legal_id(legal: Sequence[pb.Action], choice: object) -> int:
    """The id of ``choice``, which may also be any integer type that can index, such as numpy's."""
    if isinstance(choice, str):
        return Legal(legal).by_text(choice.strip()).id
    if isinstance(choice, Action):
        return Legal(legal).by_id(choice.id).id
    if isinstance(choice, bool) or not hasattr(choice, "__index__"):
        raise TypeError(f"act() must return one of legal, its id or its text, not {choice!r}")
    return Legal(legal).by_id(choice.__index__()).id


def _annotation(note: Annotation) -> pb.Annotation:
    milli = 0 if note.value is None else round(max(-1.0, min(1.0, note.value)) * 1000)
    return pb.Annotation(comment=note.comment, eval_milli=milli, nodes=note.nodes, pv=note.pv)


def failure_act(request: pb.DecisionRequested, error: BaseException) -> pb.Act:
    """An answer that no game has, so that the arena ends a failed seat at once instead of waiting for its clock."""
    text = f"failed: {type(error).__name__}"[:MAX_TEXT]
    return pb.Act(game_id=request.game_id, decision_id=request.decision_id, text=text)

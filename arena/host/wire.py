"""One seat of one game in messages of the protocol: what it is told, and what its answers mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import engines
from arena.match.record import Record
from arena.match.referee import ChanceDrawn, Event, JointPlayed, Outcome, PlayedForSeat, Reply, Request, Source
from arena.match.spec import SeatReason, Spec, TimeControl
from botarena import codecs
from botarena.v1 import play_pb2 as pb

MAX_COMMENT_CHARS = 500
MAX_PV_MOVES = 32
MAX_DETAIL_CHARS = 80

_PLAYED_REASON = {
    Source.FORCED: pb.PlayedForYou.REASON_FORCED,
    Source.DEFAULT: pb.PlayedForYou.REASON_DEFAULT,
    Source.TIMER: pb.PlayedForYou.REASON_TIMER,
}
_FAULT_CODE = {
    SeatReason.ILLEGAL: pb.ActResult.CODE_ILLEGAL,
    SeatReason.MALFORMED: pb.ActResult.CODE_MALFORMED,
    SeatReason.TIMEOUT: pb.ActResult.CODE_TOO_LATE,
}


@cache
def _legal(game: engines.Game, typed: bool) -> dict[int, bytes]:
    """By an action's id a request with nothing but this action, encoded; filled as they are needed."""
    return {}


@cache
def config_json(items: tuple[tuple[str, bool | int], ...]) -> str:
    """A configuration as the protocol carries it."""
    return json.dumps(dict(items))


def time_control_message(control: TimeControl) -> pb.TimeControl:
    return pb.TimeControl(bank_ms=control.bank_ms, increment_ms=control.increment_ms, move_cap_ms=control.move_cap_ms)


class SeatWire:
    """Encodes and decodes for one seat. ``wants`` is what its session asked for in Hello."""

    __slots__ = (
        "_game",
        "_history",
        "_json",
        "_legal",
        "_seq",
        "_spec",
        "_tells",
        "_text",
        "_typed",
        "_whole_history",
        "game_id",
        "seat",
    )

    def __init__(self, spec: Spec, seat: int, game_id: str, wants: pb.Wants) -> None:
        self.game_id = game_id
        self.seat = seat
        self._spec = spec
        self._game = engines.get(spec.game)
        self._tells = wants.history != pb.Wants.HISTORY_NONE
        self._whole_history = wants.history == pb.Wants.HISTORY_FULL
        self._json, self._text, self._typed = wants.json, wants.text, wants.typed_actions
        self._legal = _legal(self._game, wants.typed_actions)
        self._history: list[pb.ObservedEvent] = []
        self._seq = 0

    def started(self, receipt: bytes, offer_id: str) -> pb.MatchStarted:
        """The opening message."""
        spec = self._spec
        return pb.MatchStarted(
            game_id=self.game_id,
            game=spec.game,
            players=len(spec.seats),
            config_json=config_json(tuple(spec.config.items())),
            rules_version=self._game.rules_version,
            seat=self.seat,
            seats=[pb.Player(bot=p.bot, version=p.version, owner=p.owner) for p in spec.seats],
            time_control=time_control_message(spec.time_control),
            rated=spec.rated,
            offer_id=offer_id,
            commitment=spec.deal.commitment,
            receipt=receipt,
            bot_seed=spec.bot_seeds[self.seat],
            game_index=spec.game_index,
        )

    def observed(self, events: Sequence[Event]) -> pb.EventsObserved | None:
        """What this seat may see of new events; None if it wants none."""
        if events:
            self._seq = events[-1].seq + 1
        if not self._tells:
            return None
        seen = [item for event in events for item in self._see(event)]
        if self._whole_history:
            self._history += seen
        return pb.EventsObserved(game_id=self.game_id, events=seen) if seen else None

    def failures(self, events: Sequence[Event]) -> list[pb.Notice]:
        """What everybody is told of seats that have failed and that go on with default actions."""
        return [
            self._failure(part.seat, part.fault)
            for event in events
            if isinstance(event, JointPlayed) and not event.ended
            for part in event.parts
            if part.fault is not None
        ]

    def _failure(self, seat: int, fault: SeatReason) -> pb.Notice:
        text = f"Seat {seat} has failed ({fault.lower()}) and goes on with default actions."
        return pb.Notice(kind=pb.Notice.KIND_SEAT_FAILED, text=text, game_id=self.game_id)

    def _see(self, event: Event) -> Iterable[pb.ObservedEvent]:
        if isinstance(event, ChanceDrawn):
            yield self._seen(event, None, event.outcome)
        elif not event.ended:
            for part in event.parts:
                if part.action is not None:
                    yield self._seen(event, part.seat, part.action)

    def _seen(self, event: Event, actor: int | None, event_id: int) -> pb.ObservedEvent:
        text = self._game.text(event_id)
        visible = actor == self.seat or event.before.sees(self.seat, actor, event_id)
        return pb.ObservedEvent(
            seq=event.seq,
            actor=pb.ObservedEvent.ACTOR_CHANCE if actor is None else pb.ObservedEvent.ACTOR_SEAT,
            seat=actor or 0,
            id=event_id if visible else None,
            text=text if visible else hidden_text(text),
        )

    def decision(self, request: Request, into: pb.DecisionRequested) -> None:
        """Fills in a self-contained request: a bot that keeps no state can answer it.

        In place, since messages within messages are copied otherwise, and this is the hot path. What comes again and again is
        merged in as bytes, which costs a third of copying messages.
        """
        legal = self._legal
        into.game_id = self.game_id
        into.decision_id = request.decision_id
        self._view(request, into.view)
        into.MergeFromString(b"".join([legal.get(action) or self._action(action) for action in request.legal]))
        clock = into.clock
        clock.bank_ms = request.bank_ms
        clock.limit_ms = request.limit_ms
        clock.last_charged_ms = request.last_charged_ms
        clock.last_network_ms = request.last_network_ms
        into.default_action = request.default_action
        if request.played_for_you:
            into.played_for_you.extend([self._played_for(played) for played in request.played_for_you])
        if self._history:
            into.history.extend(self._history)

    def _view(self, request: Request, message: pb.View) -> None:
        view = request.state.view(self.seat)
        message.seat, message.seq = self.seat, self._seq
        if self._json:
            message.json = json.dumps(view.to_json(), separators=(",", ":"))
        else:
            codecs.encode_view(self._game.name, view, message)
        if self._text:
            message.text = request.state.render(self.seat)

    def _action(self, action: int) -> bytes:
        message = pb.Action(id=action, text=self._game.text(action))
        if self._typed:
            codecs.encode_action(self._game.name, self._game.typed(action), message.typed)
        encoded = self._legal[action] = pb.DecisionRequested(legal=[message]).SerializeToString()
        return encoded

    def _played_for(self, played: PlayedForSeat) -> pb.PlayedForYou:
        return pb.PlayedForYou(
            action_id=played.action, text=self._game.text(played.action), reason=_PLAYED_REASON[played.source]
        )

    def reply(self, request: Request, act: pb.Act, elapsed_us: int, rtt_us: int) -> Reply:
        """What an answer means: an action id, legal or not, or MALFORMED if it names no action of this game at all."""
        annotation = annotation_of(act)
        try:
            action = self._resolve(act)
        except engines.MalformedAction as error:
            return Reply(None, SeatReason.MALFORMED, elapsed_us, rtt_us, str(error)[:MAX_DETAIL_CHARS], annotation)
        if action in request.legal:
            return Reply(action, None, elapsed_us, rtt_us, "", annotation)
        detail = f"{self._game.text(action)} is not legal here"
        return Reply(None, SeatReason.ILLEGAL, elapsed_us, rtt_us, detail, annotation)

    def _resolve(self, act: pb.Act) -> int:
        kind = act.WhichOneof("choice")
        if kind == "action_id":
            if act.action_id >= self._game.num_actions:
                raise engines.MalformedAction(f"{act.action_id} is no action id of {self._game.name}")
            return act.action_id
        if kind == "text":
            action = self._game.parse(act.text)
        elif kind == "typed":
            try:
                action = self._game.parse(codecs.decode_action(self._game.name, act.typed))
            except ValueError as error:
                raise engines.MalformedAction(str(error)) from None
        else:
            raise engines.MalformedAction("the act names no action: set action_id, text or typed")
        if action >= self._game.num_actions:
            raise engines.MalformedAction("that is a chance outcome, not an action")
        return action

    def result(self, request: Request, reply: Reply) -> pb.ActResult | None:
        """What the bot is told of a fault in its answer."""
        code = _FAULT_CODE.get(reply.fault) if reply.fault else None
        if code is None:
            return None
        return pb.ActResult(game_id=self.game_id, decision_id=request.decision_id, code=code, detail=reply.detail)

    def ended(self, outcome: Outcome, record: Record, *, reveal: bool) -> pb.MatchEnded:
        """The closing message with the receipts; ``reveal`` shows the secret, which a shared deal keeps till its set ends."""
        spec = self._spec
        return pb.MatchEnded(
            game_id=self.game_id,
            end=pb.MatchEnded.END_FINISHED,
            places=outcome.places,
            scores=outcome.scores,
            reasons=[pb.SeatReason.Value(f"SEAT_REASON_{reason}") for reason in outcome.reasons],
            match_id=spec.match_id,
            set_id=spec.set_id,
            record_head=record.head,
            receipt=record.receipt if reveal else b"",
            secret=(spec.deal.secret or b"") if reveal else b"",
        )

    def void(self) -> pb.MatchEnded:
        return pb.MatchEnded(game_id=self.game_id, end=pb.MatchEnded.END_VOID)


def hidden_text(text: str) -> str:
    """What stands for an event that a seat may not see."""
    return text.split(" ", 1)[0] + " ?"


def annotation_of(act: pb.Act) -> Mapping[str, Any] | None:
    """A bot's note on its move, cut to a bounded size; None if there is none."""
    if not act.HasField("annotation"):
        return None
    note = act.annotation
    doc: dict[str, Any] = {}
    if note.comment:
        doc["comment"] = note.comment[:MAX_COMMENT_CHARS]
    if note.eval_milli:
        doc["eval"] = max(-1000, min(1000, note.eval_milli))
    if note.nodes:
        doc["nodes"] = note.nodes
    if note.pv:
        doc["pv"] = [move[:MAX_DETAIL_CHARS] for move in note.pv[:MAX_PV_MOVES]]
    return doc or None

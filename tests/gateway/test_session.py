"""The session as a pure machine: every rule of a bot's stream, without a network or a clock."""

from __future__ import annotations

from typing import Any

import pytest

from arena.gateway.session import (
    CloseStream,
    Conduct,
    Identity,
    Reason,
    Session,
    SessionLimits,
    Tally,
    Timer,
    ToWorker,
    Wake,
)
from botarena.internal.v1 import relay_pb2 as rpb
from botarena.v1 import play_pb2 as pb

MS = 1_000
S = 1_000_000
LIMITS = SessionLimits()


class Table:
    """A session, a worker and a bot around it, with a clock that stands until it is moved."""

    def __init__(self, *, credit: int = 4, limits: SessionLimits = LIMITS, connect: bool = True) -> None:
        self.now_us = 1_000 * S
        identity = Identity(1, 1, "alice", "1", "ann")
        self.conduct = Conduct(limits)
        self.session = Session("s", identity, "0", limits=limits, conduct=self.conduct, tally=Tally())
        self.up: list[rpb.GatewayEvent] = []
        self.closed: list[CloseStream] = []
        self.timers: list[tuple[int, Timer]] = []
        self.credit = credit
        if connect:
            self.connect()

    def do(self, effects: list[Any]) -> None:
        """Carry effects out."""
        for effect in effects:
            match effect:
                case ToWorker():
                    self.up.append(effect.event)
                case CloseStream():
                    self.closed.append(effect)
                case Wake():
                    self.timers.append((effect.at_us, effect.timer))

    def connect(self) -> None:
        """A stream opens."""
        self.do(self.session.connect(pb.Hello(credit=self.credit), pb.Welcome(), self.now_us))

    def vanish(self) -> None:
        """The stream that is open ends."""
        assert self.session.stream is not None
        self.do(self.session.disconnect(self.session.stream, self.now_us))

    def after(self, us: int) -> None:
        """Let time pass, with the timers that are due on the way."""
        end_us = self.now_us + us
        while due := [entry for entry in self.timers if entry[0] <= end_us]:
            entry = min(due, key=lambda entry: entry[0])
            self.timers.remove(entry)
            self.now_us = max(self.now_us, entry[0])
            self.do(self.session.on_timer(entry[1], self.now_us))
        self.now_us = end_us

    def bot(self, *events: pb.BotEvent) -> None:
        """The bot sends a frame."""
        self.do(self.session.from_bot(pb.PlayRequest(events=events), self.now_us))

    def act(self, game: str, decision: int, action: int = 0) -> None:
        """The bot answers."""
        self.bot(pb.BotEvent(act=pb.Act(game_id=game, decision_id=decision, action_id=action)))

    def worker(self, key: str = "w", **event: Any) -> None:
        """The worker sends an event."""
        self.do(self.session.from_worker(key, rpb.WorkerEvent(session="s", **event), self.now_us))

    def start(self, game: str = "g", offer: str = "") -> None:
        """The worker starts a game."""
        self.worker(deliver=pb.ArenaEvent(match_started=pb.MatchStarted(game_id=game, offer_id=offer)))

    def ask(
        self, game: str = "g", decision: int = 1, limit_ms: int = 1_000, elapsed_ms: int = 0, key: str = "w"
    ) -> None:
        """The worker asks."""
        clock = pb.Clock(bank_ms=limit_ms, limit_ms=limit_ms)
        request = pb.DecisionRequested(game_id=game, decision_id=decision, clock=clock)
        self.worker(key, ask=rpb.Ask(request=request, limit_ms=limit_ms, elapsed_ms=elapsed_ms))

    def offer(self, offer: str = "o", games: int = 1, *, of: tuple[str, int] = ("", 0), key: str = "w") -> None:
        """The worker offers a set."""
        offered = pb.SetOffered(offer_id=offer, games=games)
        self.worker(key, offer=rpb.Offer(offer=offered, timeout_ms=10_000, set_id=of[0], attempt=of[1]))

    def ready(self, offer: str = "o", nonce: bytes = b"") -> None:
        """The bot is ready."""
        self.bot(pb.BotEvent(ready=pb.Ready(offer_id=offer, nonce=nonce)))

    def end(self, game: str = "g", end: pb.MatchEnded.End.ValueType = pb.MatchEnded.END_FINISHED) -> None:
        """The worker ends a game."""
        self.worker(end=pb.MatchEnded(game_id=game, end=end))

    def read(self) -> list[Any]:
        """All that the bot is sent now, but pings."""
        return [getattr(e, e.WhichOneof("event") or "") for e in self.read_events() if not e.HasField("ping")]

    def read_events(self) -> list[pb.ArenaEvent]:
        """All that the bot is sent now."""
        events: list[pb.ArenaEvent] = []
        while frame := self.session.take(self.now_us):
            events += pb.PlayResponse.FromString(frame).events
        return events

    def kinds(self) -> list[str]:
        """Types of what the bot is sent now."""
        return [type(event).__name__ for event in self.read()]

    def told(self) -> list[str]:
        """Kinds of what the worker was told since the last time."""
        kinds = [event.WhichOneof("event") or "" for event in self.up]
        self.up.clear()
        return kinds

    def farewell(self) -> Any:
        """The last event of the stream that was closed last."""
        event = pb.PlayResponse.FromString(self.closed[-1].last).events[-1]
        return getattr(event, event.WhichOneof("event") or "")


@pytest.fixture
def table() -> Table:
    """A connected bot that has read its Welcome."""
    table = Table()
    assert table.kinds() == ["Welcome"]
    return table


def test_the_first_answer_goes_up_with_its_time(table: Table) -> None:
    """Time runs from the write of the request, and the round trip is told beside it."""
    table.start()
    table.ask()
    table.after(20 * MS)  # The writer was late by so much.
    assert table.kinds() == ["MatchStarted", "DecisionRequested"]
    table.after(300 * MS)
    table.act("g", 1, 5)
    answer = table.up[-1].act
    assert (answer.act.action_id, answer.elapsed_us) == (5, 300 * MS)


def test_r6_a_bot_that_does_not_read_does_not_stop_its_clock(table: Table) -> None:
    """A request that cannot be written still expires, at most 100 ms after its limit."""
    table.start()
    table.ask()
    table.after(990 * MS)
    table.read()
    table.after(111 * MS)
    assert table.told() == ["expired"]


def test_r6_a_slow_reader_gets_the_fresh_state_and_then_is_cut(table: Table) -> None:
    """A queue that is too long shrinks to the games and what is asked; one that grows again ends the stream."""
    table.start()
    table.ask(limit_ms=60_000)
    table.end("other")
    events = pb.EventsObserved(game_id="g", events=[pb.ObservedEvent(seq=1, text="x")])
    for _ in range(LIMITS.queue_events + 10):
        table.worker(deliver=pb.ArenaEvent(events_observed=events))
    started, request, *later = table.read()
    assert started.resumed
    assert request.resent
    assert 0 < len(later) < 20
    for _ in range(3 * LIMITS.queue_events):
        table.worker(deliver=pb.ArenaEvent(events_observed=events))
    assert table.closed[-1].failure is not None
    assert table.closed[-1].failure.reason is Reason.SLOW_READER
    assert table.told()[-1] == "session_lost"


def test_r6_what_must_not_be_lost_survives_the_fresh_state(table: Table) -> None:
    """The end of a game is never dropped, since nothing repeats it."""
    table.start("a")
    table.start("b")
    table.end("a")
    for _ in range(LIMITS.queue_events + 10):
        table.worker(deliver=pb.ArenaEvent(events_observed=pb.EventsObserved(game_id="b")))
    assert [event.game_id for event in table.read() if isinstance(event, pb.MatchEnded)] == ["a"]


def test_r6_a_ping_that_waits_survives_the_fresh_state(table: Table) -> None:
    """There is no second one before its answer: a bot that never had it would be taken for dead."""
    table.start()
    table.bot(pb.BotEvent(pong=pb.Pong(nonce=1)))
    table.after(11 * S)
    for _ in range(LIMITS.queue_events + 10):
        table.worker(deliver=pb.ArenaEvent(events_observed=pb.EventsObserved(game_id="g")))
    assert [event.ping.nonce for event in table.read_events() if event.HasField("ping")] == [2]


def test_r6_large_messages_count_by_their_size(table: Table) -> None:
    """256 KiB that wait are too many, however few messages they are."""
    table.start()
    notice = pb.Notice(text="x" * 60_000)
    for _ in range(12):
        table.worker(deliver=pb.ArenaEvent(notice=notice))
    assert table.closed[-1].failure is not None
    assert table.closed[-1].failure.reason is Reason.SLOW_READER


def test_r7_three_floods_are_out_for_a_minute(table: Table) -> None:
    """Beyond the burst each flood is a strike with a notice, the third ends the stream with the time to wait."""
    for _ in range(LIMITS.message_burst):
        table.bot(pb.BotEvent(set_credit=pb.SetCredit(credit=2)))
    assert table.read() == []
    for strike in range(LIMITS.strikes):
        assert table.closed == []
        table.bot(pb.BotEvent(pong=pb.Pong(nonce=99)))
        if strike < LIMITS.strikes - 1:
            (notice,) = table.read()
            assert notice.kind == pb.Notice.KIND_FLOOD
            table.bot(*[pb.BotEvent()] * LIMITS.message_burst)
    failure = table.closed[-1].failure
    assert failure is not None
    assert (failure.reason, failure.retry_after_ms) == (Reason.FLOOD, 60_000)
    assert table.conduct.out_until_us == table.now_us + 60 * S


def test_r7_answers_that_were_asked_for_cost_nothing(table: Table) -> None:
    """A thousand answers in no time are no flood, if a thousand questions were asked."""
    table.start()
    for decision in range(1, 1001):
        table.ask(decision=decision)
        table.read()
        table.act("g", decision)
    assert table.told().count("act") == 1000
    assert table.closed == []


def test_r7_strikes_are_forgotten_after_a_minute(table: Table) -> None:
    """Two strikes an hour are not three."""
    for _ in range(5):
        table.bot(*[pb.BotEvent()] * (LIMITS.message_burst + 1))
        table.after(61 * S)
        table.bot(pb.BotEvent(pong=pb.Pong(nonce=1)))
        assert table.conduct.out_until_us == 0


def test_r10_the_clock_runs_while_the_bot_is_away(table: Table) -> None:
    """After a reconnect the same request comes again with what remains of its time."""
    table.start()
    table.ask(limit_ms=1_000)
    table.read()
    table.after(200 * MS)
    table.vanish()
    table.after(300 * MS)
    table.connect()
    welcome, started, request = table.read()
    assert list(welcome.running_games) == ["g"]
    assert started.resumed
    assert (request.decision_id, request.resent, request.clock.limit_ms) == (1, True, 500)
    table.after(100 * MS)
    table.act("g", 1)
    assert table.told() == ["session_lost", "session_live", "act"]


def test_r10_absence_is_told_when_time_runs_out(table: Table) -> None:
    """Expiry of a decision says whether the bot was connected."""
    table.start()
    table.ask()
    table.read()
    table.vanish()
    table.after(1_001 * MS)
    expired = table.up[-1].expired
    assert (expired.decision_id, expired.elapsed_ms, expired.disconnected) == (1, 1_000, True)


def test_r10_a_question_asked_while_the_bot_is_away_waits_for_it(table: Table) -> None:
    """It is sent at the reconnect, its clock running since it was asked."""
    table.start()
    table.vanish()
    table.ask(limit_ms=2_000)
    table.after(1_500 * MS)
    table.connect()
    assert table.read()[-1].clock.limit_ms == 500
    table.after(501 * MS)
    assert table.told()[-1] == "expired"


def test_r69_time_that_ran_out_here_while_the_bot_was_elsewhere_is_not_its_time(table: Table) -> None:
    """A worker that did not hear of it and asks again knows better what was used; a bot that was here has had its time."""
    table.start()
    table.ask(limit_ms=1_000)
    table.read()
    table.vanish()
    table.after(2 * S)
    table.connect()
    table.read()
    table.ask(limit_ms=1_000, elapsed_ms=300)
    (asked,) = table.read()
    assert asked.clock.limit_ms == 700
    table.after(701 * MS)
    table.ask(limit_ms=1_000, elapsed_ms=300)
    assert [event.WhichOneof("event") for event in table.up][-3:] == ["session_live", "expired", "expired"]
    assert not table.up[-1].expired.disconnected


def test_r69_time_for_some_of_which_the_bot_was_elsewhere_may_not_be_its_own_either(table: Table) -> None:
    """It came back from a gateway that died, with too little left: if its worker never heard of the loss and asks again, that counts."""
    table.start()
    table.ask(limit_ms=1_000)
    table.read()
    table.vanish()
    table.after(900 * MS)
    table.connect()
    assert table.read()[-1].clock.limit_ms == 100
    table.after(101 * MS)
    assert not table.up[-1].expired.disconnected  # it is here, and unless somebody knows better it was too slow
    table.ask(limit_ms=1_000, elapsed_ms=300)
    (asked,) = table.read()
    assert asked.clock.limit_ms == 700
    table.act("g", asked.decision_id)
    assert table.told()[-1] == "act"


def test_r67_a_bot_that_is_here_keeps_a_game_that_its_worker_looks_for_elsewhere(table: Table) -> None:
    """The worker cannot know while Redis is away: the clock stands still, and the game goes on as soon as it does."""
    table.start()
    table.ask(limit_ms=1_000)
    table.after(400 * MS)
    table.worker(forget_game="g")
    table.after(9 * S)
    table.start()
    table.ask(limit_ms=1_000, elapsed_ms=400)
    table.after(599 * MS)
    table.act("g", 1)
    (acted,) = table.up
    assert acted.act.elapsed_us == 999 * MS


def test_r67_a_game_of_which_its_worker_never_speaks_again_is_over() -> None:
    """The bot is told so: it would wait for it for ever."""
    table = Table(limits=SessionLimits(frozen_us=5 * S))
    table.start()
    table.read()
    table.worker(forget_game="g")
    table.after(5 * S)
    ended = table.read()[-1]
    assert (ended.game_id, ended.end) == ("g", pb.MatchEnded.END_VOID)


@pytest.mark.parametrize("first", ["forget", "vanish"])
def test_r67_who_went_elsewhere_does_not_find_the_game_here(table: Table, first: str) -> None:
    """It is forgotten with the stream, or at once if there is none."""
    table.start()
    if first == "vanish":
        table.vanish()
    table.worker(forget_game="g")
    if first == "forget":
        table.vanish()
    table.up.clear()
    table.connect()
    (welcome,) = table.read()
    assert not welcome.running_games
    assert table.told() == ["session_live"]


def test_r67_a_worker_that_plays_with_a_bot_that_is_not_here_is_told(table: Table) -> None:
    """It may have the place from a registry that is behind."""
    table.vanish()
    table.start()
    assert table.told() == ["session_lost"]


def test_r11_the_newest_connection_wins(table: Table) -> None:
    """The old stream is told REPLACED and ends without an error; the games and questions go to the new one."""
    table.start()
    table.ask()
    table.read()
    old = table.session.stream
    table.connect()
    assert (table.closed[-1].stream, table.closed[-1].failure) == (old, None)
    assert table.farewell().reason == pb.Draining.REASON_REPLACED
    assert table.kinds() == ["Welcome", "MatchStarted", "DecisionRequested"]
    assert table.session.connected
    assert old is not None
    table.do(table.session.disconnect(old, table.now_us))
    assert table.session.connected


def test_r12_an_answer_to_a_decision_that_is_over_is_stale(table: Table) -> None:
    """Answers to earlier decisions, to the next one, and after the end of the game change nothing."""
    table.start()
    table.ask(decision=1)
    table.act("g", 1)
    table.ask(decision=2)
    table.told()
    table.read()
    table.act("g", 1)
    table.act("g", 3)
    assert [event.code for event in table.read()] == [pb.ActResult.CODE_STALE] * 2
    table.end()
    table.act("g", 2)
    assert table.read()[-1].code == pb.ActResult.CODE_STALE
    assert table.told() == []


def test_r12_an_answer_after_the_limit_is_too_late(table: Table) -> None:
    """The decision expires once, and the bot learns that its answer came too late."""
    table.start()
    table.ask()
    table.read()
    table.after(1_500 * MS)
    table.act("g", 1)
    (result,) = table.read()
    assert result.code == pb.ActResult.CODE_TOO_LATE
    assert table.told() == ["expired"]


def test_r12_an_answer_before_the_timer_fires_is_still_too_late(table: Table) -> None:
    """Limits are exact, however late the timers of the process are."""
    table.start()
    table.ask()
    table.read()
    table.now_us += 1_001 * MS
    table.act("g", 1)
    assert table.told() == ["expired"]
    assert table.read()[-1].code == pb.ActResult.CODE_TOO_LATE


def test_r12_a_cancelled_decision_takes_no_answer(table: Table) -> None:
    """What comes after the worker withdrew the question is late."""
    table.start()
    table.ask()
    table.read()
    table.worker(cancel=rpb.Cancel(game_id="g", decision_id=1))
    table.act("g", 1)
    table.after(2 * S)
    assert table.told() == []
    assert table.read()[-1].code == pb.ActResult.CODE_TOO_LATE


def test_r13_the_first_of_two_answers_counts(table: Table) -> None:
    """The second is answered DUPLICATE and does not go up."""
    table.start()
    table.ask()
    table.read()
    table.act("g", 1, 7)
    table.act("g", 1, 8)
    assert [event.act.act.action_id for event in table.up] == [7]
    assert table.read()[-1].code == pb.ActResult.CODE_DUPLICATE


def test_r15_somebody_elses_game_is_unknown(table: Table) -> None:
    """An answer for a game that is not this session's reaches nobody."""
    table.act("not mine", 1)
    (result,) = table.read()
    assert (result.code, result.game_id) == (pb.ActResult.CODE_UNKNOWN_GAME, "not mine")
    assert table.told() == []


def test_an_offer_is_answered_once(table: Table) -> None:
    """Ready goes up with its nonce and what the bot wants; a second one does not."""
    table.offer()
    assert table.kinds() == ["SetOffered"]
    table.ready(nonce=b"n" * 16)
    table.ready(nonce=b"m" * 16)
    assert [event.ready.nonce for event in table.up] == [b"n" * 16]


def test_a_nonce_of_another_length_is_rejected(table: Table) -> None:
    """The bot is told, and may still say Ready properly."""
    table.offer()
    table.read()
    table.ready(nonce=b"short")
    assert table.read()[-1].kind == pb.Notice.KIND_REJECTED
    table.ready()
    assert table.told() == ["ready"]


def test_an_offer_that_is_not_answered_is_released(table: Table) -> None:
    """After its time the worker knows and the bot knows, and the credit is free."""
    table.offer()
    table.after(10 * S + 1)
    assert table.up[-1].offer_refused.reason == rpb.OfferRefused.REASON_TIMEOUT
    assert table.kinds() == ["SetOffered", "Notice"]
    assert table.session.taken == 0


def test_an_offer_outlives_a_reconnect(table: Table) -> None:
    """A bot that comes back within the time is offered the set again."""
    table.offer()
    table.vanish()
    table.connect()
    assert table.kinds() == ["Welcome", "SetOffered"]
    table.ready()
    assert table.told()[-1] == "ready"


def test_never_more_sets_than_credit() -> None:
    """An offered set takes one unit until its last game is over, whatever the pauses between games."""
    table = Table(credit=1)
    table.offer("a", games=2)
    table.ready("a")
    table.offer("b")
    assert table.up[-1].offer_refused.reason == rpb.OfferRefused.REASON_NO_CREDIT
    table.start("g1", offer="a")
    table.end("g1")
    table.offer("b")
    assert table.told()[-1] == "offer_refused"
    table.start("g2", offer="a")
    table.end("g2", end=pb.MatchEnded.END_VOID)
    table.offer("b")
    assert table.told() == ["offer_refused"]
    table.start("g3", offer="a")
    table.end("g3")
    table.offer("b")
    assert table.told() == []
    assert table.session.taken == 1


def test_r66_a_bot_is_free_for_the_set_that_its_dead_worker_played() -> None:
    """Another worker plays it anew: what the first one's attempt still held is void, and takes no credit."""
    table = Table(credit=1)
    table.offer("a", games=2, of=("s", 1))
    table.ready("a")
    table.start("g", offer="a")
    table.read()
    table.do(table.session.worker_down("w", table.now_us))
    table.told()
    table.offer("b", games=2, of=("another", 1), key="v")
    assert table.told() == ["offer_refused"]
    table.offer("c", games=2, of=("s", 2), key="v")
    ended, offered = table.read()
    assert (ended.game_id, ended.end) == ("g", pb.MatchEnded.END_VOID)
    assert offered.offer_id == "c"
    table.ready("c")
    assert table.told() == ["ready"]
    assert table.session.taken == 1


def test_a_program_that_sits_on_two_seats_of_a_table_has_both() -> None:
    """House bots may: two offers of one attempt do not end each other."""
    table = Table(credit=2)
    for offer in ("a", "b"):
        table.offer(offer, of=("s", 1))
        table.ready(offer)
    assert table.session.taken == 2


def test_credit_of_a_set_that_never_begins_comes_back(table: Table) -> None:
    """A worker that says nothing more about a set does not hold a bot's credit for ever."""
    table.offer(games=2)
    table.ready()
    table.after(61 * S)
    assert table.session.taken == 0


def test_drain_takes_nothing_new_and_ends_when_nothing_runs(table: Table) -> None:
    """The last game's end is written before Draining, and the stream ends without an error."""
    table.start()
    table.read()
    table.bot(pb.BotEvent(set_credit=pb.SetCredit(credit=0, drain=True)))
    table.offer()
    assert table.up[-1].offer_refused.reason == rpb.OfferRefused.REASON_DRAINING
    table.end()
    last = pb.PlayResponse.FromString(table.closed[-1].last).events
    assert [event.WhichOneof("event") for event in last] == ["match_ended", "draining"]
    assert table.farewell().reason == pb.Draining.REASON_DONE
    assert table.session.is_over


def test_an_offer_that_crosses_a_drain_is_refused_at_once(table: Table) -> None:
    """The bot will not answer it: neither its program nor the others of that set wait until its time is over; a set that
    was accepted is played."""
    table.offer("accepted")
    table.ready("accepted")
    table.offer("late")
    table.up.clear()
    table.bot(pb.BotEvent(set_credit=pb.SetCredit(credit=0, drain=True)))
    assert [event.offer_refused.reason for event in table.up] == [rpb.OfferRefused.REASON_DRAINING]
    assert table.up[0].offer_refused.offer_id == "late"
    assert not table.closed
    table.worker(release_offer="accepted")
    assert table.farewell().reason == pb.Draining.REASON_DONE


def test_r84_a_gateway_that_shuts_down_charges_nobody(table: Table) -> None:
    """The bot is told when to come back, the worker that the absence is the arena's, and no decision expires."""
    table.start()
    table.ask()
    table.read()
    table.do(table.session.drain(5_000, table.now_us))
    assert table.farewell().reconnect_within_ms == 5_000
    table.after(10 * S)
    assert table.told() == ["session_released"]


def test_r87_clocks_stand_still_while_the_worker_is_away(table: Table) -> None:
    """Time without a worker is not the bot's, and asking again lets the clock go on where it stood."""
    table.start()
    table.ask(limit_ms=1_000)
    table.read()
    table.after(400 * MS)
    table.do(table.session.worker_down("w", table.now_us))
    table.after(30 * S)
    table.ask(limit_ms=1_000)
    assert table.read() == []
    table.after(500 * MS)
    table.act("g", 1)
    (event,) = table.up
    assert event.act.elapsed_us == 900 * MS


def test_r87_an_answer_for_an_absent_worker_is_kept(table: Table) -> None:
    """It goes up when the worker asks again."""
    table.start()
    table.ask()
    table.read()
    table.do(table.session.worker_down("w", table.now_us))
    table.act("g", 1, 3)
    assert table.told() == []
    table.ask()
    assert table.up[-1].act.act.action_id == 3


def test_r87_a_worker_that_stays_away_voids() -> None:
    """The bot is told VOID after a minute; a worker that comes back later learns that the game is gone."""
    table = Table(limits=SessionLimits(dead_after_us=300 * S))
    table.start()
    table.read()
    table.do(table.session.worker_down("w", table.now_us))
    table.after(61 * S)
    (ended,) = table.read()
    assert ended.end == pb.MatchEnded.END_VOID
    table.ask()
    assert table.up[-1].game_unknown == "g"


def test_r87_another_workers_games_go_on(table: Table) -> None:
    """Only the games of the worker that broke stand still."""
    table.start("g")
    table.ask("g")
    table.do(table.session.worker_down("other", table.now_us))
    table.after(2 * S)
    assert table.told() == ["expired"]


def test_time_used_at_another_gateway_counts(table: Table) -> None:
    """A question that moves here with its used time shows what remains, and expires accordingly."""
    table.start()
    table.ask(limit_ms=1_000, elapsed_ms=700)
    request = table.read()[-1]
    assert (request.resent, request.clock.limit_ms) == (True, 300)
    table.after(301 * MS)
    assert table.up[-1].expired.elapsed_ms == 1_000


def test_a_silent_peer_is_dead(table: Table) -> None:
    """A bot that answers no ping for 20 s is taken to be gone, and its workers are told."""
    table.start()
    table.after(19 * S)
    assert table.closed == []
    table.after(12 * S)
    assert table.closed[-1].failure is not None
    assert table.closed[-1].failure.reason is Reason.DEAD_PEER
    assert table.told() == ["session_lost"]


def test_a_bot_that_thinks_is_not_dead(table: Table) -> None:
    """While an answer is awaited silence is the bot's own time."""
    table.start()
    table.ask(limit_ms=90_000)
    table.read()
    table.after(60 * S)
    assert table.closed == []


def test_round_trips_are_measured_from_the_write() -> None:
    """The least of the last pings counts, and a Pong that nobody asked for is none."""
    table = Table()
    table.after(50 * MS)
    frame = pb.PlayResponse.FromString(table.session.take(table.now_us))
    nonce = frame.events[-1].ping.nonce
    table.after(8 * MS)
    table.bot(pb.BotEvent(pong=pb.Pong(nonce=nonce)))
    assert table.session.rtt_us == 8 * MS
    table.bot(pb.BotEvent(pong=pb.Pong(nonce=nonce)))
    assert table.session.rtt_us == 8 * MS


def test_r3_kinds_that_do_not_exist_yet_are_ignored(table: Table) -> None:
    """A newer SDK's unknown event neither ends the stream nor reaches anybody."""
    unknown = pb.PlayRequest.FromString(bytes([0x0A, 3, 0xF2, 0x01, 0]))
    table.do(table.session.from_bot(unknown, table.now_us))
    assert (table.closed, table.read(), table.told()) == ([], [], [])


def test_a_session_is_over_when_nobody_and_nothing_is_left(table: Table) -> None:
    """It lives on without a stream as long as a game does, and for a while after the bot has left."""
    table.start()
    table.vanish()
    table.end()
    assert not table.session.is_over
    table.after(60 * S)
    assert table.session.is_over


def test_r10_a_bot_that_has_just_left_is_not_unknown(table: Table) -> None:
    """A game that is brought to it runs out on its own clock, as an absence; later nobody of that name was ever here."""
    table.vanish()
    assert not table.session.is_over
    table.start()
    assert table.up[-1].WhichOneof("event") == "session_lost"
    table.ask()
    table.after(40 * S)
    assert table.up[-1].expired.disconnected
    table.end()
    table.after(60 * S)
    assert table.session.is_over


def test_r10_a_bot_that_the_arena_sent_away_is_unknown_at_once(table: Table) -> None:
    """Where it went to be asked is no absence of its own."""
    table.do(table.session.drain(1000, table.now_us))
    assert table.session.is_over


def test_a_game_that_moved_elsewhere_is_forgotten(table: Table) -> None:
    """A bot that stays away and a worker that says no more leave nothing behind; a worker that does is told."""
    table.start("moved")
    table.start("here")
    table.vanish()
    for _ in range(3):
        table.after(40 * S)
        table.worker(deliver=pb.ArenaEvent(events_observed=pb.EventsObserved(game_id="here")))
    assert table.session.games == 1
    table.ask("moved")
    assert table.up[-1].game_unknown == "moved"
    table.after(130 * S)
    assert table.session.is_over


def test_an_answer_counts_however_long_a_ping_was_kept(table: Table) -> None:
    """For 75 minutes: what no message could carry would be lost, and the game void."""
    table.start()
    for _ in range(450):
        table.after(10 * S)
        table.bot(pb.BotEvent(set_credit=pb.SetCredit(credit=4)))
    table.bot(pb.BotEvent(pong=pb.Pong(nonce=1)))
    table.ask()
    table.act("g", 1)
    answer = table.up[-1].act
    assert (answer.act.decision_id, answer.rtt_us) == (1, 4500 * S)

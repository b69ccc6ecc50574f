package botarena

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"time"

	pb "botarena/arenapb"
)

const (
	nonceBytes = 16
	// doubt is how long the arena looks for a new home for games whose gateway has crashed; then they are void.
	doubt = 60 * time.Second
)

// game is a running game. asked is the decision that the arena waits for on this stream, if any; answer is the latest
// that the player gave, kept because a stream may break before the arena has it.
type game struct {
	worker   *worker
	asked    *uint32
	thinking *uint32
	answer   *pb.Act
	// heard is the number of events told to the player; after a reconnect the arena may tell some again.
	heard uint32
	// doubtedSince is when a gateway took over that does not know the game; zero once it does.
	doubtedSince time.Time
}

// session is what the process knows of its games, across streams: a state machine without I/O, of one goroutine. The
// workers' outcomes come to it through whatever report does.
type session struct {
	bot    *Bot
	log    *slog.Logger
	report func(outcome)
	// send puts an event into the outbox of the stream that is open now.
	send func(*pb.BotEvent)

	id string
	// welcome is the open stream's, once the arena has answered Hello.
	welcome  *pb.Welcome
	draining bool
	// done: the arena has nothing left for this process.
	done bool
	// reconnectWithin is how far Draining spreads the next connect; 0: it was not sent.
	reconnectWithin time.Duration
	games           map[string]*game
	// ending are workers that still tell their player the result.
	ending []*worker
}

func newSession(bot *Bot, log *slog.Logger, report func(outcome)) *session {
	return &session{bot: bot, log: log, report: report, games: map[string]*game{}}
}

// streamOpened takes the outbox of a new stream. What the old one was waiting for is forgotten: the arena asks again.
func (s *session) streamOpened(send func(*pb.BotEvent)) {
	s.send = send
	s.reconnectWithin = 0
	for _, game := range s.games {
		game.asked = nil
	}
}

// streamClosed forgets the stream; what is sent from here on goes nowhere, and is repeated on the next one if need be.
func (s *session) streamClosed() {
	s.send = func(*pb.BotEvent) {}
	s.welcome = nil
}

// over: nothing is left to play.
func (s *session) over() bool {
	return s.done || s.draining && s.welcome == nil && len(s.games) == 0
}

// drain asks the arena for no new games; it closes the stream when none runs any more.
func (s *session) drain() {
	s.draining = true
	if s.welcome != nil {
		s.send(&pb.BotEvent{Event: &pb.BotEvent_SetCredit{SetCredit: &pb.SetCredit{Drain: true}}})
	}
}

// handle takes in one event; kinds newer than this SDK are ignored. An error means: do not come back.
func (s *session) handle(event *pb.ArenaEvent) error {
	switch event := event.GetEvent().(type) {
	case *pb.ArenaEvent_Welcome:
		s.onWelcome(event.Welcome)
	case *pb.ArenaEvent_SetOffered:
		s.onOffer(event.SetOffered)
	case *pb.ArenaEvent_MatchStarted:
		s.onMatchStarted(event.MatchStarted)
	case *pb.ArenaEvent_EventsObserved:
		s.onEvents(event.EventsObserved)
	case *pb.ArenaEvent_DecisionRequested:
		s.onDecision(event.DecisionRequested)
	case *pb.ArenaEvent_ActResult:
		s.onActResult(event.ActResult)
	case *pb.ArenaEvent_MatchEnded:
		s.onMatchEnded(event.MatchEnded)
	case *pb.ArenaEvent_Notice:
		s.onNotice(event.Notice)
	case *pb.ArenaEvent_Draining:
		return s.onDraining(event.Draining)
	case *pb.ArenaEvent_Ping:
		s.send(&pb.BotEvent{Event: &pb.BotEvent_Pong{Pong: &pb.Pong{Nonce: event.Ping.GetNonce()}}})
	}
	return nil
}

// decided takes in what a player decided, and sends it if this stream waits for it.
func (s *session) decided(outcome outcome) {
	game, ok := s.games[outcome.act.GetGameId()]
	if !ok {
		return
	}
	game.answer = outcome.act
	if is(game.thinking, outcome.act.GetDecisionId()) {
		game.thinking = nil
	}
	s.answer(game)
}

// settle ends games that were in doubt for too long; to be called about once a second.
func (s *session) settle(now time.Time) {
	for id, game := range s.games {
		if !game.doubtedSince.IsZero() && now.Sub(game.doubtedSince) > doubt {
			s.drop(id)
		}
	}
}

// drop ends a game whose end this process has missed.
func (s *session) drop(id string) {
	game := s.games[id]
	delete(s.games, id)
	s.log.Warn("a game ended while this process was not connected", "game", game.worker.match.GetGame())
	s.end(game, &Result{Match: game.worker.match, Outcome: Unknown})
}

func (s *session) answer(game *game) {
	if game.answer != nil && is(game.asked, game.answer.GetDecisionId()) {
		game.asked = nil
		s.send(&pb.BotEvent{Event: &pb.BotEvent_Act{Act: game.answer}})
	}
}

func (s *session) end(game *game, result *Result) {
	game.worker.end(result)
	var busy []*worker
	for _, worker := range s.ending {
		select {
		case <-worker.done:
		default:
			busy = append(busy, worker)
		}
	}
	s.ending = append(busy, game.worker)
}

// onWelcome: what the arena says is running, is; the rest is over. Only where it made a new session, because the gateway
// that had the old one is gone, the arena's workers may still bring our games to it.
func (s *session) onWelcome(message *pb.Welcome) {
	sameSession := message.GetSession() == s.id
	s.id, s.welcome = message.GetSession(), message
	s.log.Info("playing", "bot", message.GetBot(), "version", message.GetVersion())
	running := map[string]bool{}
	for _, id := range message.GetRunningGames() {
		running[id] = true
	}
	for id, game := range s.games {
		switch {
		case running[id]:
		case sameSession:
			s.drop(id)
		default:
			game.doubtedSince = time.Now()
		}
	}
	if s.draining {
		s.drain()
	}
}

func (s *session) onOffer(message *pb.SetOffered) {
	if s.draining {
		return
	}
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	s.send(&pb.BotEvent{Event: &pb.BotEvent_Ready{Ready: &pb.Ready{OfferId: message.GetOfferId(), Nonce: nonce}}})
}

func (s *session) onMatchStarted(message *pb.MatchStarted) {
	if game, ok := s.games[message.GetGameId()]; ok { // goes on after a reconnect; the player has never noticed
		game.doubtedSince = time.Time{}
		return
	}
	s.log.Info("started", append(title(message), "resumed", message.GetResumed())...)
	s.games[message.GetGameId()] = &game{worker: startWorker(s.bot, message, s.log, s.report)}
}

func (s *session) onEvents(message *pb.EventsObserved) {
	game, ok := s.games[message.GetGameId()]
	if !ok {
		return
	}
	var fresh []*pb.ObservedEvent
	for _, event := range message.GetEvents() {
		if event.GetSeq() >= game.heard {
			fresh = append(fresh, event)
			game.heard = event.GetSeq() + 1
		}
	}
	if len(fresh) > 0 {
		game.worker.observe(fresh)
	}
}

func (s *session) onDecision(message *pb.DecisionRequested) {
	game, ok := s.games[message.GetGameId()]
	if !ok {
		s.log.Warn("asked for a decision in a game that never started here", "game_id", message.GetGameId())
		return
	}
	id := message.GetDecisionId()
	game.asked = &id
	switch {
	case game.answer != nil && game.answer.GetDecisionId() == id:
		s.answer(game)
	case !is(game.thinking, id):
		game.thinking = &id
		game.worker.decide(message)
	}
}

func (s *session) onActResult(message *pb.ActResult) {
	level := slog.LevelError
	switch message.GetCode() {
	case pb.ActResult_CODE_DUPLICATE, pb.ActResult_CODE_STALE:
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "the arena says "+word(message.GetCode(), "CODE_"),
		"decision", message.GetDecisionId(), "detail", message.GetDetail())
}

func (s *session) onMatchEnded(message *pb.MatchEnded) {
	game, ok := s.games[message.GetGameId()]
	if !ok {
		return
	}
	delete(s.games, message.GetGameId())
	result := resultFrom(game.worker.match, message, s.welcome.GetArenaKey())
	s.log.Info("ended: "+verdict(result), title(game.worker.match)...)
	s.end(game, result)
}

func (s *session) onNotice(message *pb.Notice) {
	level := slog.LevelInfo
	switch message.GetKind() {
	case pb.Notice_KIND_FLOOD, pb.Notice_KIND_SEAT_FAILED:
		level = slog.LevelWarn
	}
	s.log.Log(context.Background(), level, word(message.GetKind(), "KIND_")+": "+message.GetText())
}

func (s *session) onDraining(message *pb.Draining) error {
	switch message.GetReason() {
	case pb.Draining_REASON_REPLACED:
		return failure(Replaced, "a newer process of this bot took over, so this one stops; "+
			"to run several at once give each its own -instance")
	case pb.Draining_REASON_REVOKED:
		return failure(Refused, "the token was revoked: make a new one with `arena token create`")
	case pb.Draining_REASON_DONE:
		s.done = true
	default:
		s.log.Info("the arena's server restarts; reconnecting")
		s.reconnectWithin = milliseconds(message.GetReconnectWithinMs())
	}
	return nil
}

func is(id *uint32, value uint32) bool { return id != nil && *id == value }

func title(match *pb.MatchStarted) []any {
	names := make([]string, len(match.GetSeats()))
	for i, player := range match.GetSeats() {
		names[i] = player.GetBot()
	}
	return []any{"game", match.GetGame(), "seat", match.GetSeat(), "players", strings.Join(names, ", ")}
}

func verdict(result *Result) string {
	if result.Outcome != Finished {
		return "void, it is going to be played again"
	}
	words := fmt.Sprintf("place %d, %d points", result.Place(), result.Score())
	if reason := at(result.Reasons, result.Match.GetSeat()); reason > pb.SeatReason_SEAT_REASON_NORMAL {
		words += " (" + word(reason, "SEAT_REASON_") + ")"
	}
	return words
}

package botarena

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "botarena/arenapb"
)

func first(_ context.Context, _ *View, legal Legal, _ Clock) (Choice, error) { return legal[0], nil }

// Hello says what the Bot says; a choice and its note arrive; DONE ends the bot without an error.
func TestPlaysAWholeMatch(t *testing.T) {
	arena := newScript(t)
	_, result := arena.playing(Bot{
		Name: "eve", Version: "7", Games: []string{"echo", "pop"}, Players: []uint32{2, 3}, Text: true,
		Act: func(_ context.Context, view *View, legal Legal, clock Clock) (Choice, error) {
			if view.GetText() != "board" || view.Match.GetGameId() != "g1" || clock.Left() > clock.Limit {
				t.Error("the bot was told something else:", view)
			}
			return Annotate(Text("b"), Annotation{Comment: "sure", Value: 0.25, Nodes: 3, PV: []string{"b"}}), nil
		},
	}, func(s *Settings) { s.Credit, s.Instance = 4, "two" })
	stream := arena.stream()
	if tokens := metadata.ValueFromIncomingContext(stream.call.Context(), "authorization"); !slices.Equal(tokens, []string{"Bearer secret"}) {
		t.Error("authorization:", tokens)
	}
	want := &pb.Hello{
		Bot: "eve", Version: "7", Instance: "two", Sdk: "botarena-go/" + Version, Credit: 4, Protocol: 1000,
		Games: []*pb.GameSupport{{Game: "echo", Players: []uint32{2, 3}}, {Game: "pop", Players: []uint32{2, 3}}},
		Wants: &pb.Wants{Text: true, History: HistoryNone},
	}
	if hello := stream.welcome(); !proto.Equal(hello, want) {
		t.Errorf("hello is %v, not %v", hello, want)
	}
	stream.send(started("g1"), asked("g1", 0))
	answer := acted("g1", 0, 11)
	answer.GetAct().Annotation = &pb.Annotation{Comment: "sure", EvalMilli: 250, Nodes: 3, Pv: []string{"b"}}
	stream.expect(answer)
	stream.send(ended("g1"))
	stream.done()
	if err := arena.finished(result); err != nil {
		t.Error(err)
	}
}

// While one game thinks, a ping is answered and another game is played.
func TestSlowActDelaysNothingElse(t *testing.T) {
	release := make(chan struct{})
	arena := newScript(t)
	_, result := arena.playing(Bot{Act: func(ctx context.Context, view *View, legal Legal, clock Clock) (Choice, error) {
		if view.Match.GetGameId() == "slow" {
			<-release
		}
		return legal[0], nil
	}})
	stream := arena.stream()
	stream.welcome()
	stream.send(started("slow"), started("fast"), asked("slow", 0), asked("fast", 0))
	stream.expect(acted("fast", 0, 10))
	stream.quiet()
	close(release)
	stream.expect(acted("slow", 0, 10))
	stream.done()
	if err := arena.finished(result); err != nil {
		t.Error(err)
	}
}

// After a cut the same player goes on: an answer that may be lost is sent again without asking it, one that was still
// being thought about is sent when it is there, and Hello names the session.
func TestResumesAfterACut(t *testing.T) {
	release, calls := make(chan struct{}), atomic.Int32{}
	arena := newScript(t)
	_, result := arena.playing(Bot{Act: func(ctx context.Context, view *View, legal Legal, clock Clock) (Choice, error) {
		calls.Add(1)
		if view.DecisionID == 1 {
			<-release
		}
		return legal[1], nil
	}})
	stream := arena.stream()
	stream.welcome()
	stream.send(started("g1"), asked("g1", 0))
	stream.expect(acted("g1", 0, 11))
	stream.end <- status.Error(codes.Unavailable, "cut")

	stream = arena.stream()
	if hello := stream.welcome("g1"); hello.GetResumeSession() != "s1" {
		t.Error("the session that goes on is not named:", hello)
	}
	stream.send(started("g1"), asked("g1", 0))
	stream.expect(acted("g1", 0, 11))
	stream.send(asked("g1", 1))
	stream.end <- status.Error(codes.Unavailable, "cut")

	stream = arena.stream()
	stream.welcome("g1")
	stream.send(started("g1"), asked("g1", 1))
	stream.quiet()
	close(release)
	stream.expect(acted("g1", 1, 11))
	stream.done()
	if err := arena.finished(result); err != nil {
		t.Error(err)
	}
	if calls.Load() != 2 {
		t.Error("the player was asked", calls.Load(), "times")
	}
}

// A choice that is not legal, an error and a panic give up their game at once, and that one alone.
func TestFailureGivesUpOneGame(t *testing.T) {
	answers := map[string]ActFunc{
		"id":      func(context.Context, *View, Legal, Clock) (Choice, error) { return ID(99), nil },
		"text":    func(context.Context, *View, Legal, Clock) (Choice, error) { return Text("nonsense"), nil },
		"nothing": func(context.Context, *View, Legal, Clock) (Choice, error) { return nil, nil },
		"error":   func(context.Context, *View, Legal, Clock) (Choice, error) { return nil, errors.New("oops") },
		"panic":   func(context.Context, *View, Legal, Clock) (Choice, error) { panic("oops") },
	}
	for name, act := range answers {
		t.Run(name, func(t *testing.T) {
			arena := newScript(t)
			_, result := arena.playing(Bot{New: func(match *pb.MatchStarted) Player {
				if match.GetGameId() == "good" {
					return ActFunc(first)
				}
				return act
			}})
			stream := arena.stream()
			stream.welcome()
			stream.send(started("bad"), asked("bad", 0))
			stream.expect(gaveUp("bad", 0))
			stream.send(asked("bad", 1))
			stream.expect(gaveUp("bad", 1))
			stream.send(started("good"), asked("good", 0))
			stream.expect(acted("good", 0, 10))
			stream.done()
			if err := arena.finished(result); err != nil {
				t.Error(err)
			}
		})
	}
}

// With Strict what Act returned ends the process with status 1.
func TestStrict(t *testing.T) {
	oops := errors.New("oops")
	arena := newScript(t)
	_, result := arena.playing(
		Bot{Act: func(context.Context, *View, Legal, Clock) (Choice, error) { return nil, oops }},
		func(s *Settings) { s.Strict = true },
	)
	stream := arena.stream()
	stream.welcome()
	stream.send(started("g1"), asked("g1", 0))
	if err := arena.finished(result); !errors.Is(err, oops) || ExitCode(err) != 1 {
		t.Error(err)
	}
}

// A refused Hello stops the process with the arena's own words in one line, and the exit code of its kind.
func TestRefusalsStop(t *testing.T) {
	for code, want := range map[codes.Code]Kind{
		codes.Unauthenticated:    Refused,
		codes.PermissionDenied:   Refused,
		codes.FailedPrecondition: VersionSkew,
		codes.NotFound:           Misconfigured,
		codes.InvalidArgument:    Misconfigured,
	} {
		t.Run(code.String(), func(t *testing.T) {
			arena := newScript(t)
			_, result := arena.playing(Bot{Act: first})
			arena.stream().end <- status.Error(code, "speak 2.0 to 2.4.\nor so")
			err := arena.finished(result)
			if ExitCode(err) != int(want) || !strings.Contains(err.Error(), "speak 2.0 to 2.4; ") {
				t.Errorf("%v (%d)", err, ExitCode(err))
			}
		})
	}
}

// After Welcome a status may come from anything on the way, and the bot comes back; not if its token is gone.
func TestGoodSessionComesBack(t *testing.T) {
	arena := newScript(t)
	_, result := arena.playing(Bot{Act: first})
	for _, code := range []codes.Code{codes.FailedPrecondition, codes.Unauthenticated} {
		stream := arena.stream()
		stream.welcome()
		stream.quiet()
		stream.end <- status.Error(code, "hiccup")
	}
	if err := arena.finished(result); ExitCode(err) != int(Refused) {
		t.Error(err)
	}
}

// The first signal finishes what runs, also across a cut; the second ends the process at once.
func TestSignals(t *testing.T) {
	arena := newScript(t)
	signals, result := arena.playing(Bot{Act: first})
	stream := arena.stream()
	stream.welcome()
	stream.send(started("g1"))
	stream.quiet()
	signals <- syscall.SIGTERM
	stream.expect(drainRequested)
	stream.send(offered("too-late"))
	stream.quiet()
	stream.end <- status.Error(codes.Unavailable, "cut")

	stream = arena.stream()
	stream.welcome("g1")
	stream.expect(drainRequested)
	stream.send(started("g1"), asked("g1", 0))
	stream.expect(acted("g1", 0, 10))
	signals <- os.Interrupt
	if err := arena.finished(result); ExitCode(err) != 130 {
		t.Error(err)
	}
}

// A bot that is not connected and plays nothing ends at the first signal.
func TestSignalWhileWaitingForAnArena(t *testing.T) {
	arena := newScript(t)
	signals, result := arena.playing(Bot{Act: first}, func(s *Settings) { s.Address = "unix:/nowhere/at/all.sock" })
	signals <- syscall.SIGTERM
	if err := arena.finished(result); err != nil {
		t.Error(err)
	}
}

// Where nothing answers, patience ends.
func TestUnreachable(t *testing.T) {
	arena := newScript(t)
	_, result := arena.playing(Bot{Act: first}, func(s *Settings) {
		s.Address, s.Patience = "unix:/nowhere/at/all.sock", time.Nanosecond
	})
	if err := arena.finished(result); ExitCode(err) != int(Unreachable) {
		t.Error(err)
	}
}

// The process waits for the last OnEnd, which has the result with both receipts.
func TestEndIsToldBeforeTheProcessEnds(t *testing.T) {
	player := &listener{}
	arena := newScript(t)
	_, result := arena.playing(Bot{History: HistoryDelta, New: func(*pb.MatchStarted) Player { return player }})
	stream := arena.stream()
	stream.welcome()
	event := func(seq uint32) *pb.ArenaEvent {
		return &pb.ArenaEvent{Event: &pb.ArenaEvent_EventsObserved{EventsObserved: &pb.EventsObserved{
			GameId: "g1", Events: []*pb.ObservedEvent{{Seq: 0, Text: "deal ?"}, {Seq: seq, Text: "b"}},
		}}}
	}
	stream.send(started("g1"), event(1), event(2), ended("g1"))
	stream.done()
	if err := arena.finished(result); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(player.heard, " | "); got != "deal ? | b | b" {
		t.Error("events:", got)
	}
	got := player.result
	if got == nil || got.Outcome != Finished || got.Place() != 1 || got.Score() != 9 || got.MatchID != "m" {
		t.Fatalf("%+v", got)
	}
	receipts := got.Receipts
	if string(receipts.ArenaKey)+string(receipts.Opening)+string(receipts.Closing) != "keyopeningclosing" {
		t.Errorf("%+v", receipts)
	}
}

type listener struct {
	heard  []string
	result *Result
}

func (l *listener) Act(_ context.Context, _ *View, legal Legal, _ Clock) (Choice, error) {
	return legal[0], nil
}

func (l *listener) OnEvent(event *pb.ObservedEvent) { l.heard = append(l.heard, event.GetText()) }

func (l *listener) OnEnd(result *Result) {
	time.Sleep(50 * time.Millisecond)
	l.result = result
}

// Retries are spread, and bounded by 0.5 s doubling to 30 s.
func TestRetryDelay(t *testing.T) {
	for failures, most := range map[int]time.Duration{0: 500 * time.Millisecond, 3: 4 * time.Second, 6: maxDelay, 500: maxDelay} {
		var longest time.Duration
		for range 400 {
			longest = max(longest, retryDelay(failures))
		}
		if longest > most || longest < most/2 {
			t.Errorf("after %d failures up to %v, not %v", failures, longest, most)
		}
	}
}

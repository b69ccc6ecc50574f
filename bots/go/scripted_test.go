package botarena

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "botarena/arenapb"
)

const patience = 10 * time.Second

// script is the arena's side of the tests: it hands each stream that a bot opens to the test.
type script struct {
	pb.UnimplementedPlayServiceServer
	t       *testing.T
	address string
	streams chan *scriptedStream
}

// scriptedStream is one stream as the arena sees it.
type scriptedStream struct {
	t     *testing.T
	call  grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayResponse]
	inbox chan *pb.BotEvent
	end   chan error
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{t: t, streams: make(chan *scriptedStream, 9)}
	socket := filepath.Join(t.TempDir(), "play.sock")
	s.address = "unix:" + socket
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterPlayServiceServer(server, s)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return s
}

func (s *script) Play(call grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayResponse]) error {
	stream := &scriptedStream{s.t, call, make(chan *pb.BotEvent, 99), make(chan error, 1)}
	s.streams <- stream
	go func() {
		for frame, err := call.Recv(); err == nil; frame, err = call.Recv() {
			for _, event := range frame.GetEvents() {
				stream.inbox <- event
			}
		}
	}()
	return <-stream.end
}

func (s *script) stream() *scriptedStream {
	s.t.Helper()
	select {
	case stream := <-s.streams:
		return stream
	case <-time.After(patience):
		s.t.Fatal("the bot did not come")
		return nil
	}
}

// receive is the next event.
func (s *scriptedStream) receive() *pb.BotEvent {
	s.t.Helper()
	select {
	case event := <-s.inbox:
		return event
	case <-time.After(patience):
		s.t.Fatal("the bot says nothing")
		return nil
	}
}

// expect fails the test unless the next event is this one.
func (s *scriptedStream) expect(want *pb.BotEvent) {
	s.t.Helper()
	if got := s.receive(); !proto.Equal(got, want) {
		s.t.Fatalf("the bot said %v, not %v", got, want)
	}
}

// quiet fails the test if the bot has said something more: the answer to a ping comes first.
func (s *scriptedStream) quiet() {
	s.t.Helper()
	s.send(&pb.ArenaEvent{Event: &pb.ArenaEvent_Ping{Ping: &pb.Ping{Nonce: 99}}})
	s.expect(&pb.BotEvent{Event: &pb.BotEvent_Pong{Pong: &pb.Pong{Nonce: 99}}})
}

func (s *scriptedStream) send(events ...*pb.ArenaEvent) {
	s.t.Helper()
	if err := s.call.Send(&pb.PlayResponse{Events: events}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scriptedStream) welcome(running ...string) *pb.Hello {
	s.t.Helper()
	hello := s.receive().GetHello()
	if hello == nil {
		s.t.Fatal("a stream begins with Hello")
	}
	s.send(welcome("s1", running...))
	return hello
}

func (s *scriptedStream) done() {
	s.t.Helper()
	s.send(draining(pb.Draining_REASON_DONE))
	s.end <- nil
}

func welcome(session string, running ...string) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_Welcome{Welcome: &pb.Welcome{
		Session:      session,
		Limits:       &pb.Limits{MaxFrameBytes: 65536, PingIntervalMs: 5000},
		RunningGames: running,
		ArenaKey:     []byte("key"),
	}}}
}

func offered(id string) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_SetOffered{SetOffered: &pb.SetOffered{OfferId: id}}}
}

func started(id string) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_MatchStarted{MatchStarted: &pb.MatchStarted{
		GameId:     id,
		Game:       "echo",
		Players:    2,
		Seat:       1,
		Seats:      []*pb.Player{{Bot: "them"}, {Bot: "us"}},
		BotSeed:    7,
		Commitment: []byte("commitment"),
		Receipt:    []byte("opening"),
	}}}
}

// asked asks for a decision between a (10) and b (11).
func asked(id string, decision uint32) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_DecisionRequested{DecisionRequested: &pb.DecisionRequested{
		GameId:        id,
		DecisionId:    decision,
		View:          &pb.View{Seat: 1, Seq: decision, Text: "board"},
		Legal:         []*pb.Action{{Id: 10, Text: "a"}, {Id: 11, Text: "b"}},
		Clock:         &pb.Clock{BankMs: 10_000, LimitMs: 3000},
		DefaultAction: 11,
	}}}
}

func ended(id string) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_MatchEnded{MatchEnded: &pb.MatchEnded{
		GameId:  id,
		End:     pb.MatchEnded_END_FINISHED,
		Places:  []uint32{2, 1},
		Scores:  []int32{-3, 9},
		Reasons: []pb.SeatReason{pb.SeatReason_SEAT_REASON_TIMEOUT, 77},
		MatchId: "m",
		Receipt: []byte("closing"),
	}}}
}

func draining(reason pb.Draining_Reason) *pb.ArenaEvent {
	return &pb.ArenaEvent{Event: &pb.ArenaEvent_Draining{Draining: &pb.Draining{Reason: reason}}}
}

func acted(id string, decision, action uint32) *pb.BotEvent {
	return &pb.BotEvent{Event: &pb.BotEvent_Act{Act: &pb.Act{
		GameId: id, DecisionId: decision, Choice: &pb.Act_ActionId{ActionId: action},
	}}}
}

func gaveUp(id string, decision uint32) *pb.BotEvent {
	return &pb.BotEvent{Event: &pb.BotEvent_Act{Act: &pb.Act{
		GameId: id, DecisionId: decision, Choice: &pb.Act_Text{Text: failedText},
	}}}
}

var drainRequested = &pb.BotEvent{Event: &pb.BotEvent_SetCredit{SetCredit: &pb.SetCredit{Drain: true}}}

// playing starts a bot. Signals go into the first channel; the second has what Play would return.
func (s *script) playing(bot Bot, change ...func(*Settings)) (chan<- os.Signal, <-chan error) {
	settings := Settings{Address: s.address, Token: "secret", Credit: 1, Logger: quietLog()}
	for _, change := range change {
		change(&settings)
	}
	target, err := parseTarget(settings.Address, false, "")
	if err != nil {
		s.t.Fatal(err)
	}
	signals, result := make(chan os.Signal, 2), make(chan error, 1)
	go func() { result <- newClient(&bot, settings, target, signals).run() }()
	return signals, result
}

func (s *script) finished(result <-chan error) error {
	s.t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		s.t.Fatal("the bot does not stop")
		return nil
	}
}

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

package botarena

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "botarena/arenapb"
)

const (
	// frameBytes is the most that goes into one frame; the arena refuses 64 KiB.
	frameBytes = 60_000
	// eventOverhead is generous for an event's tag and length in a frame.
	eventOverhead = 8
)

// stream is one stream to the arena: a goroutine that opens it and reads, one that writes.
type stream struct {
	frames chan *pb.PlayResponse
	// ended has what ended the stream, once all frames before it were taken; nil: it ended well.
	ended  chan error
	outbox queue[*pb.BotEvent]
	// most is the most that goes into one frame, in bytes.
	most   atomic.Int64
	cancel context.CancelFunc
}

// openStream returns at once; a connection that cannot be made is an end of the stream like any other.
func openStream(target target, token string) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	s := &stream{frames: make(chan *pb.PlayResponse), ended: make(chan error, 1), cancel: cancel}
	s.outbox.init()
	s.most.Store(frameBytes)
	go func() { s.ended <- s.run(ctx, target) }()
	return s
}

func (s *stream) send(event *pb.BotEvent) { s.outbox.put(event) }

// limit keeps frames below what the arena takes.
func (s *stream) limit(bytes uint32) {
	if bytes > 0 {
		s.most.Store(min(frameBytes, int64(bytes)))
	}
}

// close breaks the stream, if it has not ended, and forgets what was not sent.
func (s *stream) close() {
	s.cancel()
	s.outbox.close()
}

func (s *stream) run(ctx context.Context, target target) error {
	conn, err := target.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	call, err := pb.NewPlayServiceClient(conn).Play(ctx)
	if err != nil {
		return err
	}
	go s.write(call)
	for {
		frame, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case s.frames <- frame:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// write sends as one frame whatever gathered while the last one was written. What goes wrong here the reader learns.
func (s *stream) write(call pb.PlayService_PlayClient) {
	for events, ok := s.outbox.drain(); ok; events, ok = s.outbox.drain() {
		for len(events) > 0 {
			var frame *pb.PlayRequest
			frame, events = nextFrame(events, int(s.most.Load()))
			if call.Send(frame) != nil {
				return
			}
		}
	}
}

// nextFrame takes as many events as fit into one frame, at least one; an annotation that fits into none is left out.
func nextFrame(events []*pb.BotEvent, most int) (frame *pb.PlayRequest, rest []*pb.BotEvent) {
	size, count := 0, 0
	for count < len(events) {
		event := events[count]
		bytes := proto.Size(event) + eventOverhead
		if act := event.GetAct(); bytes > most && act.GetAnnotation() != nil {
			bare := &pb.Act{GameId: act.GetGameId(), DecisionId: act.GetDecisionId(), Choice: act.GetChoice()}
			event = &pb.BotEvent{Event: &pb.BotEvent_Act{Act: bare}}
			events[count] = event
			bytes = proto.Size(event) + eventOverhead
		}
		if count > 0 && size+bytes > most {
			break
		}
		size += bytes
		count++
	}
	return &pb.PlayRequest{Events: events[:count:count]}, events[count:]
}

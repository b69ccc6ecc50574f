package botarena

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "botarena/arenapb"
)

// newTable is a session on an open stream, and what it sends.
func newTable(t *testing.T, bot Bot) (*session, *[]*pb.BotEvent, chan outcome) {
	t.Helper()
	outcomes := make(chan outcome, 9)
	session := newSession(&bot, quietLog(), func(o outcome) { outcomes <- o })
	var sent []*pb.BotEvent
	session.streamOpened(func(event *pb.BotEvent) { sent = append(sent, event) })
	t.Cleanup(func() {
		for id := range session.games {
			session.drop(id)
		}
	})
	return session, &sent, outcomes
}

func tell(t *testing.T, session *session, events ...*pb.ArenaEvent) {
	t.Helper()
	for _, event := range events {
		if err := session.handle(event); err != nil {
			t.Fatal(err)
		}
	}
}

// Each Ready has 16 bytes of its own.
func TestNonces(t *testing.T) {
	session, sent, _ := newTable(t, Bot{Act: first})
	tell(t, session, welcome("s1"), offered("o1"), offered("o2"))
	one, two := (*sent)[0].GetReady(), (*sent)[1].GetReady()
	if one.GetOfferId() != "o1" || len(one.GetNonce()) != nonceBytes || string(one.GetNonce()) == string(two.GetNonce()) {
		t.Error(one, two)
	}
}

// A request that comes twice is thought about once and answered twice; an overtaken answer is not sent.
func TestDuplicateAndOvertakenRequests(t *testing.T) {
	session, sent, outcomes := newTable(t, Bot{Act: first})
	tell(t, session, welcome("s1"), started("g1"), asked("g1", 0), asked("g1", 0))
	session.decided(<-outcomes)
	tell(t, session, asked("g1", 0), asked("g1", 1))
	late := acted("g1", 0, 10).GetAct()
	session.decided(outcome{act: late})
	session.decided(<-outcomes)
	for i, decision := range []uint32{0, 0, 1} {
		if i >= len(*sent) || !proto.Equal((*sent)[i], acted("g1", decision, 10)) {
			t.Fatal("sent:", *sent)
		}
	}
	if len(*sent) != 3 || len(outcomes) != 0 {
		t.Error("sent:", *sent, "and", len(outcomes), "more were thought about")
	}
}

// What Welcome does not name is over if the session is the same; a new session leaves games in doubt for a minute.
func TestRunningGamesAreAuthoritative(t *testing.T) {
	session, _, _ := newTable(t, Bot{Act: first})
	tell(t, session, welcome("s1"), started("g1"), started("g2"), welcome("s1", "g2"))
	if len(session.games) != 1 || session.games["g2"] == nil {
		t.Fatal("a game that is over lives on:", session.games)
	}
	tell(t, session, started("g3"), welcome("s2"), started("g3"))
	session.settle(time.Now().Add(doubt / 2))
	if len(session.games) != 2 {
		t.Error("a game was given up too early")
	}
	session.settle(time.Now().Add(2 * doubt))
	if len(session.games) != 1 || session.games["g3"] == nil {
		t.Error("what came back should live, what did not should not:", session.games)
	}
}

// Kinds and games that the SDK does not know change nothing.
func TestUnknownIsIgnored(t *testing.T) {
	session, sent, _ := newTable(t, Bot{Act: first})
	future := &pb.ArenaEvent{}
	if err := proto.Unmarshal([]byte{0xfa, 0x06, 0x03, 0x0a, 0x01, 0x78}, future); err != nil { // field 111, a message
		t.Fatal(err)
	}
	tell(t, session, welcome("s1"), future, &pb.ArenaEvent{}, asked("never", 0), ended("never"))
	tell(t, session, draining(77)) // a reason of the future: come back
	if len(*sent) != 0 || session.done {
		t.Error("sent:", *sent)
	}
}

// REPLACED and REVOKED stop the process with their exit codes, SERVER does not.
func TestDrainingReasons(t *testing.T) {
	for reason, want := range map[pb.Draining_Reason]int{
		pb.Draining_REASON_REPLACED: 5, pb.Draining_REASON_REVOKED: 3, pb.Draining_REASON_SERVER: 0,
	} {
		session, _, _ := newTable(t, Bot{Act: first})
		if err := session.handle(draining(reason)); ExitCode(err) != want {
			t.Errorf("%v: %v", reason, err)
		}
	}
}

// Events go out in order, as many in a frame as fit; an annotation that fits in no frame is left out.
func TestFramesAreFullButNeverTooLong(t *testing.T) {
	var events []*pb.BotEvent
	for i, length := range []int{10, 400, 400, 400, 5000, 10, 10} {
		event := acted("g", uint32(i), 1)
		event.GetAct().Annotation = &pb.Annotation{Comment: string(make([]byte, length))}
		events = append(events, event)
	}
	var counts, lengths []int
	for len(events) > 0 {
		var frame *pb.PlayRequest
		frame, events = nextFrame(events, 1000)
		if proto.Size(frame) > 1000 {
			t.Error("a frame of", proto.Size(frame))
		}
		counts = append(counts, len(frame.Events))
		for _, event := range frame.Events {
			lengths = append(lengths, len(event.GetAct().GetAnnotation().GetComment()))
		}
	}
	if !slices.Equal(counts, []int{3, 4}) || !slices.Equal(lengths, []int{10, 400, 400, 400, 0, 10, 10}) {
		t.Error(counts, lengths)
	}
}

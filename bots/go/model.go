package botarena

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	pb "botarena/arenapb"
)

// View is the position as the bot's seat may know it. The embedded message has the game's own view, such as
// view.GetPop(), and Text and JSON where the bot asked for them.
type View struct {
	*pb.View
	Match *pb.MatchStarted
	// DecisionID counts this seat's decisions in this game.
	DecisionID uint32
	// DefaultAction is the id of what the arena plays where it has to play for this seat.
	DefaultAction uint32
	// PlayedForYou is what was played for this seat since its last decision, and why.
	PlayedForYou []*pb.PlayedForYou
	// History is all that this seat has seen, for a bot that wants [HistoryFull].
	History []*pb.ObservedEvent
}

// Rand gives random numbers for this decision, a function of the match's BotSeed and DecisionID alone: a seeded match
// repeats exactly, even where the process was restarted in between.
func (v *View) Rand() *rand.Rand {
	return rand.New(rand.NewPCG(v.Match.GetBotSeed(), uint64(v.DecisionID)))
}

// Action is one legal action.
type Action struct {
	ID   uint32
	Text string
	// Typed is the action in the form of its game, such as Typed.GetPop(), if the bot asked for typed actions.
	Typed *pb.TypedAction
}

func (a Action) String() string { return a.Text }

// Legal are the legal actions of a decision, by ascending id: at least two, since what is forced is played without
// asking.
type Legal []Action

// ByID finds an action by its id.
func (l Legal) ByID(id uint32) (Action, bool) {
	for _, action := range l {
		if action.ID == id {
			return action, true
		}
	}
	return Action{}, false
}

// ByText finds an action by its text.
func (l Legal) ByText(text string) (Action, bool) {
	for _, action := range l {
		if action.Text == text {
			return action, true
		}
	}
	return Action{}, false
}

// String lists the first few, for messages.
func (l Legal) String() string {
	const most = 12
	texts := make([]string, 0, most)
	for _, action := range l[:min(most, len(l))] {
		texts = append(texts, action.Text)
	}
	listed := strings.Join(texts, ", ")
	if len(l) > most {
		listed += fmt.Sprintf(", ... (%d in all)", len(l))
	}
	return listed
}

// Choice is what Act returns: an [Action], its [ID] or its [Text], or any of them with a note by [Annotate].
type Choice interface {
	resolve(legal Legal) (Action, error)
}

// ID chooses an action by its id.
type ID uint32

// Text chooses an action by its text.
type Text string

func (a Action) resolve(legal Legal) (Action, error) { return ID(a.ID).resolve(legal) }

func (id ID) resolve(legal Legal) (Action, error) {
	if action, ok := legal.ByID(uint32(id)); ok {
		return action, nil
	}
	return Action{}, fmt.Errorf("%d is not a legal id; legal are: %v", id, legal)
}

func (text Text) resolve(legal Legal) (Action, error) {
	if action, ok := legal.ByText(strings.TrimSpace(string(text))); ok {
		return action, nil
	}
	return Action{}, fmt.Errorf("%q is not a legal action; legal are: %v", string(text), legal)
}

// Annotation is what a bot thinks of its move; shown to nobody before the game is over.
type Annotation struct {
	Comment string
	// Value is the expected result for the bot's seat, from -1 (certainly last) to 1 (certainly first).
	Value float64
	Nodes uint64
	// PV is the line of play that the bot expects, as action texts.
	PV []string
}

// Annotate adds a note to a choice.
func Annotate(choice Choice, note Annotation) Choice { return annotated{choice, note} }

type annotated struct {
	Choice
	note Annotation
}

// Clock is the time for one decision, as the arena measures it.
type Clock struct {
	// Bank is what is left for the game.
	Bank time.Duration
	// Limit is what this decision may take; after it the game is lost on time.
	Limit time.Duration
	// LastCharged is what the previous decision was charged, after the allowance for the network.
	LastCharged time.Duration
	// LastNetwork is what of it was the network's.
	LastNetwork time.Duration
	// Arrived is when the request reached this process.
	Arrived time.Time
}

// Left is what is left of Limit, never negative. The way to the arena and back comes off it as well.
func (c Clock) Left() time.Duration { return max(0, time.Until(c.Arrived.Add(c.Limit))) }

// Outcome is how a game ended.
type Outcome string

const (
	// Finished: the game has a result.
	Finished Outcome = "finished"
	// Void: the arena failed, nobody loses, the game is played again.
	Void Outcome = "void"
	// Unknown: it ended while this process was not connected; the arena's pages have the result.
	Unknown Outcome = "unknown"
)

// Result is how a game ended for the bot.
type Result struct {
	Match   *pb.MatchStarted
	Outcome Outcome
	// Places by seat, from 1; joint places are shared. Empty unless finished.
	Places []uint32
	// Scores by seat. Empty unless finished.
	Scores []int32
	// Reasons say by seat how its game ended.
	Reasons  []pb.SeatReason
	MatchID  string
	SetID    string
	Receipts Receipts
}

// Place is the bot's own, from 1; 0 unless finished.
func (r *Result) Place() int { return int(at(r.Places, r.Match.GetSeat())) }

// Score is the bot's own; 0 unless finished.
func (r *Result) Score() int { return int(at(r.Scores, r.Match.GetSeat())) }

func at[T any](values []T, seat uint32) (value T) {
	if int(seat) < len(values) {
		value = values[seat]
	}
	return value
}

// Receipts prove afterwards that the arena dealt fairly and has not rewritten the game: two signatures by ArenaKey
// (Ed25519), one made before the first event and one at the end. `arena verify` checks them.
type Receipts struct {
	ArenaKey   []byte
	Commitment []byte
	// Opening is the signature over (match, commitment).
	Opening []byte
	// Head of the record's hash chain.
	Head []byte
	// Secret behind the commitment; empty for a shared deal until the whole set is over.
	Secret []byte
	// Closing is the signature over (match, head, secret).
	Closing []byte
}

// Package botarena is the SDK for bots that play on a Bot Arena.
//
// A bot is a function that chooses one of the legal actions:
//
//	func act(ctx context.Context, view *botarena.View, legal botarena.Legal, clock botarena.Clock) (botarena.Choice, error) {
//		return legal[view.Rand().IntN(len(legal))], nil
//	}
//
//	func main() {
//		botarena.Main(botarena.Bot{Games: []string{"pop"}, Act: act})
//	}
//
// or, where it keeps state during a game, a [Player] that New makes for each game. The messages of the protocol and of
// the games are in package arenapb and below it.
package botarena

import (
	"context"

	pb "botarena/arenapb"
)

// Version of this SDK.
const Version = "0.1.0"

// Protocol is the version of botarena.v1 that this SDK was written for, as major * 1000 + minor.
const Protocol = 1000

// ActFunc chooses one of legal. Calls for different games may come at the same time. The context ends with the time
// that the decision has, and when the game is over.
//
// An error, or a panic, gives up this game; others go on.
type ActFunc func(ctx context.Context, view *View, legal Legal, clock Clock) (Choice, error)

// Player plays one game. Its methods are called one after the other, on a goroutine of the game's own. A Player may also
// be an [Observer] or an [Ender].
type Player interface {
	// Act chooses one of legal; see [ActFunc].
	Act(ctx context.Context, view *View, legal Legal, clock Clock) (Choice, error)
}

// Observer is a [Player] that hears what happens, its own actions included, before its next decision. Needs
// [HistoryDelta] or [HistoryFull] in [Bot.History].
type Observer interface {
	OnEvent(event *pb.ObservedEvent)
}

// Ender is a [Player] that hears how its game ended.
type Ender interface {
	OnEnd(result *Result)
}

// History is how much of what happened a bot is told.
type History = pb.Wants_History

const (
	// HistoryNone tells nothing.
	HistoryNone = pb.Wants_HISTORY_NONE
	// HistoryDelta tells an [Observer] things as they happen.
	HistoryDelta = pb.Wants_HISTORY_DELTA
	// HistoryFull also puts the whole history into [View.History].
	HistoryFull = pb.Wants_HISTORY_FULL
)

// Bot is what a program tells of itself. Either Act or New is needed; the zero value of all else will do.
type Bot struct {
	// Name as registered; empty: the bot that the token was made for.
	Name string
	// Version is your name for this version of the program; a new one starts its own rating. Empty: "1".
	Version string
	// Games that the bot plays, such as "pop"; none: every game of the arena.
	Games []string
	// Players are the numbers of players it plays with; none: all.
	Players []uint32

	// Text sends the position also as text.
	Text bool
	// JSON sends the position as JSON even where there is a typed message.
	JSON bool
	// TypedActions sends the game's own message with each action, in [Action.Typed].
	TypedActions bool
	// History is what the bot is told of the past; zero: nothing.
	History History

	// Act chooses, for a bot that keeps no state.
	Act ActFunc
	// New makes a player for a game that begins, or that goes on in a new process (match.Resumed).
	New func(match *pb.MatchStarted) Player
}

// Act makes a function a [Player].
func (f ActFunc) Act(ctx context.Context, view *View, legal Legal, clock Clock) (Choice, error) {
	return f(ctx, view, legal, clock)
}

func (b *Bot) player(match *pb.MatchStarted) Player {
	if b.New != nil {
		return b.New(match)
	}
	return b.Act
}

func (b *Bot) check() error {
	if (b.Act == nil) == (b.New == nil) {
		return misconfigured("a bot needs either Act or New")
	}
	if len(b.Players) > 0 && len(b.Games) == 0 {
		return misconfigured("Players needs the Games that it is for")
	}
	return nil
}

// hello is the first event of a stream.
func (b *Bot) hello(instance string, credit uint32, resume string) *pb.Hello {
	games := make([]*pb.GameSupport, len(b.Games))
	for i, game := range b.Games {
		games[i] = &pb.GameSupport{Game: game, Players: b.Players}
	}
	history := b.History
	if history == pb.Wants_HISTORY_UNSPECIFIED {
		history = HistoryNone
	}
	return &pb.Hello{
		Bot:           b.Name,
		Version:       b.Version,
		Instance:      instance,
		Sdk:           "botarena-go/" + Version,
		Games:         games,
		Credit:        credit,
		Wants:         &pb.Wants{Text: b.Text, Json: b.JSON, TypedActions: b.TypedActions, History: history},
		Protocol:      Protocol,
		ResumeSession: resume,
	}
}

package botarena

import (
	"math"
	"strings"
	"time"

	pb "botarena/arenapb"
)

// failedText answers a decision that the bot could not: no game has such an action, so the arena ends a failed seat at
// once instead of waiting for its clock.
const failedText = "failed"

func viewFrom(match *pb.MatchStarted, request *pb.DecisionRequested) *View {
	return &View{
		View:          request.GetView(),
		Match:         match,
		DecisionID:    request.GetDecisionId(),
		DefaultAction: request.GetDefaultAction(),
		PlayedForYou:  request.GetPlayedForYou(),
		History:       request.GetHistory(),
	}
}

func legalFrom(request *pb.DecisionRequested) Legal {
	legal := make(Legal, len(request.GetLegal()))
	for i, action := range request.GetLegal() {
		legal[i] = Action{ID: action.GetId(), Text: action.GetText(), Typed: action.GetTyped()}
	}
	return legal
}

func clockFrom(clock *pb.Clock, arrived time.Time) Clock {
	return Clock{
		Bank:        milliseconds(clock.GetBankMs()),
		Limit:       milliseconds(clock.GetLimitMs()),
		LastCharged: milliseconds(clock.GetLastChargedMs()),
		LastNetwork: milliseconds(clock.GetLastNetworkMs()),
		Arrived:     arrived,
	}
}

func milliseconds(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }

func resultFrom(match *pb.MatchStarted, ended *pb.MatchEnded, arenaKey []byte) *Result {
	outcome := Void
	if ended.GetEnd() == pb.MatchEnded_END_FINISHED {
		outcome = Finished
	}
	return &Result{
		Match:   match,
		Outcome: outcome,
		Places:  ended.GetPlaces(),
		Scores:  ended.GetScores(),
		Reasons: ended.GetReasons(),
		MatchID: ended.GetMatchId(),
		SetID:   ended.GetSetId(),
		Receipts: Receipts{
			ArenaKey:   arenaKey,
			Commitment: match.GetCommitment(),
			Opening:    match.GetReceipt(),
			Head:       ended.GetRecordHead(),
			Secret:     ended.GetSecret(),
			Closing:    ended.GetReceipt(),
		},
	}
}

// actFrom is the message for what Act chose; an error says what would be right.
func actFrom(request *pb.DecisionRequested, legal Legal, choice Choice) (*pb.Act, error) {
	act := &pb.Act{GameId: request.GetGameId(), DecisionId: request.GetDecisionId()}
	if choice, ok := choice.(annotated); ok {
		act.Annotation = &pb.Annotation{
			Comment:   strings.ToValidUTF8(choice.note.Comment, "?"),
			EvalMilli: int32(math.Round(max(-1, min(1, choice.note.Value)) * 1000)),
			Nodes:     choice.note.Nodes,
			Pv:        choice.note.PV,
		}
	}
	action, err := choice.resolve(legal)
	if err != nil {
		return nil, err
	}
	act.Choice = &pb.Act_ActionId{ActionId: action.ID}
	return act, nil
}

func failureAct(request *pb.DecisionRequested) *pb.Act {
	return &pb.Act{
		GameId:     request.GetGameId(),
		DecisionId: request.GetDecisionId(),
		Choice:     &pb.Act_Text{Text: failedText},
	}
}

// word makes CODE_TOO_LATE "too late"; a number newer than this SDK stays a number.
func word(enum interface{ String() string }, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(enum.String(), prefix)), "_", " ")
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"botarena"
	"botarena/arenapb/poppb"
)

// placementsADecision is what a decision may cost, in turns placed: about 10 ms.
const placementsADecision = 8_000

// candidate is a legal action that is being weighed.
type candidate struct {
	action botarena.Action
	cards  []int
	// cost is how much more it costs us than the others on average, in explosions; times players and guesses.
	cost int
}

// act halves the choices until one is left, each time comparing all of them in the same guesses at the others' cards.
func act(ctx context.Context, view *botarena.View, legal botarena.Legal, _ botarena.Clock) (botarena.Choice, error) {
	position := view.GetPop()
	if position == nil {
		return nil, errors.New("the arena sent no view of POP!")
	}
	choices := make([]*candidate, len(legal))
	for i, action := range legal {
		cards, err := cardsOf(action.Typed.GetPop())
		if err != nil {
			return nil, err
		}
		choices[i] = &candidate{action: action, cards: cards}
	}
	guesser := newGuesser(position, len(choices[0].cards), view.Rand())
	guesses := 0
	for len(choices) > 1 && ctx.Err() == nil {
		for range max(1, placementsADecision/8/len(choices)) {
			others := guesser.others()
			for _, choice := range choices {
				choice.cost += lead(position, choice.cards, others)
			}
			guesses++
		}
		slices.SortStableFunc(choices, func(a, b *candidate) int { return cmp.Compare(a.cost, b.cost) })
		choices = choices[:(len(choices)+1)/2]
	}
	best := choices[0]
	mean := float64(best.cost) / float64(max(1, guesses)*int(position.Players))
	comment := fmt.Sprintf("%+.2f explosions against the others' mean", mean)
	return botarena.Annotate(best.action, botarena.Annotation{Comment: comment, Nodes: uint64(guesses)}), nil
}

func cardsOf(action *poppb.Action) ([]int, error) {
	switch action := action.GetAction().(type) {
	case *poppb.Action_Play:
		return []int{int(action.Play.Card)}, nil
	case *poppb.Action_PlayPair:
		return []int{int(action.PlayPair.Low), int(action.PlayPair.High)}, nil
	default:
		return nil, fmt.Errorf("unknown action %v", action)
	}
}

// lead is how much more a turn costs us than the others, times players.
func lead(position *poppb.View, own []int, others []face) int {
	seat := int(position.GetSeat())
	faces := slices.Clone(others)
	for _, card := range own {
		faces = append(faces, face{card, seat})
	}
	points := make([]int, position.Players)
	pile := explosions(position.Pile)
	for _, blast := range place(columnsOf(position), faces) {
		if blast.owner == chief {
			pile += blast.explosions
			continue
		}
		points[blast.owner] += pile + blast.explosions
		pile = 0
	}
	difference := points[seat] * len(points)
	for _, each := range points {
		difference -= each
	}
	return difference
}

// guesser makes up the other cards of a turn.
type guesser struct {
	known  []face // the Chief's open cards
	owners []int  // of the cards to be guessed
	unseen []int
	rng    *rand.Rand
}

func newGuesser(position *poppb.View, cardsEach int, rng *rand.Rand) *guesser {
	g := &guesser{rng: rng}
	seen := map[uint32]bool{}
	see := func(cards []uint32) {
		for _, card := range cards {
			seen[card] = true
		}
	}
	see(position.Hand)
	see(position.Chief)
	see(position.Pile)
	for _, lists := range [][]*poppb.Cards{position.Columns, position.Taken} {
		for _, list := range lists {
			see(list.Cards)
		}
	}
	for card := uint32(1); card <= cardCount; card++ {
		if !seen[card] {
			g.unseen = append(g.unseen, int(card))
		}
	}
	for _, card := range position.Chief {
		g.known = append(g.known, face{int(card), chief})
	}
	for seat := range int(position.Players) {
		if seat != int(position.GetSeat()) {
			g.owners = append(g.owners, slices.Repeat([]int{seat}, cardsEach)...)
		}
	}
	for len(g.owners)+len(g.known)+cardsEach < columnCount {
		g.owners = append(g.owners, chief) // cards that the Chief still hides
	}
	return g
}

// others is one guess, each unseen card being equally likely.
func (g *guesser) others() []face {
	faces := slices.Clone(g.known)
	for i, owner := range g.owners {
		j := i + g.rng.IntN(len(g.unseen)-i)
		g.unseen[i], g.unseen[j] = g.unseen[j], g.unseen[i]
		faces = append(faces, face{g.unseen[i], owner})
	}
	return faces
}

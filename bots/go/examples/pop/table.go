package main

import (
	"cmp"
	"slices"

	"botarena/arenapb/poppb"
)

const (
	cardCount       = 50
	columnCount     = 5
	arrowsToReverse = 3
	// chief is who owns the Chief's cards, where a seat owns the others.
	chief = -1
)

// columns are the table, each column from the floor up. Its floor moves one row down with each card that is placed.
type columns [columnCount][]int

// face is a card that is placed, and whose it is.
type face struct {
	card, owner int
}

// blast is an explosion: who has set it off, and what it costs.
type blast struct {
	owner, explosions int
}

func colour(card int) int { return (card - 1) % 5 }

func hasArrow(card int) bool { return card <= 10 || card >= 41 }

func explosionsOf(card int) int {
	switch {
	case card <= 5 || card >= 46:
		return 3
	case card >= 16 && card <= 20 || card >= 31 && card <= 35:
		return 2
	default:
		return 1
	}
}

func explosions(cards []uint32) (sum int) {
	for _, card := range cards {
		sum += explosionsOf(int(card))
	}
	return sum
}

func columnsOf(position *poppb.View) (table columns) {
	for i, column := range position.Columns {
		for _, card := range column.Cards {
			table[i] = append(table[i], int(card))
		}
	}
	return table
}

// place puts a turn's cards on the table: the least into column A, the greatest into E; from A on, or from E on if many
// have arrows. It changes the table's columns, and returns what exploded, in order.
func place(table columns, faces []face) (blasts []blast) {
	slices.SortFunc(faces, func(a, b face) int { return cmp.Compare(a.card, b.card) })
	arrows := 0
	for _, face := range faces {
		if hasArrow(face.card) {
			arrows++
		}
	}
	var floors [columnCount]int
	for turn, face := range faces {
		column := turn
		if arrows >= arrowsToReverse {
			column = columnCount - 1 - turn
			face = faces[column]
		}
		floors[column]++
		table[column] = append([]int{face.card}, table[column]...)
		sum := 0
		for cost := explode(&table, &floors); cost > 0; cost = explode(&table, &floors) {
			sum += cost
		}
		if sum > 0 {
			blasts = append(blasts, blast{face.owner, sum})
		}
	}
	return blasts
}

// explode removes all cards that touch their own colour; those above fall. It returns what they cost.
func explode(table *columns, floors *[columnCount]int) (cost int) {
	var doomed [cardCount + 1]bool
	for column, cards := range table {
		for i, card := range cards {
			if i > 0 && colour(cards[i-1]) == colour(card) {
				doomed[cards[i-1]], doomed[card] = true, true
			}
			if column+1 == columnCount {
				continue
			}
			// The same row next door: a column whose floor lies lower holds it further up.
			j := i + floors[column+1] - floors[column]
			if next := table[column+1]; j >= 0 && j < len(next) && colour(next[j]) == colour(card) {
				doomed[card], doomed[next[j]] = true, true
			}
		}
	}
	for column, cards := range table {
		kept := cards[:0:0]
		for _, card := range cards {
			if doomed[card] {
				cost += explosionsOf(card)
			} else {
				kept = append(kept, card)
			}
		}
		table[column] = kept
	}
	return cost
}

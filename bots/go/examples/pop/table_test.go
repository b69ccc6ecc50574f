package main

import (
	"slices"
	"testing"
)

// What explodes for whom: the rules' own examples, with the table 11 22 13 24 15.
func TestPlace(t *testing.T) {
	for name, test := range map[string]struct {
		cards []int // of seats 0 to 4
		want  []blast
	}{
		"no arrows, nothing touches":       {[]int{12, 23, 29, 35, 36}, nil},
		"three in one blast":               {[]int{12, 17, 25, 31, 37}, []blast{{1, 4}}},
		"three arrows: from the last on":   {[]int{2, 7, 10, 31, 37}, []blast{{1, 2}}},
		"two arrows: from the first on":    {[]int{4, 9, 21, 30, 37}, []blast{{1, 4}}},
		"three arrows: the other one pays": {[]int{4, 9, 21, 30, 42}, []blast{{0, 4}}},
	} {
		table := columns{{11}, {22}, {13}, {24}, {15}}
		var faces []face
		for seat, card := range test.cards {
			faces = append(faces, face{card, seat})
		}
		if got := place(table, faces); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, not %v", name, got, test.want)
		}
	}
}

// The deck as printed: 80 explosions, 20 arrows.
func TestDeck(t *testing.T) {
	sum, arrows := 0, 0
	for card := 1; card <= cardCount; card++ {
		sum += explosionsOf(card)
		if hasArrow(card) {
			arrows++
		}
	}
	if sum != 80 || arrows != 20 {
		t.Error(sum, arrows)
	}
}

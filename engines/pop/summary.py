"""The rules of POP! in our own words, for people who want to play or write a bot."""

from typing import Final

SUMMARY: Final = """\
# POP!

Two to five guards send coloured cards into five queues. Equal colours that touch explode, and whoever set them off must keep
them. **Fewest explosions win.**

**Cards.** 50 cards, numbered 1 to 50. Colours repeat in the order red, yellow, green, blue, purple: 1 is red, 2 yellow, 6 red
again. Explosions (points you do not want): 3 on 1-5 and 46-50; 2 on 16-20 and 31-35; 1 on all others. Arrows: on 1-10 and 41-50.

**A round.** One card is laid for each column A to E, no colour beside itself. Each player gets 9 cards. Then come 8 turns; the card
that is left in a hand is not played. A match has `rounds` rounds (1 to 3, default 1), each with all 50 cards and an empty table.

**A turn.**

1. The Multicolour Chief gets cards, so that five are played in all: with 2 players one face up and two face down, with 3 one of each,
   with 4 one face up, with 5 none. *Two-player variant* (`two_player_variant`, on by default, only with 2 players): both players
   first draw a card, later choose two, and the Chief gets just one, face up.
2. All choose a card at the same time. Choices and face-down cards are then shown.
3. The five cards are sorted: the lowest goes to A, the next to B, the highest to E. They are placed one at a time, A first; but if
   three or more of them show an arrow, E first.

**Placing.** A card enters a queue at its *bottom*: the floor of that column moves one row down, and the card goes right above it, under the
cards that were there, which stay in their rows. So during a turn a column that already got its card reaches one row lower than those
still waiting, and cards compare with the neighbours in the same row. After each placement, all groups of two or
more cards of one colour that touch, up and down or side by side, vanish together; cards above gaps fall; and so on until nothing
touches. An empty column separates its neighbours.

**Who pays.** All cards of that chain go to the owner of the card just placed. If it is the Chief's, they wait in the Chief's
pile; the next player who sets off an explosion, perhaps in the same turn, takes the whole pile too. A pile left at the end
of a round counts for nobody.

**End.** Fewest explosions collected over all rounds win; then the fewer explosions on the card left in hand in the last round; then
the place is shared.

**Secret.** Hands, the deck, face-down Chief cards, choices until all are in. Collected cards are open. The cards left in hand are shown
at the end of the match (those of earlier rounds never are).

**Actions.** `play 17`; in the two-player variant `play 17+23`, lower card first.
**Chance.** `row 11` (next card of the first row), `deal 9` and `draw 9` (to a hand, in seat order, seen by its owner), `chief 12`.
All weights are 1.

**View.** `columns` lists each column from the floor up. Cards in no field of your view are in other hands or in the deck.
"""

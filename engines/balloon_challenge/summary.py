"""The rules in our own words, for people who write a bot."""

from typing import Final

SUMMARY: Final = """\
# Balloon Challenge

2 to 5 players, five rounds. Your hand is air, the cards on the table are the room in the balloon. Play cards until the
air fits, take bonus chips on the way, and get out in time: what is left in your hand is what you score.

**Cards.** 50: red `R`, blue `B`, water `W`, yellow `Y` and grey `G` with values 0 to 7 each, black `K` with 0 to 9.
**Chips.** 4, 7, 10 or 12 with 2, 3, 4 or 5 players. All of them lie on the table at the beginning of each round: one is
put aside, the others are the pot.

**Deal.** A random seat starts the first round, then the start moves clockwise. Round *r* deals 5 + *r* cards to each
player, one at a time, hidden. With two players five more cards are then laid face up as row 0.

**Laps.** From the start seat clockwise, whoever is still in takes one of two actions:

- `play R5`: puts that card face up on the table. If it is the third card of its colour on the table (row 0 counts, black
  does not), the player takes a chip from the pot.
- `drop`: leaves the round, keeping the hand hidden. The first to drop out takes the chip put aside. Whoever drops out in
  lap 1, 2 or 3 takes 3, 2 or 1 chips from the pot; later ones take none.

When the pot has fewer chips than are due, the player takes what is there. The last one in may go on alone as long as it
likes; with an empty hand one can only drop. A lap is over when play comes round to the start seat, still in or not.

**Scoring**, when all are out. The *size* is the number of cards on the table, a hand's *volume* the sum of its values. A
volume up to the size scores itself; a greater one has burst and scores nothing. Whoever hits the size exactly takes the
chips left in the pot; several share them equally and a remainder is lost. Each chip is worth 2 points, in round 5 it is
worth 3, burst or not. All hands are shown. The highest total after five rounds wins; equal totals share the place.

**Chance.** `start 2` (the seat that starts round 1), `deal K9` (the next card, to whose turn it is or to row 0). A card
dealt to a hand is seen by its receiver alone.
"""

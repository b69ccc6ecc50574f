"""The rules in our own words."""

from typing import Final

SUMMARY: Final = """\
Five balloons cross a board of 15 x 15 squares, from the start edge (row 0) to a landing pad at the far edge (row 14).
All players move all balloons. Each player has a secret balloon card (two players: two cards each) and wants that balloon
near the landing zone when the race ends, with many mail tokens and few penalty tokens.

**The board.** Squares are (row, column) from 0. The balloons R, G, Y, P, B (red, green, yellow, pink, blue) begin on the
start tile (0,5)..(0,9). The landing pad is five squares of row 14, one of them the landing zone; both are drawn by lot.
Nine mail tokens lie on rows and columns 3, 7 and 11. Obstacles have a value of 1 to 4, two of each; four begin on the corners
(4,4), (4,10), (10,4), (10,10).

**Rounds.** There are at most five. Order cards are dealt: First, Second, Third, Last (three players: no Third; two players:
one of First and Second and one of Third and Last each, so that each has two turns). From the second round on an obstacle is drawn
and the first player puts it on a free square of the ring around rows and columns 4 to 10. Then the turns in order.

**A turn.**

1. Five dice are rolled. Lay one die on each balloon and choose whether the balloons move from left to right (R G Y P B)
   or from right to left: one action. With a dice timer (`dice_timer_ms`, 0 = none) this has a time limit of its own: when
   it passes, you take 5 penalties and the dice are laid from the lowest up, left to right.
2. Each balloon in that order moves two squares, step by step: 1 left (column - 1), 2 down and left, 3 down (row + 1), 4 down
   and right, 5 right. At the edge it stops for free. Before a balloon or an obstacle it stops, and you take 1 penalty for each
   step not made. Slipping diagonally between two tokens is fine. With a 6 you choose any square that two single steps in any of the eight
   directions reach over free squares, the square it came from included; if it cannot move at all it costs 2 penalties.
   A balloon that ends its move on a mail token wins it for you.
3. Move two different obstacles; with the Last card all of them. An obstacle moves exactly its value, straight in one of
   eight directions, over and onto squares without balloon, obstacle, mail, start tile or pad. You may stop only when no
   obstacle that has not moved in this turn can.

**The end.** After a turn at whose end a balloon is on the pad, or after round 5. Score: 3 for each mail token, -1 for
each penalty, and minus the distance from your balloon to the landing zone, max(rows, columns); with two players the distances of both.
Most points win; then the smaller distance (two players: of the nearer balloon); then it is shared.

**Hidden:** balloon cards until the end. Scores shown during the race leave the distance out.

**Actions.** `assign 24631>`: dice of R, G, Y, P, B, and `>` left to right or `<` right to left. `to 3,7`: where the
balloon with a 6 goes. `put 4,7`: where the new obstacle goes. `move 4,4-7,7`: an obstacle from, to. `timeout`: the dice timer ran
out; the referee plays it, never a bot.

**Chance.** `pad 3` first column of the pad, `zone 5` column of the landing zone, `balloon R` next on the start tile, `card R` next
balloon card, `order 1` next seat's order card (1 First, 2 Second, 3 Third, 4 Last), `obstacle 3` value, `roll 23336`.
"""

"""The rules in our own words, for `arena games` and the web."""

from typing import Final

SUMMARY: Final = """\
# Balloon Pop

2 to 4 players, 8 rounds. You hang groups of balloons on your own board, where they float up; connected balloons of one
colour, or with a symbol, pop and give points. Most points win.

## Material

- 88 cubes in a bag: red `r`, green `g`, blue `b`, yellow `y`, 20 each, of which 6 carry a symbol (`R G B Y`); 8 neutral
  `w` without a symbol.
- Each player has a board of 6 columns and 8 rows (row 0 is the top one) and the cards 1 to 10. Each card is used once.
  Hands are public. All coordinates count from 0.

## A round

Chance chooses who is first in round 1 (`first 2`: seat 2); then the seat to the left is first.

1. **Draw.** As many groups of 4 cubes as players, cube by cube (`draw R`), each cube in the bag equally likely. An empty
   bag is refilled from the discard when a cube is needed; if both are empty, later groups are short or empty.
2. **Card.** From the first seat clockwise each plays a card face up: `card 7`. With the option `simultaneous_cards` all
   choose at once.
3. **Group.** By descending card each takes one of the groups: `group 2`, numbered from 1 as drawn. Equal cards: who comes
   first clockwise from the first seat.
4. **Place.** From the first seat clockwise each places its group as its card says:

   | card | lies | may drop one cube |
   |---|---|---|
   | 10, 9 | vertically | no |
   | 8, 7 | horizontally | no |
   | 6, 5 | either way | no |
   | 4, 3 | either way | the 1st or the last |
   | 2, 1 | either way | the 2nd or the 3rd, the rest closes up |

   `V2` hangs the group at the lower end of column 2, its 1st cube uppermost; it must fit into 8 rows. `H1` puts one cube
   each at the end of columns 1, 2, 3, ..., none of which may be full, 1st cube leftmost. A letter `r` reverses the group (`V2r`). `-3` at
   the end discards its 3rd cube first; positions count as drawn, before reversing. At least one cube must be left. If the
   group fits nowhere the only action is `discard`: all of it goes to the discard.
5. **Pop.** From the first seat clockwise each pops the sets on its board, one at a time and in the order it likes, until it
   has none. Popped cubes go to the discard, and the cubes below move up, which may make new sets.
   - *Colour set*: 4 or more cubes of one colour connected orthogonally, neutral ones counting as that colour, always the
     whole connected part. Points: cubes - 2. At least one must be of the colour; neutrals alone are a set only if they touch no
     coloured cube.
   - *Symbol set*: 2 or more connected cubes with a symbol, whatever their colours. Points: cubes - 1.

   `pop r@2,0`: the kind (`r g b y`; `w` neutrals alone; `*` symbols), then column and row of the set's first cell, the
   uppermost one of its leftmost column. With the option `bonus` each set after your first in a round gives 1 more point.

## The end

After 8 rounds two cards are left in each hand. 1 point for each empty column of your board, 3 points for each empty row
among the top three. Most points win; then fewest cubes on the board; then the place is shared.
"""

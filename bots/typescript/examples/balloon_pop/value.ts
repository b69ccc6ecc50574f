/** What a board is worth: the points of the best order of popping, and the hopes that it leaves. */

import { type Board, type CubeSet, endPoints, promises, setsOf, without } from "./board.js";

const ROUNDS = 8;
/** What two and three connected cubes of a colour are worth while they can still be reached, in points. */
const PAIR = 0.45;
const TRIPLE = 1.3;
/** What a symbol that can still be reached is worth. */
const SYMBOL = 0.55;
/** What any cube costs: it is in the way. */
const CUBE = 0.06;
/** How much the points for empty columns and rows count in round 1; at the end they count in full. */
const END = 0.15;
const REMEMBERED = 20_000;

/** Worth of boards in one round; `further` is what each set after the first gives. */
export class Valuer {
  readonly #known = new Map<string, number>();

  constructor(
    readonly round: number,
    readonly further: number,
  ) {}

  /** `now`: more points for the first set that pops. */
  valueOf(board: Board, now = 0): number {
    const key = `${now}${board.join("/")}`;
    let value = this.#known.get(key);
    if (value === undefined) {
      const sets = setsOf(board);
      value = sets.length
        ? Math.max(...sets.map((set) => this.afterPop(board, set, now)))
        : this.#atRest(board);
      if (this.#known.size > REMEMBERED) this.#known.clear();
      this.#known.set(key, value);
    }
    return value;
  }

  /** The points of popping a set first, and the value of what is left. */
  afterPop(board: Board, set: CubeSet, now: number): number {
    return set.points + now + this.valueOf(without(board, set.cells), this.further);
  }

  #atRest(board: Board): number {
    const left = (ROUNDS - this.round) / (ROUNDS - 1);
    const ends = endPoints(board) * (1 - (1 - END) * left);
    if (!left) return ends;
    const { colours, symbols } = promises(board);
    const hopes = colours.reduce(
      (sum, cells) => sum + (cells.length > 2 ? TRIPLE : PAIR),
      SYMBOL * symbols.length,
    );
    return ends + hopes - CUBE * board.join("").length;
  }
}

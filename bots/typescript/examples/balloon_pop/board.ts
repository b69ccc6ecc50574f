/** A board of Balloon Pop: where groups may lie, which sets there are, and what is left when they pop. */

export const COLUMNS = 6;
export const ROWS = 8;
const TOP_ROWS = 3;
const COLOURS = "rgby";

/** Six columns, each its cubes from the top down. */
export type Board = readonly string[];

/** How a group is laid; `drop` is the position, from 1 as drawn, of a cube that is discarded first, 0 for none. */
export interface Laying {
  vertical: boolean;
  column: number;
  reversed: boolean;
  drop: number;
}

/** Cells of a board as column * ROWS + row. */
type Cell = number;

/** Cubes that may be popped together. */
export interface CubeSet {
  /** r, g, b or y; w: neutral cubes alone; *: symbols. */
  kind: string;
  cells: Cell[];
  points: number;
}

/** What a card allows. */
function rule(card: number): { vertical: boolean; horizontal: boolean; drops: (length: number) => number[] } {
  return {
    vertical: card > 8 || card < 7,
    horizontal: card < 9,
    drops: (length) => {
      if (length < 2 || card > 4) return [];
      const positions = card > 2 ? [1, length] : [2, 3];
      return positions.filter((position) => position <= length);
    },
  };
}

/** All ways to lay a group by a card. */
export function layings(board: Board, card: number, group: string): Laying[] {
  const { vertical, horizontal, drops } = rule(card);
  const found: Laying[] = [];
  for (const drop of [0, ...drops(group.length)]) {
    const length = group.length - (drop ? 1 : 0);
    for (const standing of [true, false]) {
      if (standing ? !vertical : !horizontal) continue;
      for (let column = 0; column < COLUMNS; column++) {
        if (!fits(board, standing, column, length)) continue;
        for (const reversed of [false, true]) found.push({ vertical: standing, column, reversed, drop });
      }
    }
  }
  return found;
}

function fits(board: Board, vertical: boolean, column: number, length: number): boolean {
  if (vertical) return (board[column] ?? "").length + length <= ROWS;
  const under = board.slice(column, column + length);
  return under.length === length && under.every((cubes) => cubes.length < ROWS);
}

/** The board after a laying that fits. */
export function lay(board: Board, group: string, { vertical, column, reversed, drop }: Laying): Board {
  let cubes = [...group];
  if (drop) cubes.splice(drop - 1, 1);
  if (reversed) cubes = cubes.reverse();
  if (vertical) return board.map((old, index) => (index === column ? old + cubes.join("") : old));
  return board.map((old, index) => old + (cubes[index - column] ?? ""));
}

/** All sets that could be popped now. */
export function setsOf(board: Board): CubeSet[] {
  const colour = (cell: Cell) => cubeAt(board, cell).toLowerCase();
  const found: CubeSet[] = [];
  for (const kind of COLOURS) {
    for (const cells of parts(board, (cube) => cube.toLowerCase() === kind || cube === "w", 4)) {
      if (cells.some((cell) => colour(cell) === kind)) found.push({ kind, cells, points: cells.length - 2 });
    }
  }
  for (const cells of parts(board, (cube) => cube === "w", 4)) {
    const alone = cells.flatMap(neighbours).every((cell) => "w".includes(cubeAt(board, cell)));
    if (alone) found.push({ kind: "w", cells, points: cells.length - 2 });
  }
  for (const cells of parts(board, isSymbol, 2)) found.push({ kind: "*", cells, points: cells.length - 1 });
  return found;
}

/** The board without some cells; what hangs below them floats up. */
export function without(board: Board, cells: readonly Cell[]): Board {
  const gone = new Set(cells);
  return board.map((cubes, column) => [...cubes].filter((_, row) => !gone.has(column * ROWS + row)).join(""));
}

/** Points at the end of the game for empty columns and for empty rows at the top. */
export function endPoints(board: Board): number {
  const heights = board.map((cubes) => cubes.length);
  return heights.filter((height) => height === 0).length + 3 * Math.max(0, TOP_ROWS - Math.max(...heights));
}

/** Groups that are on their way to a set and can still be reached: by colour with neutrals, and symbols. */
export function promises(board: Board): { colours: Cell[][]; symbols: Cell[][] } {
  const free = new Set(
    board.flatMap((cubes, column) => (cubes.length < ROWS ? [column * ROWS + cubes.length] : [])),
  );
  const reachable = (cells: Cell[]) => cells.flatMap(neighbours).some((cell) => free.has(cell));
  const colours = [...COLOURS].flatMap((kind) =>
    parts(board, (cube) => cube.toLowerCase() === kind || cube === "w", 2).filter(reachable),
  );
  return { colours, symbols: parts(board, isSymbol, 1).filter(reachable) };
}

function isSymbol(cube: string): boolean {
  return cube !== "" && cube !== cube.toLowerCase();
}

function cubeAt(board: Board, cell: Cell): string {
  return board[Math.floor(cell / ROWS)]?.[cell % ROWS] ?? "";
}

function neighbours(cell: Cell): Cell[] {
  const row = cell % ROWS;
  const beside = [cell - ROWS, cell + ROWS].filter((other) => other >= 0 && other < COLUMNS * ROWS);
  if (row > 0) beside.push(cell - 1);
  if (row + 1 < ROWS) beside.push(cell + 1);
  return beside;
}

/** The connected parts, of at least `least` cells, of the cubes that `belongs` says. */
function parts(board: Board, belongs: (cube: string) => boolean, least: number): Cell[][] {
  const open = new Set<Cell>();
  board.forEach((cubes, column) => {
    for (let row = 0; row < cubes.length; row++) if (belongs(cubes[row] ?? "")) open.add(column * ROWS + row);
  });
  const found: Cell[][] = [];
  for (const start of open) {
    open.delete(start);
    const part = [start];
    for (const cell of part) {
      for (const next of neighbours(cell)) if (open.delete(next)) part.push(next);
    }
    if (part.length >= least) found.push(part.sort((a, b) => a - b));
  }
  return found;
}

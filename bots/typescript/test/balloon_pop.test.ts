import assert from "node:assert/strict";
import { test } from "node:test";
import { endPoints, lay, layings, setsOf, without } from "../examples/balloon_pop/board.js";
import { Valuer } from "../examples/balloon_pop/value.js";

const EMPTY = ["", "", "", "", "", ""];

test("cards say how a group may lie, and which cube may be dropped", () => {
  const count = (card: number, group = "rgby") => layings(EMPTY, card, group).length;
  assert.deepEqual([count(10), count(8), count(6)], [2 * 6, 2 * 3, 2 * 9]);
  assert.deepEqual([count(4), count(2)], [18 + 2 * 2 * (6 + 4), 18 + 2 * 2 * (6 + 4)]);
  assert.deepEqual([count(4, "r"), count(2, "rg")], [2 * 12, 2 * (6 + 5) + 2 * (6 + 6)]);
  assert.equal(layings(["rgbyr", ...EMPTY.slice(1)], 10, "rgby").length, 2 * 5);
  const laying = { vertical: false, column: 1, reversed: true, drop: 2 };
  assert.deepEqual(lay(["", "w", "", "", "", ""], "rgby", laying), ["", "wy", "b", "r", "", ""]);
});

test("neutral cubes join any colour, symbols pop in twos, and what hangs below floats up", () => {
  const board = ["rrwr", "gB", "G", "", "", ""];
  const sets = setsOf(board).map(({ kind, points }) => `${kind}${points}`);
  assert.deepEqual(sets, ["r2"]);
  assert.deepEqual(
    setsOf(["", "Rg", "B", "", "", ""]).map(({ kind, points }) => kind + points),
    ["*1"],
  );
  assert.deepEqual(
    setsOf(["wwww", "", "", "", "", ""]).map(({ kind, points }) => kind + points),
    ["w2"],
  );
  assert.deepEqual(
    setsOf(["wwwwg", "", "", "", "", ""]).map(({ kind }) => kind),
    ["g"],
  );
  assert.deepEqual(without(["rgb", "y", "", "", "", ""], [1, 8]), ["rb", "", "", "", "", ""]);
});

test("empty columns and rows give points at the end, and the best order of popping counts", () => {
  assert.equal(endPoints(EMPTY), 6 + 9);
  assert.equal(endPoints(["rg", "rgbyrg", "", "", "", ""]), 4);
  assert.equal(new Valuer(8, 1).valueOf(["rrrr", "gggg", "", "", "", ""]), 2 + 2 + 1 + 15);
});

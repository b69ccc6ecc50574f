/** Plays Balloon Pop: pops what is worth the most, and leaves a board on which more can pop. */

import { type Action, type Annotated, type Legal, run, type View } from "botarena";
import {
  type Place,
  Place_Orientation,
  type Player,
  type Pop,
  Pop_Kind,
  type View as Position,
} from "botarena/balloon-pop";
import { type Board, type CubeSet, lay, layings, ROWS, setsOf } from "./board.js";
import { Valuer } from "./value.js";

/** What it costs to give away a card that allows any orientation, and again if it may drop a cube. */
const FLEXIBLE = 0.3;
const KINDS: Record<string, Pop_Kind> = {
  r: Pop_Kind.RED,
  g: Pop_Kind.GREEN,
  b: Pop_Kind.BLUE,
  y: Pop_Kind.YELLOW,
  w: Pop_Kind.NEUTRAL,
  "*": Pop_Kind.SYMBOLS,
};

function act(view: View, legal: Legal): Annotated {
  if (view.position.case !== "balloonPop") throw new Error("the arena sent no view of Balloon Pop");
  const position = view.position.value;
  const valuer = new Valuer(position.round, position.bonus ? 1 : 0);
  const values = legal.map((action) => worthOf(action, position, view.seat, valuer));
  const value = Math.max(...values);
  const choice = legal[values.indexOf(value)] ?? view.defaultAction;
  return { choice, comment: `${value.toFixed(1)} points to be had` };
}

function worthOf({ typed }: Action, position: Position, seat: number, valuer: Valuer): number {
  const own = position.players[seat];
  if (!own || typed.case !== "balloonPop") throw new Error("the arena sent no typed action of Balloon Pop");
  const { action } = typed.value;
  switch (action.case) {
    case "playCard":
      return cardValue(action.value.value, position, seat, valuer);
    case "takeGroup":
      return groupValue(own.board, own.card, position.groups[action.value.number - 1] ?? "", valuer);
    case "place":
      return valuer.valueOf(placed(own, position, action.value));
    case "pop":
      return popValue(own.board, action.value, position, valuer);
    default:
      return 0; // a discard, which is never a choice
  }
}

/** The group that a card can hope for, less what the card would be good for later. */
function cardValue(card: number, position: Position, seat: number, valuer: Valuer): number {
  const own = position.players[seat]?.board ?? [];
  const values = position.groups.map((group) => groupValue(own, card, group, valuer)).sort((a, b) => b - a);
  const before = expectedBefore(card, position, seat);
  const rank = Math.floor(before);
  const better = values[rank] ?? 0;
  const worse = values[Math.min(rank + 1, values.length - 1)] ?? 0;
  const later = FLEXIBLE * ((card <= 6 ? 1 : 0) + (card <= 4 ? 1 : 0));
  return better + (worse - better) * (before - rank) - later;
}

/** How many seats will choose a group before ours, any card of a hand being equally likely. */
function expectedBefore(card: number, { players, first }: Position, seat: number): number {
  const turn = (other: number) => (other - first + players.length) % players.length;
  return players.reduce((sum, { card: played, hand }, other) => {
    if (other === seat) return sum;
    const cards = played ? [played] : hand;
    const ahead = cards.filter((theirs) => theirs > card || (theirs === card && turn(other) < turn(seat)));
    return sum + ahead.length / Math.max(1, cards.length);
  }, 0);
}

function groupValue(board: Board, card: number, group: string, valuer: Valuer): number {
  const boards = group ? layings(board, card, group).map((laying) => lay(board, group, laying)) : [];
  return Math.max(...(boards.length ? boards : [board]).map((laid) => valuer.valueOf(laid)));
}

function placed({ board, taken }: Player, { groups }: Position, place: Place): Board {
  const vertical = place.orientation === Place_Orientation.VERTICAL;
  return lay(board, groups[taken - 1] ?? "", { ...place, vertical });
}

function popValue(board: Board, pop: Pop, { popped }: Position, valuer: Valuer): number {
  const set = setsOf(board).find((each) => names(each, pop));
  return set ? valuer.afterPop(board, set, popped ? valuer.further : 0) : 0;
}

function names({ kind, cells }: CubeSet, pop: Pop): boolean {
  return KINDS[kind] === pop.kind && cells[0] === pop.column * ROWS + pop.row;
}

run({ games: ["balloon-pop"], typedActions: true, act });

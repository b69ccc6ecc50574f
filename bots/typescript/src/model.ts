import type {
  View as ArenaView,
  MatchStarted,
  ObservedEvent,
  PlayedForYou,
  TypedAction,
} from "./gen/botarena/v1/play_pb.js";

/** One game that this bot plays, from one seat: the arena's message, its options as an object. */
export type Match = MatchStarted & { readonly config: Readonly<Record<string, boolean | number>> };

/** Something that happened, as far as our seat may see it. */
export type Event = ObservedEvent;

/** One legal action. */
export interface Action {
  readonly id: number;
  readonly text: string;
  /** The game's own message, if the bot asked for `typedActions`. */
  readonly typed: TypedAction["action"];
}

/** The legal actions of a decision, at least two, by ascending id: what is forced is played without asking. */
export type Legal = readonly Action[];

/** The position as our seat may know it. */
export interface View {
  readonly match: Match;
  /** Ours, from 0. */
  readonly seat: number;
  /** Number of events of the game so far. */
  readonly seq: number;
  /** Counts our decisions in this game. */
  readonly decisionId: number;
  /** The game's own message: `position.case` is the game, as `"balloonPop"`; `"json"` for a game without one. */
  readonly position: ArenaView["view"];
  /** For people and language models, if the bot asked for `text`. */
  readonly text: string;
  /** What the arena plays where it has to play for us. */
  readonly defaultAction: number;
  /** What was played for our seat since our last decision, and why. */
  readonly playedForYou: readonly PlayedForYou[];
  /** All that our seat has seen, for a bot with `history: "full"`. */
  readonly history: readonly Event[];
  /** Like Math.random(), but a function of the match's botSeed and decisionId: a seeded match repeats exactly. */
  random(): number;
}

/** Time for one decision, in ms, as the arena measures it. */
export interface Clock {
  /** What is left for the game. */
  readonly bankMs: number;
  /** The answer is due within so much, else the game is lost on time. */
  readonly limitMs: number;
  /** What our previous decision was charged, after the allowance for the network. */
  readonly lastChargedMs: number;
  readonly lastNetworkMs: number;
  /** What is left of limitMs now, never negative. The way to the arena and back comes off it as well. */
  leftMs(): number;
}

/** An action, its id or its text. */
export type Choice = Action | number | string;

/** A choice, and what the bot thinks of it: shown to nobody before the game is over. */
export interface Annotated {
  choice: Choice;
  comment?: string;
  /** Expected result for our seat, from -1 (certainly last) to 1 (certainly first). */
  value?: number;
  nodes?: number;
  /** The line of play that the bot expects, as action texts. */
  pv?: string[];
}

/** What `act` returns. */
export type Answer = Choice | Annotated;

/** How a game ended for us. */
export interface Result {
  readonly match: Match;
  /**
   * `void`: the arena failed, nobody loses, the game is played again. `unknown`: it ended while this process was not
   * connected; the arena's pages have the result.
   */
  readonly outcome: "finished" | "void" | "unknown";
  /** By seat, from 1; joint places are shared. Empty unless finished. */
  readonly places: readonly number[];
  readonly scores: readonly number[];
  /** By seat: `normal`, `timeout`, `illegal`, `malformed`, `bot_crash`, `disconnect`. */
  readonly reasons: readonly string[];
  /** Ours; undefined unless finished. */
  readonly place?: number;
  readonly score?: number;
  readonly matchId: string;
  readonly setId: string;
  readonly receipts?: Receipts;
}

/**
 * What proves afterwards that the arena dealt fairly and has not rewritten the game: two signatures by `arenaKey`
 * (Ed25519), one made before the first event and one at the end. `arena verify` checks them.
 */
export interface Receipts {
  readonly arenaKey: Uint8Array;
  readonly commitment: Uint8Array;
  /** Signature over (match, commitment). */
  readonly opening: Uint8Array;
  /** Head of the record's hash chain. */
  readonly head: Uint8Array;
  /** What the commitment was made of; empty for a shared deal until the whole set is over. */
  readonly secret: Uint8Array;
  /** Signature over (match, head, secret). */
  readonly closing: Uint8Array;
}

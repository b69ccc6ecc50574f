import { Misconfigured } from "./errors.js";
import type { Answer, Clock, Event, Legal, Match, Result, View } from "./model.js";

/** Chooses one of `legal`. What it throws gives up this game; others go on. */
export type Act = (view: View, legal: Legal, clock: Clock) => Answer | Promise<Answer>;

/** Plays one game. Its methods are called one after the other; several games may go on at once. */
export interface Player {
  act: Act;
  /** Something happened, told before the next `act`; own actions are told as well. Needs a `history`. */
  onEvent?(event: Event): void | Promise<void>;
  /** The game is over. */
  onEnd?(result: Result): void | Promise<void>;
}

/** What a bot tells the arena about itself. */
export interface Profile {
  /** As registered; none: the bot that the token was made for. */
  name?: string;
  /** Your name for this version of the program; a new one starts its own rating. */
  version?: string;
  /** Names of the games it plays, such as `"pop"`; none: every game of the arena. */
  games?: string[];
  /** Numbers of players it plays with; none: all. */
  players?: number[];
  /** Send the position also as text. */
  text?: boolean;
  /** Send the position as JSON even where there is a typed message. */
  json?: boolean;
  /** Send the game's own message with each action. */
  typedActions?: boolean;
  /** `"delta"` tells `onEvent` things as they happen, `"full"` also fills `view.history`, `"none"` does neither. */
  history?: "none" | "delta" | "full";
}

/** A bot: a function `act`, or with `play` a player for each game, which may keep state. */
export type Bot = Profile & ({ act: Act; play?: never } | { act?: never; play: (match: Match) => Player });

/** The player of a game that begins, or that goes on in a new process (`match.resumed`). */
export function playerOf(bot: Bot, match: Match): Player {
  return bot.play ? bot.play(match) : { act: bot.act };
}

/** Throws Misconfigured if a bot cannot play. TypeScript says the same, but not everybody asks it. */
export function check(bot: Bot): void {
  if (typeof bot?.act !== "function" && typeof bot?.play !== "function") {
    throw new Misconfigured("a bot needs a function `act`, or `play` that makes a player for each game");
  }
  if (bot.players?.length && !bot.games?.length)
    throw new Misconfigured("players needs the games that it is for");
}

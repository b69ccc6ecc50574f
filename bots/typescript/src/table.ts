import { setImmediate as yieldToOthers } from "node:timers/promises";
import { type Bot, type Player, playerOf } from "./bot.js";
import type { Act, DecisionRequested } from "./gen/botarena/v1/play_pb.js";
import type { Logger } from "./log.js";
import type { Event, Match, Result } from "./model.js";
import { actFrom, clockFrom, failureAct, legalFrom, viewFrom } from "./wire.js";

/** What became of a decision; `error` is what the bot's own code threw, if it did. */
export interface Outcome {
  act: Act;
  error?: Error;
}

/** What the session tells the players, wherever they are. */
export interface Players {
  start(match: Match): void;
  observe(gameId: string, events: Event[]): void;
  /** `arrivedMs`: by nowMs(). */
  decide(request: DecisionRequested, arrivedMs: number): void;
  end(result: Result): void;
}

/** What the players tell the session. */
export interface Reports {
  decided(outcome: Outcome): void;
  /** The player has been told its result. */
  ended(gameId: string): void;
}

/** Runs the bot's own code, a queue for each game. */
export class Table implements Players {
  readonly #seats = new Map<string, Seat>();

  constructor(
    readonly bot: Bot,
    readonly reports: Reports,
    readonly log: Logger,
  ) {}

  start(match: Match): void {
    this.#seats.set(match.gameId, new Seat(match, this.bot, this.reports, this.log));
  }

  observe(gameId: string, events: Event[]): void {
    this.#seats.get(gameId)?.observe(events);
  }

  decide(request: DecisionRequested, arrivedMs: number): void {
    this.#seats.get(request.gameId)?.decide(request, arrivedMs);
  }

  end(result: Result): void {
    this.#seats.get(result.match.gameId)?.end(result);
    this.#seats.delete(result.match.gameId);
  }
}

/** One game's player. After the bot's own code has thrown, every decision is answered as failed. */
class Seat {
  #player?: Player;
  #error?: Error;
  #newest = -1;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    readonly match: Match,
    bot: Bot,
    readonly reports: Reports,
    readonly log: Logger,
  ) {
    this.#enqueue("play", () => {
      this.#player = playerOf(bot, match);
    });
  }

  observe(events: Event[]): void {
    this.#enqueue("onEvent", async () => {
      if (this.#error) return;
      for (const event of events) await this.#player?.onEvent?.(event);
    });
  }

  /** A request that is still waiting when a newer one comes is dropped. */
  decide(request: DecisionRequested, arrivedMs: number): void {
    this.#newest = request.decisionId;
    this.#enqueue("act", async () => {
      await yieldToOthers(); // what has come meanwhile may have overtaken this
      if (this.#newest !== request.decisionId) return;
      let act: Act | undefined;
      if (!this.#error) await this.#guard("act", async () => (act = await this.#act(request, arrivedMs)));
      this.reports.decided({ act: act ?? failureAct(request, this.#error), error: this.#error });
    });
  }

  end(result: Result): void {
    this.#newest = -1;
    this.#enqueue("onEnd", () => this.#player?.onEnd?.(result));
    this.#queue.then(() => this.reports.ended(this.match.gameId));
  }

  async #act(request: DecisionRequested, arrivedMs: number): Promise<Act> {
    if (!this.#player) throw new Error("there is no player");
    const legal = legalFrom(request);
    const answer = this.#player.act(viewFrom(this.match, request), legal, clockFrom(request, arrivedMs));
    return actFrom(request, legal, await answer);
  }

  #enqueue(where: string, job: () => unknown): void {
    this.#queue = this.#queue.then(() => this.#guard(where, job));
  }

  async #guard(where: string, job: () => unknown): Promise<void> {
    try {
      await job();
    } catch (thrown) {
      this.#error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const what = `${where} threw in a game of ${this.match.game}: this game is given up, others go on`;
      this.log.error(`${what}\n${this.#error.stack}`);
    }
  }
}

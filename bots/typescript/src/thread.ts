/**
 * The bot's own code in a thread of its own, so that an `act` that thinks hard delays neither pings nor the network.
 * The thread runs the same program again; there `run` serves the players instead of connecting.
 */

import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Bot } from "./bot.js";
import type { DecisionRequested } from "./gen/botarena/v1/play_pb.js";
import { type Level, stderrLogger } from "./log.js";
import type { Event, Match, Result } from "./model.js";
import { type Outcome, type Players, type Reports, Table } from "./table.js";

type Call<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => void ? [Name, ...Args] : never;
}[keyof Methods];

interface Data {
  botarena: { level: Level };
}

/** Players in another thread. */
export class PlayerThread implements Players {
  readonly #worker: Worker;

  /** `failed` is told if the thread ends, which it does only if the bot's own code breaks it. */
  constructor(program: string, level: Level, reports: Reports, failed: (error: Error) => void) {
    const data: Data = { botarena: { level } };
    this.#worker = new Worker(program, { workerData: data, argv: process.argv.slice(2) });
    this.#worker.on("message", (call: Call<Reports>) => dispatch(reports, call));
    this.#worker.on("error", failed);
    this.#worker.on("exit", (code) => failed(new Error(`the bot's thread ended with status ${code}`)));
  }

  start(match: Match): void {
    this.#post(["start", match]);
  }

  observe(gameId: string, events: Event[]): void {
    this.#post(["observe", gameId, events]);
  }

  decide(request: DecisionRequested, arrivedMs: number): void {
    this.#post(["decide", request, arrivedMs]);
  }

  end(result: Result): void {
    this.#post(["end", result]);
  }

  #post(call: Call<Players>): void {
    this.#worker.postMessage(call);
  }
}

/** In a thread that PlayerThread has started: serves it, and returns true. */
export function servesPlayers(bot: Bot): boolean {
  if (isMainThread || !parentPort || !(workerData as Data | undefined)?.botarena) return false;
  const port = parentPort;
  const post = (call: Call<Reports>) => port.postMessage(call);
  const reports: Reports = {
    decided: (outcome: Outcome) => post(["decided", outcome]),
    ended: (gameId: string) => post(["ended", gameId]),
  };
  const table = new Table(bot, reports, stderrLogger((workerData as Data).botarena.level));
  port.on("message", (call: Call<Players>) => dispatch(table, call));
  return true;
}

function dispatch<Methods extends object>(target: Methods, [name, ...args]: Call<Methods>): void {
  (target[name] as (...args: unknown[]) => void)(...args);
}

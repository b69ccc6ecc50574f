import { status as Status, type StatusObject } from "@grpc/grpc-js";
import { Target } from "./address.js";
import { type Bot, check } from "./bot.js";
import { nowMs } from "./clock.js";
import { type BotArenaError, Misconfigured, Refused, Unreachable, VersionSkew } from "./errors.js";
import type { PlayResponse } from "./gen/botarena/v1/play_pb.js";
import { type Logger, stderrLogger } from "./log.js";
import { Session } from "./session.js";
import { Stream } from "./stream.js";
import { type Outcome, type Players, type Reports, Table } from "./table.js";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A stream that lived so long was a good one: the next failure starts again from FIRST_DELAY_MS. */
const STEADY_MS = 5_000;
/** How long the arena may take to answer Hello. */
const WELCOME_MS = 10_000;
/** So many missing pings mean that the connection is dead, whatever TCP believes. */
const SILENT_PINGS = 3;
/** How long the last `onEnd` may take after the arena has closed the stream. */
const GOODBYE_MS = 30_000;
const TICK_MS = 1_000;

/** How a process connects. */
export interface Settings {
  /** `host:port` or `unix:path`. */
  address: string;
  /** The bot's; not needed for a socket file. */
  token?: string;
  /** Tells several processes of one bot apart. */
  instance?: string;
  /** How many games are played at once; 1. */
  credit?: number;
  /** What `act` throws ends the process, not only that game. */
  strict?: boolean;
  /** No TLS to another machine. */
  insecure?: boolean;
  /** The path of a private CA's certificate in PEM: TLS is spoken, to this machine too, and it alone is trusted. */
  ca?: string;
  /** Give up when no arena answers for so long. */
  patienceMs?: number;
  /** Takes what the SDK has to say; standard error from `info` on. */
  logger?: Logger;
  /** Aborting it drains the bot: nothing new is taken, running games are finished. */
  signal?: AbortSignal;
}

/**
 * Plays until `settings.signal` has drained the bot. Rejects with a BotArenaError where the process cannot go on, and
 * with whatever `act` threw if `strict`.
 *
 * The bot's code runs in this thread, so an `act` that computes for long delays the connection; `run` gives it its own.
 */
export async function play(bot: Bot, settings: Settings): Promise<void> {
  const log = settings.logger ?? stderrLogger("info");
  await new Client(bot, settings, (reports) => new Table(bot, reports, log)).run();
}

/** One stream to the arena after another, until there is nothing left to play. */
export class Client implements Reports {
  readonly #settings: Settings;
  readonly #target: Target;
  readonly #log: Logger;
  readonly #session: Session;
  #stream?: Stream;
  #heardMs = 0;
  #failure?: Error;
  /** Ends a pause. */
  #wake = () => {};

  /** Throws Misconfigured. `seat` makes the players, which report to this client. */
  constructor(bot: Bot, settings: Settings, seat: (reports: Client) => Players) {
    check(bot);
    this.#settings = settings;
    this.#target = Target.parse(settings.address, settings);
    if (this.#target.needsToken && !settings.token) {
      throw new Misconfigured(
        "no token: set ARENA_TOKEN or --token; `arena register` or `arena token create` makes one",
      );
    }
    const credit = settings.credit ?? 1;
    if (!Number.isInteger(credit) || credit < 1) {
      throw new Misconfigured(`credit is the number of games at once, at least 1, not ${settings.credit}`);
    }
    this.#log = settings.logger ?? stderrLogger("info");
    this.#session = new Session(bot, seat(this), this.#log);
  }

  async run(): Promise<void> {
    const drain = () => this.#happens(() => this.#drain());
    const signal = this.#settings.signal;
    if (signal?.aborted) return;
    signal?.addEventListener("abort", drain);
    try {
      await this.#streams();
      await this.#goodbye();
    } finally {
      signal?.removeEventListener("abort", drain);
    }
  }

  decided(outcome: Outcome): void {
    this.#happens(() => {
      if (outcome.error && this.#settings.strict) throw outcome.error;
      this.#session.decided(outcome);
    });
  }

  ended(gameId: string): void {
    this.#session.ending.delete(gameId);
    this.#wake();
  }

  /** The process cannot go on. */
  fail(error: Error): void {
    this.#happens(() => {
      throw error;
    });
  }

  /** Everything that happens comes through here, and stops what runs if it is the end. */
  #happens(code: () => void): void {
    try {
      code();
    } catch (error) {
      this.#failure ??= error as Error;
    }
    if (this.#failure || this.#session.over) {
      this.#stream?.close();
      this.#wake();
    }
  }

  #drain(): void {
    this.#log.info(`finishing what runs: ${this.#session.games.size} games`);
    this.#session.drain();
  }

  async #streams(): Promise<void> {
    let failures = 0;
    let silentSince = nowMs();
    while (!this.#session.over) {
      const started = nowMs();
      const { welcomed, problem } = await this.#playStream();
      if (this.#failure) throw this.#failure;
      if (this.#session.over) return;
      if (welcomed) {
        silentSince = nowMs();
        if (silentSince - started >= STEADY_MS) failures = 0;
      }
      this.#complain(problem, failures, silentSince);
      const spread = this.#session.reconnectWithinMs;
      await this.#pause(spread === undefined ? retryDelayMs(failures) : Math.random() * spread);
      if (this.#failure) throw this.#failure;
      failures += 1;
    }
  }

  /** Plays over one stream until it ends. Throws where coming back is of no use. */
  async #playStream(): Promise<{ welcomed: boolean; problem: string }> {
    const session = this.#session;
    const { token = "", instance = "", credit = 1 } = this.#settings;
    let problem = "";
    this.#heardMs = nowMs();
    const stream = new Stream(this.#target, token, (frame) => this.#onFrame(stream, frame));
    this.#stream = stream;
    session.streamOpened((event) => stream.send(event), instance, credit);
    const watch = setInterval(() => {
      this.#happens(() => session.settle(nowMs()));
      if (nowMs() - this.#heardMs <= this.#silenceMs()) return;
      problem = "the arena went silent";
      stream.close();
    }, TICK_MS);
    const end = await stream.ended;
    clearInterval(watch);
    stream.close();
    this.#stream = undefined;
    const welcomed = session.welcome !== undefined;
    session.streamClosed();
    return { welcomed, problem: problem || (this.#failure ? "" : judge(end, welcomed)) };
  }

  #onFrame(stream: Stream, frame: PlayResponse): void {
    this.#heardMs = nowMs();
    this.#happens(() => {
      for (const event of frame.events) this.#session.handle(event);
      stream.limit(this.#session.welcome?.limits?.maxFrameBytes ?? 0);
    });
  }

  /** How long nothing may be heard. */
  #silenceMs(): number {
    const welcome = this.#session.welcome;
    if (!welcome) return WELCOME_MS;
    const pingMs = welcome.limits?.pingIntervalMs;
    return pingMs ? Math.max(WELCOME_MS, SILENT_PINGS * pingMs) : Number.POSITIVE_INFINITY;
  }

  /** Says once what is wrong. Throws Unreachable when patience is over. */
  #complain(problem: string, failures: number, silentSince: number): void {
    const { text } = this.#target;
    const patienceMs = this.#settings.patienceMs ?? this.#target.patienceMs(this.#session.id !== "");
    if (nowMs() - silentSince > patienceMs) {
      throw new Unreachable(
        `no arena answers at ${text} (${problem}): is it up, and is ARENA_ADDRESS right?`,
      );
    }
    const expected = failures > 0 || this.#session.reconnectWithinMs !== undefined;
    this.#log[expected ? "debug" : "warn"](`${text}: ${problem}; trying again`);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits until every player has been told its result. */
  async #goodbye(): Promise<void> {
    const deadline = nowMs() + GOODBYE_MS;
    while (this.#session.ending.size > 0 && nowMs() < deadline && !this.#failure) {
      await this.#pause(deadline - nowMs());
    }
    if (this.#failure) throw this.#failure;
  }
}

/**
 * A random part of 0.5 s, doubling with each failure in a row up to 30 s, so that a herd of bots comes back spread out.
 */
export function retryDelayMs(failures: number): number {
  return Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10));
}

/** Statuses with which trying again would change nothing, and what the author can do. */
const REFUSALS = new Map<Status, [new (message: string) => BotArenaError, string]>([
  [
    Status.UNAUTHENTICATED,
    [Refused, "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed"],
  ],
  [Status.PERMISSION_DENIED, [Refused, "the token must be of the account that owns the bot"]],
  [Status.FAILED_PRECONDITION, [VersionSkew, "update the SDK: npm install botarena@latest"]],
  [Status.NOT_FOUND, [Misconfigured, "check the names of the bot and its games; `arena games` lists them"]],
  [Status.INVALID_ARGUMENT, [Misconfigured, "check the bot's name, version and games"]],
  [Status.UNIMPLEMENTED, [Misconfigured, "what answers at this address is no arena"]],
]);

/**
 * What to call this end of a stream. Throws the error that stops the process, if it should: a session that was good may
 * be interrupted by anything on the way, and stops for its token alone.
 */
function judge({ code, details }: StatusObject, welcomed: boolean): string {
  const words = details.split("\n", 1)[0] || Status[code];
  const [Refusal, advice] = REFUSALS.get(code) ?? [];
  if (Refusal && (!welcomed || Refusal === Refused)) {
    throw new Refusal(`the arena refused the bot: ${words.replace(/\.+$/, "")}; ${advice}`);
  }
  return code === Status.OK ? "closed" : words;
}

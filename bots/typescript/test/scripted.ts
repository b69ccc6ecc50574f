/** The arena's side of the tests: a PlayService that hands each stream that a bot opens to the test. */

import assert from "node:assert/strict";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type Bot, play, type Settings } from "botarena";
import {
  type ArenaEventSchema,
  type BotEvent,
  Draining_Reason,
  MatchEnded_End,
  type PlayRequest,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
} from "botarena/protocol";

export type Said = MessageInitShape<typeof ArenaEventSchema>["event"];
type Heard<Case> = Extract<BotEvent["event"], { case: Case }>["value"];

const PATIENCE_MS = 10_000;

const DEFINITION = {
  play: {
    path: "/botarena.v1.PlayService/Play",
    requestStream: true,
    responseStream: true,
    requestSerialize: (frame: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, frame)),
    requestDeserialize: (bytes: Buffer) => fromBinary(PlayRequestSchema, bytes),
    responseSerialize: (frame: PlayResponse) => Buffer.from(toBinary(PlayResponseSchema, frame)),
    responseDeserialize: (bytes: Buffer) => fromBinary(PlayResponseSchema, bytes),
  },
};

/** A queue that can be waited for. */
class Inbox<Item> {
  readonly #items: Item[] = [];
  #arrived = () => {};

  put(item: Item): void {
    this.#items.push(item);
    this.#arrived();
  }

  async take(what: string): Promise<Item> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${what} came`)), deadline - Date.now());
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** One stream as the arena sees it. */
export class ScriptedStream {
  readonly inbox = new Inbox<BotEvent>();

  constructor(readonly call: ServerDuplexStream<PlayRequest, PlayResponse>) {
    call.on("data", (frame: PlayRequest) => {
      for (const event of frame.events) this.inbox.put(event);
    });
    call.on("error", () => {});
  }

  get authorization(): unknown {
    return this.call.metadata.get("authorization")[0];
  }

  /** The next event, which must be of this kind. */
  async expect<Case extends BotEvent["event"]["case"]>(kind: Case): Promise<Heard<Case>> {
    const { event } = await this.inbox.take(String(kind));
    assert.equal(event.case, kind);
    return event.value as Heard<Case>;
  }

  /** The next event is an act with this choice: an id, or a text. */
  async expectAct(gameId: string, decisionId: number, choice: number | string): Promise<void> {
    const act = await this.expect("act");
    assert.deepEqual([act.gameId, act.decisionId, act.choice.value], [gameId, decisionId, choice]);
  }

  /** The bot has said nothing more: the answer to a ping comes first. */
  async quiet(): Promise<void> {
    const nonce = 2n ** 64n - 1n;
    this.say({ case: "ping", value: { nonce } });
    assert.equal((await this.expect("pong")).nonce, nonce);
  }

  /** Sends events as one frame. */
  say(...events: Said[]): void {
    this.call.write(create(PlayResponseSchema, { events: events.map((event) => ({ event })) }));
  }

  async welcome(running: string[] = []): Promise<Heard<"hello">> {
    const hello = await this.expect("hello");
    this.say(welcome("s1", running));
    return hello;
  }

  /** Says goodbye to a drained bot. */
  done(): void {
    this.say(draining(Draining_Reason.DONE));
    this.call.end();
  }

  /** Ends the stream with an error. */
  cut(code = status.UNAVAILABLE, details = "cut"): void {
    this.call.emit("error", { code, details });
  }
}

export class ScriptedArena {
  readonly #streams = new Inbox<ScriptedStream>();
  readonly #server = new Server();
  address = "";

  /** Serves until `after` calls what it is given. */
  static async open(test: { after(done: () => void): void }): Promise<ScriptedArena> {
    const arena = new ScriptedArena();
    const server = arena.#server;
    server.addService(DEFINITION, {
      play: (call: ServerDuplexStream<PlayRequest, PlayResponse>) =>
        arena.#streams.put(new ScriptedStream(call)),
    });
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, port: number) => (error ? reject(error) : resolve(port));
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
    });
    arena.address = `127.0.0.1:${port}`;
    test.after(() => server.forceShutdown());
    return arena;
  }

  stream(): Promise<ScriptedStream> {
    return this.#streams.take("stream");
  }

  /** Starts a bot; aborting `drain` is a signal. */
  playing(bot: Bot, settings: Partial<Settings> = {}): { playing: Promise<void>; drain: AbortController } {
    const drain = new AbortController();
    const quiet = () => {};
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const all = { address: this.address, token: "secret", logger, signal: drain.signal, ...settings };
    const playing = play(bot, all);
    playing.catch(() => {}); // the test looks at it later
    return { playing, drain };
  }
}

export function welcome(session: string, runningGames: string[] = []): Said {
  const limits = { maxFrameBytes: 65536, maxCredit: 100, pingIntervalMs: 5000 };
  return { case: "welcome", value: { session, limits, runningGames, arenaKey: Buffer.from("key") } };
}

export function offered(offerId: string): Said {
  return { case: "setOffered", value: { offerId } };
}

export function started(gameId: string): Said {
  const seats = [{ bot: "them" }, { bot: "us" }];
  const receipt = Buffer.from("opening");
  return {
    case: "matchStarted",
    value: {
      gameId,
      game: "echo",
      players: 2,
      seat: 1,
      configJson: '{"long": true}',
      seats,
      receipt,
      botSeed: 2n ** 64n - 1n,
    },
  };
}

/** Asks for a decision between a (10) and b (11). */
export function asked(gameId: string, decisionId: number): Said {
  return {
    case: "decisionRequested",
    value: {
      gameId,
      decisionId,
      view: { seat: 1, seq: decisionId, text: "board", view: { case: "json", value: '{"n": 7}' } },
      legal: [
        { id: 10, text: "a" },
        { id: 11, text: "b" },
      ],
      clock: { bankMs: 10_000, limitMs: 3000 },
      defaultAction: 11,
    },
  };
}

export function ended(gameId: string): Said {
  const receipt = Buffer.from("closing");
  const result = { places: [2, 1], scores: [-3, 9], reasons: [2, 77], end: MatchEnded_End.FINISHED };
  return { case: "matchEnded", value: { gameId, ...result, matchId: "m", receipt } };
}

export function draining(reason: Draining_Reason): Said {
  return { case: "draining", value: { reason } };
}

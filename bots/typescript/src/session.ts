import { randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Profile } from "./bot.js";
import { nowMs } from "./clock.js";
import { Refused, Replaced } from "./errors.js";
import {
  type Act,
  type ActResult,
  ActResult_Code,
  type ArenaEvent,
  type BotEvent,
  BotEventSchema,
  type DecisionRequested,
  type Draining,
  Draining_Reason,
  type EventsObserved,
  type MatchEnded,
  type MatchStarted,
  type Notice,
  Notice_Kind,
  type Welcome,
} from "./gen/botarena/v1/play_pb.js";
import type { Logger } from "./log.js";
import type { Match, Result } from "./model.js";
import type { Outcome, Players } from "./table.js";
import { enumName, helloFrom, matchFrom, resultFrom, unknownResult } from "./wire.js";

const NONCE_BYTES = 16;
/** So long the arena looks for a new home for games whose gateway has crashed; then they are void. */
export const DOUBT_MS = 60_000;

/** A running game. */
interface Game {
  readonly match: Match;
  /** The decision that the arena waits for on this stream, if any. */
  asked?: number;
  /** The decision that the player thinks about, if any. */
  thinking?: number;
  /** The player's latest answer, kept because a stream may break before the arena has it. */
  answer?: Act;
  /** The number of events that the player was told: after a reconnect the arena may tell some again. */
  heard: number;
  /** When a gateway took over that does not know the game, by nowMs(). */
  doubtedSince?: number;
}

/** What the process knows of its games, across streams: a state machine without I/O. */
export class Session {
  id = "";
  /** The open stream's, once the arena has answered Hello. */
  welcome?: Welcome;
  draining = false;
  /** How far Draining spreads the next connect. */
  reconnectWithinMs?: number;
  /** Games whose players have not been told everything. */
  readonly ending = new Set<string>();
  readonly games = new Map<string, Game>();
  #done = false;
  #send: (event: BotEvent) => void = () => {};

  constructor(
    readonly profile: Profile,
    readonly players: Players,
    readonly log: Logger,
  ) {}

  /** Nothing is left to play. */
  get over(): boolean {
    return this.#done || (this.draining && !this.welcome && this.games.size === 0);
  }

  /** Says Hello. What the old stream was waiting for is forgotten: the arena asks again. */
  streamOpened(send: (event: BotEvent) => void, instance: string, credit: number): void {
    this.#send = send;
    this.reconnectWithinMs = undefined;
    for (const game of this.games.values()) game.asked = undefined;
    this.#say({ case: "hello", value: helloFrom(this.profile, instance, credit, this.id) });
  }

  /** What is said from here on goes nowhere, and is repeated on the next stream if need be. */
  streamClosed(): void {
    this.#send = () => {};
    this.welcome = undefined;
  }

  /** Asks the arena for no new games; it closes the stream when none runs any more. */
  drain(): void {
    this.draining = true;
    if (this.welcome) this.#say({ case: "setCredit", value: { drain: true } });
  }

  /** Takes in one event; kinds newer than this SDK are ignored. Throws where the arena says not to come back. */
  handle({ event }: ArenaEvent): void {
    switch (event.case) {
      case "welcome":
        this.#onWelcome(event.value);
        break;
      case "setOffered":
        this.#onOffer(event.value.offerId);
        break;
      case "matchStarted":
        this.#onMatchStarted(event.value);
        break;
      case "eventsObserved":
        this.#onEvents(event.value);
        break;
      case "decisionRequested":
        this.#onDecision(event.value);
        break;
      case "actResult":
        this.#onActResult(event.value);
        break;
      case "matchEnded":
        this.#onMatchEnded(event.value);
        break;
      case "notice":
        this.#onNotice(event.value);
        break;
      case "draining":
        this.#onDraining(event.value);
        break;
      case "ping":
        this.#say({ case: "pong", value: { nonce: event.value.nonce } });
        break;
    }
  }

  /** Takes in what a player decided, and sends it if this stream waits for it. */
  decided({ act }: Outcome): void {
    const game = this.games.get(act.gameId);
    if (!game) return;
    game.answer = act;
    if (game.thinking === act.decisionId) game.thinking = undefined;
    this.#answer(game);
  }

  /** Ends games that were in doubt for too long; to be called about once a second. */
  settle(now: number): void {
    for (const game of this.games.values()) {
      if (game.doubtedSince !== undefined && now - game.doubtedSince > DOUBT_MS) this.#drop(game);
    }
  }

  #say(event: MessageInitShape<typeof BotEventSchema>["event"]): void {
    this.#send(create(BotEventSchema, { event }));
  }

  #answer(game: Game): void {
    if (!game.answer || game.answer.decisionId !== game.asked) return;
    game.asked = undefined;
    this.#say({ case: "act", value: game.answer });
  }

  /** Ends a game whose end this process has missed. */
  #drop(game: Game): void {
    this.log.warn(`a game of ${game.match.game} ended while this process was not connected`);
    this.#end(unknownResult(game.match));
  }

  #end(result: Result): void {
    this.games.delete(result.match.gameId);
    this.ending.add(result.match.gameId);
    this.players.end(result);
  }

  /**
   * What the arena says is running, is; the rest is over. Only where it made a new session, because the gateway that
   * had the old one is gone, its workers may still bring our games to it.
   */
  #onWelcome(message: Welcome): void {
    const sameSession = message.session === this.id;
    this.id = message.session;
    this.welcome = message;
    this.log.info(`playing as ${message.bot} version ${message.version}`);
    const running = new Set(message.runningGames);
    for (const game of this.games.values()) {
      if (running.has(game.match.gameId)) continue;
      if (sameSession) this.#drop(game);
      else game.doubtedSince = nowMs();
    }
    if (this.draining) this.drain();
  }

  #onOffer(offerId: string): void {
    if (!this.draining) this.#say({ case: "ready", value: { offerId, nonce: randomBytes(NONCE_BYTES) } });
  }

  #onMatchStarted(message: MatchStarted): void {
    const known = this.games.get(message.gameId);
    if (known) {
      known.doubtedSince = undefined; // it goes on after a reconnect; the player has never noticed
      return;
    }
    const match = matchFrom(message);
    this.log.info(`${match.resumed ? "goes on" : "started"}: ${title(match)}`);
    this.games.set(match.gameId, { match, heard: 0 });
    this.players.start(match);
  }

  #onEvents({ gameId, events }: EventsObserved): void {
    const game = this.games.get(gameId);
    if (!game) return;
    const fresh = events.filter((event) => event.seq >= game.heard);
    const last = fresh.at(-1);
    if (!last) return;
    game.heard = last.seq + 1;
    this.players.observe(gameId, fresh);
  }

  #onDecision(request: DecisionRequested): void {
    const game = this.games.get(request.gameId);
    if (!game) {
      this.log.warn(`asked for a decision in a game that never started here: ${request.gameId}`);
      return;
    }
    game.asked = request.decisionId;
    if (game.answer?.decisionId === request.decisionId) {
      this.#answer(game);
    } else if (game.thinking !== request.decisionId) {
      game.thinking = request.decisionId;
      this.players.decide(request, nowMs());
    }
  }

  #onActResult({ code, decisionId, detail }: ActResult): void {
    const harmless = code === ActResult_Code.DUPLICATE || code === ActResult_Code.STALE;
    const words = `the arena says ${enumName(ActResult_Code, code)} to decision ${decisionId}: ${detail}`;
    this.log[harmless ? "debug" : "error"](words);
  }

  #onMatchEnded(message: MatchEnded): void {
    const game = this.games.get(message.gameId);
    if (!game) return;
    const result = resultFrom(game.match, message, this.welcome?.arenaKey ?? new Uint8Array());
    this.log.info(`ended: ${title(game.match)}: ${verdict(result)}`);
    this.#end(result);
  }

  #onNotice({ kind, text }: Notice): void {
    const serious = kind === Notice_Kind.FLOOD || kind === Notice_Kind.SEAT_FAILED;
    this.log[serious ? "warn" : "info"](`${enumName(Notice_Kind, kind)}: ${text}`);
  }

  #onDraining({ reason, reconnectWithinMs }: Draining): void {
    switch (reason) {
      case Draining_Reason.REPLACED:
        throw new Replaced(
          "a newer process of this bot took over, so this one stops; to run several at once give each its own --instance",
        );
      case Draining_Reason.REVOKED:
        throw new Refused("the token was revoked: make a new one with `arena token create`");
      case Draining_Reason.DONE:
        this.#done = true;
        return;
      default:
        this.log.info("the arena's server restarts; reconnecting");
        this.reconnectWithinMs = reconnectWithinMs;
    }
  }
}

function title({ game, seat, seats, players }: Match): string {
  const names = seats.map((player) => player.bot || "?").join(", ");
  return `${game}, seat ${seat} of ${players}${names && ` (${names})`}`;
}

function verdict({ outcome, match, place, score, reasons }: Result): string {
  if (outcome !== "finished") return "void, it is going to be played again";
  const reason = reasons[match.seat] ?? "normal";
  return `place ${place}, ${score} points${reason === "normal" ? "" : ` (${reason})`}`;
}

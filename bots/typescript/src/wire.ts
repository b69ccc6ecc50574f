/** Between protocol messages and what bots are told: pure functions, one a message. */

import { create } from "@bufbuild/protobuf";
import type { Profile } from "./bot.js";
import { nowMs } from "./clock.js";
import {
  type Act,
  ActSchema,
  type Annotation,
  AnnotationSchema,
  type DecisionRequested,
  type Hello,
  HelloSchema,
  type MatchEnded,
  MatchEnded_End,
  type MatchStarted,
  SeatReason,
  Wants_History,
} from "./gen/botarena/v1/play_pb.js";
import type { Annotated, Answer, Choice, Clock, Legal, Match, Result, View } from "./model.js";
import { VERSION } from "./version.js";

/** The version of botarena.v1 that this SDK was written for, as major * 1000 + minor. */
export const PROTOCOL = 1000;

const MAX_TEXT = 200;

const HISTORY = { none: Wants_History.NONE, delta: Wants_History.DELTA, full: Wants_History.FULL };

/** `SeatReason.BOT_CRASH` as `bot_crash`; enums grow, so a number newer than this SDK becomes `unknown_7`. */
export function enumName(names: Record<number, string>, number: number): string {
  return names[number]?.toLowerCase() ?? `unknown_${number}`;
}

export function helloFrom(profile: Profile, instance: string, credit: number, resumeSession: string): Hello {
  return create(HelloSchema, {
    bot: profile.name ?? "",
    version: profile.version ?? "",
    instance,
    sdk: `botarena-typescript/${VERSION}`,
    games: (profile.games ?? []).map((game) => ({ game, players: profile.players ?? [] })),
    credit,
    wants: {
      text: profile.text ?? false,
      json: profile.json ?? false,
      typedActions: profile.typedActions ?? false,
      history: HISTORY[profile.history ?? "none"],
    },
    protocol: PROTOCOL,
    resumeSession,
  });
}

export function matchFrom(message: MatchStarted): Match {
  return { ...message, config: JSON.parse(message.configJson || "{}") };
}

export function viewFrom(match: Match, request: DecisionRequested): View {
  return {
    match,
    seat: match.seat,
    seq: request.view?.seq ?? 0,
    decisionId: request.decisionId,
    position: request.view?.view ?? { case: undefined },
    text: request.view?.text ?? "",
    defaultAction: request.defaultAction,
    playedForYou: request.playedForYou,
    history: request.history,
    random: randomFrom(match.botSeed, request.decisionId),
  };
}

export function legalFrom(request: DecisionRequested): Legal {
  return request.legal.map(({ id, text, typed }) => ({
    id,
    text,
    typed: typed?.action ?? { case: undefined },
  }));
}

/** `arrivedMs`: by nowMs(), when the request was read. */
export function clockFrom(request: DecisionRequested, arrivedMs: number): Clock {
  const clock = request.clock;
  const limitMs = clock?.limitMs ?? 0;
  return {
    bankMs: clock?.bankMs ?? 0,
    limitMs,
    lastChargedMs: clock?.lastChargedMs ?? 0,
    lastNetworkMs: clock?.lastNetworkMs ?? 0,
    leftMs: () => Math.max(0, limitMs - (nowMs() - arrivedMs)),
  };
}

export function resultFrom(match: Match, message: MatchEnded, arenaKey: Uint8Array): Result {
  const finished = message.end === MatchEnded_End.FINISHED;
  return {
    match,
    outcome: finished ? "finished" : "void",
    places: message.places,
    scores: message.scores,
    reasons: message.reasons.map((reason) => enumName(SeatReason, reason)),
    place: finished ? message.places[match.seat] : undefined,
    score: finished ? message.scores[match.seat] : undefined,
    matchId: message.matchId,
    setId: message.setId,
    receipts: {
      arenaKey,
      commitment: match.commitment,
      opening: match.receipt,
      head: message.recordHead,
      secret: message.secret,
      closing: message.receipt,
    },
  };
}

/** A game whose end this process has missed. */
export function unknownResult(match: Match): Result {
  return { match, outcome: "unknown", places: [], scores: [], reasons: [], matchId: "", setId: "" };
}

/** The message for what `act` returned. Throws an Error that says what would be right. */
export function actFrom(request: DecisionRequested, legal: Legal, answer: Answer): Act {
  const note: Annotated = isAnnotated(answer) ? answer : { choice: answer };
  return create(ActSchema, {
    gameId: request.gameId,
    decisionId: request.decisionId,
    choice: { case: "actionId", value: legalId(legal, note.choice) },
    annotation: isAnnotated(answer) ? annotationFrom(answer) : undefined,
  });
}

function annotationFrom({ comment = "", value = 0, nodes = 0, pv = [] }: Annotated): Annotation {
  const evalMilli = Math.round(Math.min(1, Math.max(-1, value)) * 1000);
  return create(AnnotationSchema, { comment, evalMilli, nodes: BigInt(Math.round(nodes)), pv });
}

/** An answer that no game has, so that the arena ends a failed seat at once instead of waiting for its clock. */
export function failureAct(request: DecisionRequested, error: unknown): Act {
  const text = `failed: ${error instanceof Error ? error.name : typeof error}`.slice(0, MAX_TEXT);
  const { gameId, decisionId } = request;
  return create(ActSchema, { gameId, decisionId, choice: { case: "text", value: text } });
}

function isAnnotated(answer: Answer): answer is Annotated {
  return typeof answer === "object" && answer !== null && "choice" in answer;
}

function legalId(legal: Legal, choice: Choice): number {
  if (typeof choice === "string") {
    const found = legal.find((action) => action.text === choice.trim());
    if (!found)
      throw new RangeError(`${JSON.stringify(choice)} is not a legal action; legal are: ${some(legal)}`);
    return found.id;
  }
  const id = typeof choice === "object" && choice !== null ? choice.id : choice;
  if (typeof id !== "number") {
    throw new TypeError(`act must return one of legal, its id or its text, not ${choice}`);
  }
  if (!legal.some((action) => action.id === id)) {
    throw new RangeError(
      `${id} is not a legal id; legal are: ${legal.map((action) => action.id).slice(0, 12)}`,
    );
  }
  return id;
}

function some(legal: Legal, most = 12): string {
  const shown = legal.slice(0, most).map((action) => action.text);
  return shown.join(", ") + (legal.length > most ? `, ... (${legal.length} in all)` : "");
}

/** mulberry32, seeded by the match and the decision. */
function randomFrom(botSeed: bigint, decisionId: number): () => number {
  let state =
    Number(botSeed & 0xffffffffn) ^
    Math.imul(Number((botSeed >> 32n) & 0xffffffffn), 0x85ebca6b) ^
    Math.imul(decisionId + 1, 0x9e3779b9);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

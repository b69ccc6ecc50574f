import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import {
  ActSchema,
  ArenaEventSchema,
  type BotEvent,
  BotEventSchema,
  Draining_Reason,
} from "botarena/protocol";
import { nowMs } from "../src/clock.js";
import { DOUBT_MS, Session } from "../src/session.js";
import { nextFrame } from "../src/stream.js";
import type { Players } from "../src/table.js";
import { asked, draining, ended, offered, type Said, started, welcome } from "./scripted.js";

/** A session on an open stream, what it says, and what it asks its players for. */
function seat() {
  const said: BotEvent["event"][] = [];
  const decisions: number[] = [];
  const over: string[] = [];
  const players: Players = {
    start: () => {},
    observe: () => {},
    decide: (request) => decisions.push(request.decisionId),
    end: (result) => over.push(`${result.match.gameId} ${result.outcome}`),
  };
  const quiet = () => {};
  const session = new Session({}, players, { debug: quiet, info: quiet, warn: quiet, error: quiet });
  session.streamOpened(({ event }) => said.push(event), "", 1);
  said.shift(); // Hello
  const tell = (...events: Said[]) => {
    for (const event of events) session.handle(create(ArenaEventSchema, { event }));
  };
  const decide = (gameId: string, decisionId: number) => {
    const choice = { case: "actionId", value: 10 } as const;
    session.decided({ act: create(ActSchema, { gameId, decisionId, choice }) });
  };
  return { session, said, decisions, over, tell, decide };
}

test("each Ready has 16 bytes of its own", () => {
  const { said, tell } = seat();
  tell(welcome("s1"), offered("o1"), offered("o2"));
  const nonces = said.map((event) =>
    event.case === "ready" ? Buffer.from(event.value.nonce).toString("hex") : "",
  );
  assert.deepEqual(
    nonces.map((nonce) => nonce.length),
    [32, 32],
  );
  assert.notEqual(nonces[0], nonces[1]);
});

test("a request that comes twice is thought about once and answered twice; an overtaken answer is not sent", () => {
  const { said, decisions, tell, decide } = seat();
  tell(welcome("s1"), started("g1"), asked("g1", 0), asked("g1", 0));
  decide("g1", 0);
  tell(asked("g1", 0), asked("g1", 1));
  decide("g1", 0);
  decide("g1", 1);
  assert.deepEqual(decisions, [0, 1]);
  assert.deepEqual(
    said.map((event) => (event.case === "act" ? event.value.decisionId : event.case)),
    [0, 0, 1],
  );
});

test("what Welcome does not name is over if the session is the same; a new one leaves games in doubt for a minute", () => {
  const { session, over, tell } = seat();
  tell(welcome("s1"), started("g1"), started("g2"), welcome("s1", ["g2"]));
  assert.deepEqual(over, ["g1 unknown"]);
  tell(started("g3"), welcome("s2"), started("g3"));
  session.settle(nowMs() + DOUBT_MS / 2);
  assert.deepEqual([...session.games.keys()], ["g2", "g3"]);
  session.settle(nowMs() + 2 * DOUBT_MS);
  assert.deepEqual([...session.games.keys()], ["g3"]);
  tell(ended("g3"));
  assert.deepEqual(over, ["g1 unknown", "g2 unknown", "g3 finished"]);
});

test("kinds, games and reasons that the SDK does not know change nothing", () => {
  const { session, said, decisions, tell } = seat();
  tell(welcome("s1"));
  session.handle(fromBinary(ArenaEventSchema, Uint8Array.of(0xfa, 0x06, 0x03, 0x0a, 0x01, 0x78))); // field 111
  tell(asked("never", 0), ended("never"), draining(77 as Draining_Reason));
  assert.deepEqual([said, decisions, session.over], [[], [], false]);
});

test("REPLACED and REVOKED stop the process with their exit codes, SERVER does not", () => {
  const { tell } = seat();
  assert.throws(() => tell(draining(Draining_Reason.REPLACED)), { exitCode: 5 });
  assert.throws(() => tell(draining(Draining_Reason.REVOKED)), { exitCode: 3 });
  tell(draining(Draining_Reason.SERVER));
});

test("frames are full but never too long; an annotation that fits in none is left out", () => {
  const outbox = [10, 400, 400, 400, 5000, 10, 10].map((length, decisionId) => {
    const value = { decisionId, annotation: { comment: "x".repeat(length) } };
    return create(BotEventSchema, { event: { case: "act", value } });
  });
  const frames: [number, number][][] = [];
  while (outbox.length > 0) {
    const { events } = nextFrame(outbox, 1000);
    frames.push(
      events.map(({ event }) => {
        assert.ok(event.case === "act");
        return [event.value.decisionId, event.value.annotation?.comment.length ?? 0];
      }),
    );
  }
  assert.deepEqual(frames, [
    [
      [0, 10],
      [1, 400],
      [2, 400],
    ],
    [
      [3, 400],
      [4, 0],
      [5, 10],
      [6, 10],
    ],
  ]);
});

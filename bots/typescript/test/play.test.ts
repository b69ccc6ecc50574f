import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { type Act, type Answer, type Bot, BotArenaError, type Player, type Result } from "botarena";
import { Wants_History } from "botarena/protocol";
import { retryDelayMs } from "../src/client.js";
import { asked, ended, offered, ScriptedArena, started } from "./scripted.js";

const first: Act = (_view, legal) => legal[0] ?? 0;

/** What a rejected promise was rejected with. */
function problemOf(playing: Promise<void>): Promise<BotArenaError> {
  return playing.then(
    () => assert.fail("the bot ended well"),
    (error) => error,
  );
}

test("Hello says what the bot says, a choice and its note arrive, DONE ends it", async (t) => {
  const arena = await ScriptedArena.open(t);
  const bot: Bot = {
    name: "eve",
    version: "7",
    games: ["echo", "pop"],
    players: [2, 3],
    text: true,
    history: "full",
    act: (view, _legal, clock) => {
      assert.deepEqual(
        [view.text, view.match.config, view.position.value],
        ["board", { long: true }, '{"n": 7}'],
      );
      assert.ok(clock.leftMs() <= clock.limitMs && clock.leftMs() > 0);
      const draws = Array.from({ length: 50 }, () => view.random());
      assert.ok(draws.every((draw) => draw >= 0 && draw < 1) && new Set(draws).size === 50);
      return { choice: "b", comment: "sure", value: 0.25, nodes: 3, pv: ["b"] };
    },
  };
  const { playing } = arena.playing(bot, { credit: 4, instance: "two" });
  const stream = await arena.stream();
  assert.equal(stream.authorization, "Bearer secret");
  const hello = await stream.welcome();
  assert.deepEqual([hello.bot, hello.version, hello.instance, hello.credit], ["eve", "7", "two", 4]);
  assert.deepEqual(
    hello.games.map(({ game, players }) => [game, players]),
    [
      ["echo", [2, 3]],
      ["pop", [2, 3]],
    ],
  );
  assert.deepEqual(
    [hello.protocol, hello.wants?.text, hello.wants?.history],
    [1000, true, Wants_History.FULL],
  );
  assert.match(hello.sdk, /^botarena-typescript\//);
  stream.say(started("g1"), asked("g1", 0));
  const act = await stream.expect("act");
  assert.deepEqual([act.gameId, act.decisionId, act.choice], ["g1", 0, { case: "actionId", value: 11 }]);
  const { comment, evalMilli, nodes, pv } = act.annotation ?? {};
  assert.deepEqual([comment, evalMilli, nodes, pv], ["sure", 250, 3n, ["b"]]);
  stream.say(ended("g1"));
  stream.done();
  await playing;
});

test("while one game waits for something, pings are answered and another game is played", async (t) => {
  const arena = await ScriptedArena.open(t);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { playing } = arena.playing({
    act: async (view, legal) => {
      if (view.match.gameId === "slow") await released;
      return legal[0] ?? 0;
    },
  });
  const stream = await arena.stream();
  await stream.welcome();
  stream.say(started("slow"), started("fast"), asked("slow", 0), asked("fast", 0));
  await stream.expectAct("fast", 0, 10);
  await stream.quiet();
  release();
  await stream.expectAct("slow", 0, 10);
  stream.done();
  await playing;
});

test("after a cut the same player goes on, and is not asked again", async (t) => {
  const arena = await ScriptedArena.open(t);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  const { playing } = arena.playing({
    act: async (view) => {
      calls += 1;
      if (view.decisionId === 1) await released;
      return 11;
    },
  });
  let stream = await arena.stream();
  await stream.welcome();
  stream.say(started("g1"), asked("g1", 0));
  await stream.expectAct("g1", 0, 11);
  stream.cut();

  stream = await arena.stream();
  assert.equal((await stream.welcome(["g1"])).resumeSession, "s1");
  stream.say(started("g1"), asked("g1", 0));
  await stream.expectAct("g1", 0, 11);
  stream.say(asked("g1", 1));
  await stream.quiet();
  stream.cut();

  stream = await arena.stream();
  await stream.welcome(["g1"]);
  stream.say(started("g1"), asked("g1", 1));
  await stream.quiet();
  release();
  await stream.expectAct("g1", 1, 11);
  stream.done();
  await playing;
  assert.equal(calls, 2);
});

const wrong: Record<string, Act> = {
  "an error": () => {
    throw new RangeError("oops");
  },
  "a rejection": () => Promise.reject(new RangeError("oops")),
  "an id": () => 99,
  "a text": () => "nonsense",
  nothing: () => undefined as unknown as Answer,
};
for (const [name, act] of Object.entries(wrong)) {
  test(`${name} gives up its game at once, and that one alone`, async (t) => {
    const arena = await ScriptedArena.open(t);
    const { playing } = arena.playing({ play: (match) => ({ act: match.gameId === "good" ? first : act }) });
    const stream = await arena.stream();
    await stream.welcome();
    const text = name === "nothing" ? "failed: TypeError" : "failed: RangeError";
    stream.say(started("bad"), asked("bad", 0));
    await stream.expectAct("bad", 0, text);
    stream.say(asked("bad", 1));
    await stream.expectAct("bad", 1, text);
    stream.say(started("good"), asked("good", 0));
    await stream.expectAct("good", 0, 10);
    stream.done();
    await playing;
  });
}

test("with strict, what act threw comes out of play", async (t) => {
  const arena = await ScriptedArena.open(t);
  const oops = new Error("oops");
  const { playing } = arena.playing({ act: () => Promise.reject(oops) }, { strict: true });
  const stream = await arena.stream();
  await stream.welcome();
  stream.say(started("g1"), asked("g1", 0));
  await assert.rejects(playing, oops);
});

for (const [code, exitCode] of [
  [status.UNAUTHENTICATED, 3],
  [status.PERMISSION_DENIED, 3],
  [status.FAILED_PRECONDITION, 4],
  [status.NOT_FOUND, 2],
  [status.INVALID_ARGUMENT, 2],
] as const) {
  test(`${status[code]} to Hello stops the bot with the arena's own words in one line`, async (t) => {
    const arena = await ScriptedArena.open(t);
    const { playing } = arena.playing({ act: first });
    (await arena.stream()).cut(code, "speak 2.0 to 2.4\nor so");
    const error = await problemOf(playing);
    assert.ok(error instanceof BotArenaError);
    assert.equal(error.exitCode, exitCode);
    assert.match(error.message, /^[^\n]*speak 2\.0 to 2\.4; [^\n]*$/);
  });
}

test("a good session comes back after any status, except if its token is gone", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { playing } = arena.playing({ act: first });
  for (const code of [status.FAILED_PRECONDITION, status.UNAUTHENTICATED]) {
    const stream = await arena.stream();
    await stream.welcome();
    await stream.quiet();
    stream.cut(code, "hiccup");
  }
  assert.equal((await problemOf(playing)).exitCode, 3);
});

test("a drained bot finishes what runs, across a cut, and takes nothing new", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { playing, drain } = arena.playing({ act: first });
  let stream = await arena.stream();
  await stream.welcome();
  stream.say(started("g1"));
  await stream.quiet();
  drain.abort();
  assert.ok((await stream.expect("setCredit")).drain);
  stream.say(offered("too-late"));
  await stream.quiet();
  stream.cut();

  stream = await arena.stream();
  await stream.welcome(["g1"]);
  assert.ok((await stream.expect("setCredit")).drain);
  stream.say(started("g1"), asked("g1", 0));
  await stream.expectAct("g1", 0, 10);
  stream.done();
  await playing;
});

test("a bot that waits for an arena and plays nothing ends when it is drained", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { playing, drain } = arena.playing({ act: first }, { address: "unix:/nowhere/at/all.sock" });
  await sleep(50);
  drain.abort();
  await playing;
});

test("where nothing answers, patience ends", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { playing } = arena.playing({ act: first }, { address: "unix:/nowhere/at/all.sock", patienceMs: 0 });
  assert.equal((await problemOf(playing)).exitCode, 6);
});

test("events are told once each, and the last onEnd is waited for and has both receipts", async (t) => {
  const arena = await ScriptedArena.open(t);
  const heard: string[] = [];
  let result: Result | undefined;
  const player: Player = {
    act: first,
    onEvent: (event) => void heard.push(event.text),
    onEnd: async (told) => {
      await sleep(50);
      result = told;
    },
  };
  const { playing } = arena.playing({ history: "delta", play: () => player });
  const stream = await arena.stream();
  await stream.welcome();
  const dealt = { seq: 0, text: "deal ?" };
  stream.say(started("g1"));
  for (const seq of [1, 2]) {
    stream.say({ case: "eventsObserved", value: { gameId: "g1", events: [dealt, { seq, text: "b" }] } });
  }
  stream.say(ended("g1"));
  stream.done();
  await playing;
  assert.deepEqual(heard, ["deal ?", "b", "b"]);
  assert.deepEqual([result?.outcome, result?.place, result?.score], ["finished", 1, 9]);
  assert.deepEqual(result?.reasons, ["timeout", "unknown_77"]);
  const { arenaKey, opening, closing } = result?.receipts ?? assert.fail();
  assert.equal(Buffer.concat([arenaKey, opening, closing]).toString(), "keyopeningclosing");
});

test("retries are spread, and bounded by 0.5 s doubling to 30 s", () => {
  for (const [failures, most] of [
    [0, 500],
    [3, 4000],
    [6, 30_000],
    [500, 30_000],
  ] as const) {
    const longest = Math.max(...Array.from({ length: 400 }, () => retryDelayMs(failures)));
    assert.ok(longest <= most && longest > most / 2, `${failures}: ${longest}`);
  }
});

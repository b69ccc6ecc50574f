import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { VERSION } from "botarena";
import { Target } from "../src/address.js";
import { parseFlags } from "../src/run.js";
import { asked, ScriptedArena, started } from "./scripted.js";

const BUSY = fileURLToPath(new URL("busy_bot.js", import.meta.url));

/** A program with its standard error and, in the end, its exit code. */
function start(program: string, address: string, ...flags: string[]) {
  const env = { ...process.env, ARENA_ADDRESS: address, ARENA_TOKEN: "secret" };
  const child: ChildProcess = spawn(process.execPath, [program, ...flags], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr?.on("data", (text) => {
    output += text;
  });
  child.stdout?.on("data", (text) => {
    output += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number, output }));
  return { child, ended };
}

test("an act that computes without a pause delays neither pings nor the network; SIGTERM drains", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { child, ended } = start(BUSY, arena.address);
  const stream = await arena.stream();
  await stream.welcome();
  stream.say(started("g1"), asked("g1", 0));
  await stream.quiet();
  child.kill("SIGTERM");
  assert.ok((await stream.expect("setCredit")).drain);
  await stream.expectAct("g1", 0, 11);
  stream.done();
  assert.equal((await ended).code, 0);
});

test("the second signal ends the process while it computes", async (t) => {
  const arena = await ScriptedArena.open(t);
  const { child, ended } = start(BUSY, arena.address);
  const stream = await arena.stream();
  await stream.welcome();
  stream.say(started("g1"), asked("g1", 0));
  await stream.quiet();
  child.kill("SIGTERM");
  await stream.expect("setCredit");
  child.kill("SIGINT");
  assert.equal((await ended).code, 130);
});

test("what is wrong is one line and an exit code; what runs is told by --strict", async (t) => {
  const { code, output } = await start(BUSY, "localhost").ended;
  assert.equal(code, 2);
  assert.match(output, /^botarena: "localhost" is no address: [^\n]*\n$/);
  const arena = await ScriptedArena.open(t);
  const { ended } = start(BUSY, arena.address, "--strict", "--log-level", "error");
  const stream = await arena.stream();
  await stream.welcome();
  stream.say(started("fails"), asked("fails", 0));
  const strict = await ended;
  assert.equal(strict.code, 1);
  assert.match(strict.output, /oops/);
});

test("flags go before the environment", () => {
  const env = { ARENA_ADDRESS: "localhost:7700", ARENA_TOKEN: "from the environment", ARENA_CA: "ca.pem" };
  const flags = parseFlags(["--credit", "3", "--name=bob", "--patience", "1.5", "--strict"], env);
  assert.ok(typeof flags === "object");
  const { address, token, ca, credit, patienceMs, strict } = flags.settings;
  assert.deepEqual(
    [address, token, ca, credit, patienceMs, strict],
    ["localhost:7700", env.ARENA_TOKEN, "ca.pem", 3, 1500, true],
  );
  assert.equal(flags.name, "bob");
  for (const args of [["--credit", "x"], ["--nonsense"], ["word"], ["--log-level", "loud"]]) {
    assert.throws(() => parseFlags(args, env), { exitCode: 2 });
  }
  assert.match(String(parseFlags(["--help"], env)), /ARENA_TOKEN/);
});

test("TLS is spoken everywhere but on this machine; what is no address is refused", () => {
  for (const text of ["localhost:7700", "127.0.0.1:7700", "[::1]:7700", "unix:/run/a.sock"]) {
    assert.equal(Target.parse(text).tls, false, text);
  }
  for (const text of ["arena.example:7700", "10.0.0.1:7700"])
    assert.equal(Target.parse(text).tls, true, text);
  assert.equal(Target.parse("arena.example:7700", { insecure: true }).tls, false);
  for (const text of [
    "",
    "unix:",
    "localhost",
    "localhost:",
    ":7700",
    "localhost:0",
    "localhost:99999",
    "http://a:1",
  ]) {
    assert.throws(() => Target.parse(text), { exitCode: 2 }, text);
  }
});

test("with a private CA TLS is spoken on this machine too; it is a certificate in PEM", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "botarena-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const ca = join(folder, "ca.pem");
  const pem = "-----BEGIN CERTIFICATE-----\n";
  writeFileSync(ca, pem);
  for (const text of ["localhost:1", "arena.example:1"]) {
    const { tls, ca: trusted } = Target.parse(text, { ca });
    assert.deepEqual([tls, String(trusted)], [true, pem], text);
  }
  assert.equal(Target.parse("unix:/run/a.sock", { ca }).tls, false);
  const wrong: [Parameters<typeof Target.parse>[1], RegExp][] = [
    [{ ca: `${ca}.none` }, /^cannot read the CA .*none: ENOENT/],
    [{ ca: fileURLToPath(new URL("../../package.json", import.meta.url)) }, /no certificate in PEM$/],
    [{ ca, insecure: true }, /choose one$/],
  ];
  for (const [settings, message] of wrong) {
    assert.throws(() => Target.parse("localhost:1", settings), { exitCode: 2, message });
  }
});

test("the version is that of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  assert.equal(VERSION, version);
});

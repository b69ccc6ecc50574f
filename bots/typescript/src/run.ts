import { parseArgs } from "node:util";
import type { Bot } from "./bot.js";
import { Client, type Settings } from "./client.js";
import { BotArenaError, Misconfigured } from "./errors.js";
import { LEVELS, type Level, stderrLogger } from "./log.js";
import { PlayerThread, servesPlayers } from "./thread.js";
import { VERSION } from "./version.js";

const INTERRUPTED = 130;

const HELP = `A bot for a Bot Arena.

  --address ADDRESS   host:port or unix:path (default: ARENA_ADDRESS)
  --token TOKEN       the bot's token (default: ARENA_TOKEN, which nobody sees in ps)
  --name NAME         the bot's name, instead of the one in the program
  --instance NAME     tells several processes of one bot apart (default: ARENA_INSTANCE)
  --credit N          how many games at once (default: 1)
  --strict            an error in the bot ends the process, not only the game
  --insecure          no TLS to an arena on another machine
  --ca FILE           TLS with this private CA, in PEM (default: ARENA_CA)
  --patience SECONDS  give up when no arena answers for so long
  --log-level LEVEL   ${LEVELS.join(", ")} (default: ARENA_LOG_LEVEL or info)
  --version           the SDK's version
`;

/**
 * Plays until told to stop, and ends the process then: the last call of a bot's program. The bot's code runs in a thread
 * of its own, for which the program is loaded a second time.
 *
 * Takes its settings from flags (`--help` lists them) and the environment: ARENA_ADDRESS, ARENA_TOKEN,
 * ARENA_CA. The status is 0 after a drain (SIGTERM or Ctrl-C); else with one line on standard error and an exit code: 1 `act` threw
 * and `--strict`, 2 wrong settings, 3 token refused, 4 version skew, 5 replaced by a newer process, 6 no arena there,
 * 130 Ctrl-C twice.
 */
export function run(bot: Bot): void {
  if (servesPlayers(bot)) return;
  main(bot).then(
    () => process.exit(0),
    (error: Error) => {
      process.stderr.write(
        `botarena: ${error instanceof BotArenaError ? error.message : (error.stack ?? error)}\n`,
      );
      process.exit(error instanceof BotArenaError ? error.exitCode : 1);
    },
  );
}

async function main(bot: Bot): Promise<void> {
  const flags = parseFlags(process.argv.slice(2), process.env);
  if (typeof flags === "string") {
    process.stdout.write(flags);
    return;
  }
  const { name, level, settings } = flags;
  const logger = stderrLogger(level);
  const profile = name === undefined ? bot : { ...bot, name };
  const drain = new AbortController();
  onSignals(() => drain.abort());
  const client = new Client(profile, { ...settings, logger, signal: drain.signal }, (reports) => {
    return new PlayerThread(process.argv[1] ?? "", level, reports, (error) => reports.fail(error));
  });
  await client.run();
}

/** The first signal calls `drain`, the second ends the process at once. */
function onSignals(drain: () => void): void {
  let signals = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      signals += 1;
      if (signals > 1) process.exit(INTERRUPTED);
      drain();
    });
  }
}

interface Flags {
  name?: string;
  level: Level;
  settings: Settings;
}

/** The settings, or what to print instead of playing. Throws Misconfigured. */
export function parseFlags(args: string[], env: NodeJS.ProcessEnv): Flags | string {
  const { values } = parsed(args);
  if (values.help) return HELP;
  if (values.version) return `botarena ${VERSION}\n`;
  const level =
    values["log-level"] ?? env.ARENA_LOG_LEVEL?.toLowerCase().replace("warning", "warn") ?? "info";
  if (!LEVELS.includes(level as Level)) throw new Misconfigured(`--log-level is one of ${LEVELS.join(", ")}`);
  return {
    name: values.name,
    level: level as Level,
    settings: {
      address: values.address ?? env.ARENA_ADDRESS ?? "",
      token: values.token ?? env.ARENA_TOKEN,
      instance: values.instance ?? env.ARENA_INSTANCE,
      credit: number("credit", values.credit),
      strict: values.strict,
      insecure: values.insecure,
      ca: values.ca ?? env.ARENA_CA,
      patienceMs:
        values.patience === undefined ? undefined : 1000 * (number("patience", values.patience) ?? 0),
    },
  };
}

function parsed(args: string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args,
      options: {
        address: text,
        token: text,
        name: text,
        instance: text,
        credit: text,
        strict: flag,
        insecure: flag,
        ca: text,
        patience: text,
        "log-level": text,
        version: flag,
        help: flag,
      },
    });
  } catch (error) {
    throw new Misconfigured(`${(error as Error).message.split("\n", 1)[0]}; --help lists the flags`);
  }
}

function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw new Misconfigured(`--${flag} is a number, not ${text}`);
  return value;
}

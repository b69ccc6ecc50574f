/** What takes the SDK's messages; `console` is one. */
export type Logger = Pick<Console, "debug" | "info" | "warn" | "error">;

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];

/** Lines on standard error, from `least` on. */
export function stderrLogger(least: Level): Logger {
  const write = (level: Level) => (message: unknown) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const time = new Date().toTimeString().slice(0, 8);
    process.stderr.write(`${time} ${level.toUpperCase()} ${message}\n`);
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

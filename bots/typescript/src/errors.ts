/** Why a bot's process stops: one line that says what to do, and the exit code of the process. */
export class BotArenaError extends Error {
  readonly exitCode: number = 1;

  override get name(): string {
    return this.constructor.name;
  }
}

/** A setting is missing or wrong, or the arena does not know the bot or a game. */
export class Misconfigured extends BotArenaError {
  override readonly exitCode = 2;
}

/** The arena does not accept the token, or has revoked it. */
export class Refused extends BotArenaError {
  override readonly exitCode = 3;
}

/** This SDK and the arena speak different versions of the protocol. */
export class VersionSkew extends BotArenaError {
  override readonly exitCode = 4;
}

/** A newer process connected as the same instance of the same bot. */
export class Replaced extends BotArenaError {
  override readonly exitCode = 5;
}

/** Nothing answers at the address for longer than the process is willing to wait. */
export class Unreachable extends BotArenaError {
  override readonly exitCode = 6;
}

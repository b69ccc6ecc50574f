export type { Act, Bot, Player, Profile } from "./bot.js";
export { play, type Settings } from "./client.js";
export { BotArenaError, Misconfigured, Refused, Replaced, Unreachable, VersionSkew } from "./errors.js";
export type { Logger } from "./log.js";
export type * from "./model.js";
export { run } from "./run.js";
export { VERSION } from "./version.js";

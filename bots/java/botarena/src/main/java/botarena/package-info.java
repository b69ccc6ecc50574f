/**
 * The SDK for bots that play on a Bot Arena.
 *
 * <pre>{@code
 * BotArena.bot("balloon-challenge").run(args, () -> decision -> decision.legal().get(0).answer());
 * }</pre>
 */
package botarena;

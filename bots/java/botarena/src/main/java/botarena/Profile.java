package botarena;

import botarena.v1.Play;
import java.util.List;
import java.util.function.Supplier;

/**
 * What a bot tells the arena about itself. Made by {@link BotArena#bot}; each method returns a
 * changed copy.
 *
 * @param games what it plays; none: every game of the arena
 * @param players numbers of players that it plays with; none: all
 * @param name as registered; empty: the bot that the token was made for
 * @param version your name for this version of the program; a new one starts its own rating
 * @param wants what it is sent beyond ids, texts and the typed view
 */
public record Profile(
    List<String> games, List<Integer> players, String name, String version, Play.Wants wants) {

  /** Plays with these numbers of players only. */
  public Profile players(Integer... players) {
    return new Profile(games, List.of(players), name, version, wants);
  }

  /** Plays under this name. */
  public Profile name(String name) {
    return new Profile(games, players, name, version, wants);
  }

  /** Is this version. */
  public Profile version(String version) {
    return new Profile(games, players, name, version, wants);
  }

  /** Wants the game's own message with each action, in {@link Action#typed}. */
  public Profile typedActions() {
    return new Profile(
        games, players, name, version, wants.toBuilder().setTypedActions(true).build());
  }

  /** Wants the position as text, for a language model or to look at. */
  public Profile text() {
    return new Profile(games, players, name, version, wants.toBuilder().setText(true).build());
  }

  /** Wants the position as JSON even where there is a typed message. */
  public Profile json() {
    return new Profile(games, players, name, version, wants.toBuilder().setJson(true).build());
  }

  /** Wants {@link Bot#onEvent} to be called. */
  public Profile events() {
    return history(Play.Wants.History.HISTORY_DELTA);
  }

  /** Wants the whole history with each decision, in {@link Decision#history}. */
  public Profile fullHistory() {
    return history(Play.Wants.History.HISTORY_FULL);
  }

  private Profile history(Play.Wants.History history) {
    return new Profile(
        games, players, name, version, wants.toBuilder().setHistory(history).build());
  }

  /**
   * Plays until told to stop; the whole {@code main} of a bot's program.
   *
   * <p>Takes its settings from {@code args} ({@code --help} lists them) and the environment:
   * ARENA_ADDRESS, ARENA_TOKEN. Ends the process: 0 after a drain (SIGTERM or Ctrl-C), else with
   * one line on standard error and the code of {@link BotArenaException.Kind}, 1 if a bot failed
   * and {@code --strict}, 130 after Ctrl-C twice.
   *
   * @param bots makes an instance for each game
   */
  public void run(String[] args, Supplier<? extends Bot> bots) {
    System.exit(BotArena.play(this, args, bots));
  }
}

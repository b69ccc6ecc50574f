package botarena;

import botarena.v1.Play;

/**
 * A bot. One instance plays one game; all of its methods are called on the same thread, in order.
 * Several games may go on at once, each with an instance and a thread of its own.
 */
@FunctionalInterface
public interface Bot {
  /** Chooses one of the legal actions. What it throws gives up this game; others go on. */
  Answer act(Decision decision) throws Exception;

  /** A game begins, or goes on in a new process ({@code match.getResumed()}). */
  default void onMatchStart(Play.MatchStarted match) throws Exception {}

  /**
   * Something happened that our seat may see; told before the next {@link #act}. Own actions are
   * told as well.
   */
  default void onEvent(Play.ObservedEvent event) throws Exception {}

  /** The game is over. */
  default void onEnd(Result result) throws Exception {}
}

package botarena;

import botarena.v1.Play;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A decision that is due: the position as our seat knows it, what is legal, and the time that there
 * is.
 */
public final class Decision {
  private final Play.MatchStarted match;
  private final Play.DecisionRequested request;
  private final long arrivedNanos;
  private final List<Action> legal;
  private RandomGenerator random;

  Decision(Play.MatchStarted match, Play.DecisionRequested request, long arrivedNanos) {
    this.match = match;
    this.request = request;
    this.arrivedNanos = arrivedNanos;
    this.legal =
        request.getLegalList().stream()
            .map(action -> new Action(action.getId(), action.getText(), action.getTyped()))
            .toList();
  }

  /** The game: its name, options, who sits where. */
  public Play.MatchStarted match() {
    return match;
  }

  /**
   * The position: the game's own message ({@code view().getPop()}), text or JSON if the bot asked
   * for them.
   */
  public Play.View view() {
    return request.getView();
  }

  /** Our seat, from 0. */
  public int seat() {
    return match.getSeat();
  }

  /** The legal actions by ascending id, at least two: what is forced is played for us. */
  public List<Action> legal() {
    return legal;
  }

  /** The legal action of this id, if there is one. */
  public Optional<Action> find(int id) {
    return legal.stream().filter(action -> action.id() == id).findFirst();
  }

  /** The legal action of this text, if there is one. */
  public Optional<Action> find(String text) {
    return legal.stream().filter(action -> action.text().equals(text)).findFirst();
  }

  /**
   * The answer is due within so much, else the game is lost on time. The arena's clock has more of
   * it.
   */
  public Duration limit() {
    return Duration.ofMillis(Integer.toUnsignedLong(clock().getLimitMs()));
  }

  /**
   * What is left of {@link #limit} now, never negative. The way to the arena and back comes off it
   * as well.
   */
  public Duration left() {
    Duration left = limit().minusNanos(System.nanoTime() - arrivedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Bank and what the last decision was charged, in ms. */
  public Play.Clock clock() {
    return request.getClock();
  }

  /** What was played for our seat since our last decision, and why. */
  public List<Play.PlayedForYou> playedForYou() {
    return request.getPlayedForYouList();
  }

  /** All that our seat has seen, for a bot that wants the full history. */
  public List<Play.ObservedEvent> history() {
    return request.getHistoryList();
  }

  /** Random numbers that repeat when a seeded match is played again, even in another process. */
  public RandomGenerator random() {
    if (random == null) {
      random =
          RandomGeneratorFactory.of("L64X128MixRandom")
              .create(match.getBotSeed() * 31 + request.getDecisionId());
    }
    return random;
  }

  /** The request as it arrived. */
  public Play.DecisionRequested request() {
    return request;
  }

  Play.Act.Builder act() {
    return Play.Act.newBuilder()
        .setGameId(request.getGameId())
        .setDecisionId(request.getDecisionId());
  }
}

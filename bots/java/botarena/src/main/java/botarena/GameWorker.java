package botarena;

import botarena.v1.Play;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One game's bot on a thread of its own, so that a slow one delays neither pings nor other games.
 * Calls are queued and run in order. After the bot has thrown, every decision is answered as
 * failed.
 */
final class GameWorker {
  /** What became of a decision; {@code error} is what the bot threw, if it did. */
  record Decided(Play.Act act, Optional<Exception> error) {}

  private static final Logger LOG = Logger.getLogger("botarena");

  private final Play.MatchStarted match;
  private final Consumer<Decided> report;
  private final BlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile int newest = -1;
  private boolean over;
  private Bot bot;
  private Exception error;

  /** {@code report} gets what the bot decided and is called on the game's thread. */
  GameWorker(Play.MatchStarted match, Supplier<? extends Bot> bots, Consumer<Decided> report) {
    this.match = match;
    this.report = report;
    jobs.add(() -> attempt("onMatchStart", () -> start(bots)));
    thread = new Thread(this::run, "game-" + match.getGameId());
    thread.setDaemon(true); // the second Ctrl-C ends the process even where a bot never answers
    thread.start();
  }

  Play.MatchStarted match() {
    return match;
  }

  void observe(Play.ObservedEvent event) {
    jobs.add(() -> attempt("onEvent", () -> bot.onEvent(event)));
  }

  /** Asks the bot; a request that still waits when a newer one comes is dropped. */
  void decide(Play.DecisionRequested request) {
    long arrived = System.nanoTime();
    newest = request.getDecisionId();
    jobs.add(() -> decide(request, arrived));
  }

  /** Tells the bot the result and ends the thread once that is done. */
  void end(Result result) {
    newest = -1;
    jobs.add(() -> attempt("onEnd", () -> bot.onEnd(result)));
    jobs.add(() -> over = true);
  }

  /** Waits for the thread after {@link #end}. */
  void join(long millis) throws InterruptedException {
    thread.join(millis);
  }

  boolean alive() {
    return thread.isAlive();
  }

  private void run() {
    try {
      while (!over) {
        jobs.take().run();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void start(Supplier<? extends Bot> bots) throws Exception {
    bot = bots.get();
    bot.onMatchStart(match);
  }

  private void decide(Play.DecisionRequested request, long arrived) {
    if (request.getDecisionId() != newest) {
      return;
    }
    Decision decision = new Decision(match, request, arrived);
    Play.Act[] act = new Play.Act[1];
    attempt("act", () -> act[0] = bot.act(decision).toAct(decision));
    if (act[0] == null) {
      // No game has such an action, so the arena ends a failed seat at once instead of waiting for
      // its clock.
      act[0] = decision.act().setText("failed: " + error.getClass().getSimpleName()).build();
    }
    report.accept(new Decided(act[0], Optional.ofNullable(error)));
  }

  private interface Step {
    void run() throws Exception;
  }

  private void attempt(String where, Step step) {
    if (error != null) {
      return;
    }
    try {
      step.run();
    } catch (Exception thrown) {
      error = thrown;
      LOG.log(
          Level.SEVERE,
          where + " threw in a game of " + match.getGame() + ": it is given up, others go on",
          thrown);
    }
  }
}

package botarena;

import botarena.v1.Play;
import botarena.v1.Play.ArenaEvent;
import botarena.v1.Play.BotEvent;
import com.google.protobuf.ByteString;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What the process knows of its games, across streams: a state machine without I/O that the
 * connection drives on one thread.
 */
final class Session {
  private static final Logger LOG = Logger.getLogger("botarena");
  private static final int NONCE_BYTES = 16;

  /**
   * So long the arena looks for a new home for games whose gateway has crashed; then they are void.
   */
  private static final Duration DOUBT = Duration.ofSeconds(60);

  /** A running game. The answer is kept because a stream may break before the arena has it. */
  private static final class Game {
    final GameWorker worker;
    Integer asked;
    Integer thinking;
    Play.Act answer;
    long nextSeq;
    Long doubtedSince;

    Game(GameWorker worker) {
      this.worker = worker;
    }
  }

  private final Supplier<? extends Bot> bots;
  private final Consumer<GameWorker.Decided> report;
  private final Consumer<BotEvent> send;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Game> games = new HashMap<>();
  private final List<GameWorker> ending = new ArrayList<>();
  private String id = "";
  private Play.Welcome welcome;
  private boolean draining;
  private boolean done;
  private Duration reconnectWithin;

  /**
   * @param report is handed to the games' threads; must carry what it gets to {@link #decided} on
   *     the session's thread
   * @param send puts an event into the outbox of the stream that is open now
   */
  Session(
      Supplier<? extends Bot> bots, Consumer<GameWorker.Decided> report, Consumer<BotEvent> send) {
    this.bots = bots;
    this.report = report;
    this.send = send;
  }

  String id() {
    return id;
  }

  Optional<Play.Welcome> welcome() {
    return Optional.ofNullable(welcome);
  }

  boolean draining() {
    return draining;
  }

  /** Whether there is nothing left to come back for. */
  boolean over() {
    return done || (draining && welcome == null && games.isEmpty());
  }

  int running() {
    return games.size();
  }

  List<GameWorker> ending() {
    return ending;
  }

  /** How far to spread the next connect, where the arena has said so. */
  Optional<Duration> reconnectWithin() {
    return Optional.ofNullable(reconnectWithin);
  }

  /** Forgets what the old stream was waiting for: the arena asks again on the new one. */
  void streamOpened() {
    welcome = null;
    reconnectWithin = null;
    games.values().forEach(game -> game.asked = null);
  }

  /** Asks the arena for no new games; it closes the stream when none runs any more. */
  void drain() {
    draining = true;
    if (welcome != null) {
      send.accept(
          BotEvent.newBuilder().setSetCredit(Play.SetCredit.newBuilder().setDrain(true)).build());
    }
  }

  /** Takes in one event. Kinds newer than this SDK are ignored. */
  void handle(ArenaEvent event) throws BotArenaException {
    switch (event.getEventCase()) {
      case WELCOME -> onWelcome(event.getWelcome());
      case SET_OFFERED -> onOffer(event.getSetOffered());
      case MATCH_STARTED -> onMatchStarted(event.getMatchStarted());
      case EVENTS_OBSERVED -> onEvents(event.getEventsObserved());
      case DECISION_REQUESTED -> onDecision(event.getDecisionRequested());
      case ACT_RESULT -> onActResult(event.getActResult());
      case MATCH_ENDED -> onMatchEnded(event.getMatchEnded());
      case NOTICE -> onNotice(event.getNotice());
      case DRAINING -> onDraining(event.getDraining());
      case PING -> {
        Play.Pong pong = Play.Pong.newBuilder().setNonce(event.getPing().getNonce()).build();
        send.accept(BotEvent.newBuilder().setPong(pong).build());
      }
      default -> {}
    }
  }

  /** Takes in what a bot decided, and sends it if this stream waits for it. */
  void decided(GameWorker.Decided outcome) {
    Play.Act act = outcome.act();
    Game game = games.get(act.getGameId());
    if (game == null) {
      return;
    }
    game.answer = act;
    if (game.thinking != null && game.thinking == act.getDecisionId()) {
      game.thinking = null;
    }
    answer(game);
  }

  /** Ends games that were in doubt for too long; to be called about once a second. */
  void settle() {
    long oldest = System.nanoTime() - DOUBT.toNanos();
    for (String gameId : List.copyOf(games.keySet())) {
      Long since = games.get(gameId).doubtedSince;
      if (since != null && since - oldest < 0) {
        drop(gameId);
      }
    }
  }

  private void drop(String gameId) {
    Game game = games.remove(gameId);
    LOG.warning(
        "a game of "
            + game.worker.match().getGame()
            + " ended while this process was not connected");
    end(game, Optional.empty());
  }

  private void answer(Game game) {
    if (game.answer != null && game.asked != null && game.asked == game.answer.getDecisionId()) {
      game.asked = null;
      send.accept(BotEvent.newBuilder().setAct(game.answer).build());
    }
  }

  private void end(Game game, Optional<Play.MatchEnded> ended) {
    ByteString key = welcome == null ? ByteString.EMPTY : welcome.getArenaKey();
    game.worker.end(new Result(game.worker.match(), ended, key));
    ending.removeIf(worker -> !worker.alive());
    ending.add(game.worker);
  }

  /**
   * What the arena says is running, is; the rest is over. Only where it made a new session, because
   * the gateway that had the old one is gone, the arena may still bring our games to it.
   */
  private void onWelcome(Play.Welcome message) {
    boolean sameSession = message.getSession().equals(id);
    id = message.getSession();
    welcome = message;
    LOG.info("playing as " + message.getBot() + " version " + message.getVersion());
    Set<String> missing = new HashSet<>(games.keySet());
    missing.removeAll(message.getRunningGamesList());
    for (String gameId : missing) {
      if (sameSession) {
        drop(gameId);
      } else {
        games.get(gameId).doubtedSince = System.nanoTime();
      }
    }
    if (draining) {
      drain();
    }
  }

  private void onOffer(Play.SetOffered message) {
    if (draining) {
      return;
    }
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    Play.Ready ready =
        Play.Ready.newBuilder()
            .setOfferId(message.getOfferId())
            .setNonce(ByteString.copyFrom(nonce))
            .build();
    send.accept(BotEvent.newBuilder().setReady(ready).build());
  }

  private void onMatchStarted(Play.MatchStarted message) {
    Game running = games.get(message.getGameId());
    if (running != null) { // goes on after a reconnect; the bot has never noticed
      running.doubtedSince = null;
      return;
    }
    LOG.info((message.getResumed() ? "goes on: " : "started: ") + title(message));
    games.put(message.getGameId(), new Game(new GameWorker(message, bots, report)));
  }

  private void onEvents(Play.EventsObserved message) {
    Game game = games.get(message.getGameId());
    if (game == null) {
      return;
    }
    for (Play.ObservedEvent event : message.getEventsList()) {
      long seq = Integer.toUnsignedLong(event.getSeq());
      if (seq >= game.nextSeq) { // after a reconnect the arena may tell again what we have heard
        game.nextSeq = seq + 1;
        game.worker.observe(event);
      }
    }
  }

  private void onDecision(Play.DecisionRequested message) {
    Game game = games.get(message.getGameId());
    if (game == null) {
      LOG.warning("asked for a decision in a game that never started here: " + message.getGameId());
      return;
    }
    game.asked = message.getDecisionId();
    if (game.answer != null && game.answer.getDecisionId() == message.getDecisionId()) {
      answer(game);
    } else if (game.thinking == null || game.thinking != message.getDecisionId()) {
      game.thinking = message.getDecisionId();
      game.worker.decide(message);
    }
  }

  private void onActResult(Play.ActResult message) {
    boolean harmless =
        message.getCode() == Play.ActResult.Code.CODE_DUPLICATE
            || message.getCode() == Play.ActResult.Code.CODE_STALE;
    LOG.log(
        harmless ? Level.FINE : Level.SEVERE,
        () ->
            "the arena says "
                + message.getCode()
                + " to decision "
                + message.getDecisionId()
                + ": "
                + message.getDetail());
  }

  private void onMatchEnded(Play.MatchEnded message) {
    Game game = games.remove(message.getGameId());
    if (game == null) {
      return;
    }
    LOG.info("ended: " + title(game.worker.match()) + ": " + verdict(game.worker.match(), message));
    end(game, Optional.of(message));
  }

  private void onNotice(Play.Notice message) {
    boolean bad =
        message.getKind() == Play.Notice.Kind.KIND_FLOOD
            || message.getKind() == Play.Notice.Kind.KIND_SEAT_FAILED;
    LOG.log(bad ? Level.WARNING : Level.INFO, message.getKind() + ": " + message.getText());
  }

  private void onDraining(Play.Draining message) throws BotArenaException {
    switch (message.getReason()) {
      case REASON_REPLACED ->
          throw new BotArenaException(
              BotArenaException.Kind.REPLACED,
              "a newer process of this bot took over, so this one stops; "
                  + "to run several at once give each its own --instance");
      case REASON_REVOKED ->
          throw new BotArenaException(
              BotArenaException.Kind.REFUSED,
              "the token was revoked: make a new one with `arena token create`");
      case REASON_DONE -> done = true;
      default -> {
        LOG.info("the arena's server restarts; reconnecting");
        reconnectWithin = Duration.ofMillis(Integer.toUnsignedLong(message.getReconnectWithinMs()));
      }
    }
  }

  private static String title(Play.MatchStarted match) {
    String names =
        String.join(", ", match.getSeatsList().stream().map(Play.Player::getBot).toList());
    return match.getGame()
        + ", seat "
        + match.getSeat()
        + " of "
        + match.getPlayers()
        + (names.isEmpty() ? "" : " (" + names + ")");
  }

  private static String verdict(Play.MatchStarted match, Play.MatchEnded ended) {
    int seat = match.getSeat();
    if (ended.getEnd() != Play.MatchEnded.End.END_FINISHED || ended.getPlacesCount() <= seat) {
      return "void, it is going to be played again";
    }
    String verdict = "place " + ended.getPlaces(seat) + ", " + ended.getScores(seat) + " points";
    boolean normal =
        ended.getReasonsCount() <= seat
            || ended.getReasons(seat) == Play.SeatReason.SEAT_REASON_NORMAL;
    return normal ? verdict : verdict + " (" + ended.getReasons(seat) + ")";
  }
}

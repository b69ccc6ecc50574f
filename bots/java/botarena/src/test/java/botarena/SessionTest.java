package botarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import botarena.v1.Play;
import botarena.v1.Play.ArenaEvent;
import botarena.v1.Play.BotEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a session says to what it hears. */
class SessionTest {
  private final Deque<BotEvent> sent = new ArrayDeque<>();
  private final BlockingQueue<GameWorker.Decided> decided = new LinkedBlockingQueue<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final List<Result> results = new ArrayList<>();
  private final Session session = new Session(() -> new Counting(), decided::add, sent::add);

  /**
   * Plays the legal actions in turn, so that a question that comes twice would be answered
   * differently.
   */
  private final class Counting implements Bot {
    @Override
    public Answer act(Decision decision) {
      return decision.legal().get(asked.getAndIncrement() % decision.legal().size()).answer();
    }

    @Override
    public void onEnd(Result result) {
      results.add(result);
    }
  }

  private void welcome(String id, String... running) throws BotArenaException {
    Play.Welcome welcome =
        Play.Welcome.newBuilder().setSession(id).addAllRunningGames(List.of(running)).build();
    session.handle(ArenaEvent.newBuilder().setWelcome(welcome).build());
  }

  private void start(String gameId) throws BotArenaException {
    Play.MatchStarted started =
        Play.MatchStarted.newBuilder().setGameId(gameId).setPlayers(2).setSeat(1).build();
    session.handle(ArenaEvent.newBuilder().setMatchStarted(started).build());
  }

  private void ask(String gameId, int decision) throws BotArenaException {
    Play.DecisionRequested.Builder request =
        Play.DecisionRequested.newBuilder().setGameId(gameId).setDecisionId(decision);
    request.addLegalBuilder().setId(10).setText("a");
    request.addLegalBuilder().setId(11).setText("b");
    session.handle(ArenaEvent.newBuilder().setDecisionRequested(request).build());
  }

  private Play.Act answer() throws InterruptedException {
    session.decided(decided.poll(5, TimeUnit.SECONDS));
    return sent.remove().getAct();
  }

  @Test
  void anAnswerThatMayBeLostIsGivenAgainWithoutAskingTheBot() throws Exception {
    welcome("s");
    start("g");
    ask("g", 1);
    Play.Act first = answer();
    session.streamOpened();
    welcome("s", "g");
    ask("g", 1);
    assertEquals(first, sent.remove().getAct());
    assertEquals(1, asked.get());
  }

  @Test
  void aBotThatStillThinksIsNotAskedTwice() throws Exception {
    welcome("s");
    start("g");
    ask("g", 1);
    session.streamOpened();
    welcome("s", "g");
    ask("g", 1);
    assertEquals(10, answer().getActionId());
    assertTrue(decided.isEmpty());
  }

  @Test
  void whatTheArenaDoesNotNameIsOver() throws Exception {
    welcome("s");
    start("g");
    session.streamOpened();
    welcome("s");
    assertEquals(0, session.running());
    session.ending().get(0).join(5000);
    assertTrue(results.get(0).ended().isEmpty());
  }

  @Test
  void anotherGatewayMayStillLearnOfAGame() throws Exception {
    welcome("s");
    start("g");
    session.streamOpened();
    welcome("another");
    assertEquals(1, session.running());
  }

  @Test
  void nothingIsTakenWhileDraining() throws Exception {
    welcome("s");
    session.drain();
    assertTrue(sent.remove().getSetCredit().getDrain());
    session.handle(
        ArenaEvent.newBuilder().setSetOffered(Play.SetOffered.getDefaultInstance()).build());
    assertTrue(sent.isEmpty());
    assertFalse(session.over());
    Play.Draining done =
        Play.Draining.newBuilder().setReason(Play.Draining.Reason.REASON_DONE).build();
    session.handle(ArenaEvent.newBuilder().setDraining(done).build());
    assertTrue(session.over());
  }

  @Test
  void aReplacedProcessStops() {
    Play.Draining replaced =
        Play.Draining.newBuilder().setReason(Play.Draining.Reason.REASON_REPLACED).build();
    BotArenaException stop =
        assertThrows(
            BotArenaException.class,
            () -> session.handle(ArenaEvent.newBuilder().setDraining(replaced).build()));
    assertEquals(5, stop.kind().exitCode);
  }

  @Test
  void aBotThatThrowsGivesItsGameUpAtOnce() throws Exception {
    Session failing =
        new Session(
            () ->
                decision -> {
                  throw new IllegalStateException("as a test");
                },
            decided::add,
            sent::add);
    failing.handle(
        ArenaEvent.newBuilder()
            .setMatchStarted(Play.MatchStarted.newBuilder().setGameId("g"))
            .build());
    Play.DecisionRequested request =
        Play.DecisionRequested.newBuilder().setGameId("g").setDecisionId(1).build();
    failing.handle(ArenaEvent.newBuilder().setDecisionRequested(request).build());
    failing.decided(decided.poll(5, TimeUnit.SECONDS));
    assertEquals("failed: IllegalStateException", sent.remove().getAct().getText());
  }

  @Test
  void framesStaySmall() {
    for (int i = 0; i < 100; i++) {
      sent.add(
          BotEvent.newBuilder()
              .setReady(Play.Ready.newBuilder().setOfferId("o".repeat(50)))
              .build());
    }
    int events = 0;
    while (!sent.isEmpty()) {
      Play.PlayRequest frame = Connection.nextFrame(sent, 1000);
      assertTrue(frame.getSerializedSize() <= 1000);
      events += frame.getEventsCount();
    }
    assertEquals(100, events);
  }

  @Test
  void anAnnotationThatFitsIntoNoFrameIsLeftOut() {
    Play.Act.Builder act = Play.Act.newBuilder().setGameId("g").setActionId(3);
    act.getAnnotationBuilder().setComment("long ".repeat(1000));
    sent.add(BotEvent.newBuilder().setAct(act).build());
    assertEquals(
        act.clearAnnotation().build(), Connection.nextFrame(sent, 1000).getEvents(0).getAct());
  }

  @Test
  void delaysDoubleUpToHalfAMinute() {
    assertEquals(Duration.ofMillis(500), Connection.delayBound(0));
    assertEquals(Duration.ofSeconds(2), Connection.delayBound(2));
    assertEquals(Duration.ofSeconds(30), Connection.delayBound(100));
  }
}

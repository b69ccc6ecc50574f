package botarena;

import botarena.v1.Play;
import botarena.v1.Play.BotEvent;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One stream to the arena after another, until there is nothing left to play. Whatever happens on
 * other threads (gRPC's, the games', a signal's) becomes a job in the mailbox of the thread that is
 * in {@link #run}.
 */
final class Connection {
  private static final Logger LOG = Logger.getLogger("botarena");
  private static final Duration FIRST_DELAY = Duration.ofMillis(500);
  private static final Duration MAX_DELAY = Duration.ofSeconds(30);

  /** A stream that lived so long was a good one: the next failure starts again from FIRST_DELAY. */
  private static final Duration STEADY = Duration.ofSeconds(5);

  /** How long the arena may take to answer Hello, and the least silence that counts as death. */
  private static final Duration SILENCE = Duration.ofSeconds(10);

  /** So many missing pings mean that the connection is dead, whatever TCP believes. */
  private static final int SILENT_PINGS = 3;

  private static final int FRAME_BYTES = 60_000;
  private static final int PROTOCOL = 1000;
  private static final int EXIT_STRICT = 1;
  private static final int EXIT_INTERRUPTED = 130;
  private static final Duration GOODBYE = Duration.ofSeconds(30);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private interface Job {
    void run() throws BotArenaException;
  }

  private final Profile profile;
  private final Settings settings;
  private final Session session;
  private final BlockingQueue<Job> mailbox = new LinkedBlockingQueue<>();
  private final Deque<BotEvent> outbox = new ArrayDeque<>();
  private int stream;
  private Status ended;
  private long heardNanos;
  private Integer exitCode;

  Connection(Profile profile, Supplier<? extends Bot> bots, Settings settings) {
    this.profile = profile;
    this.settings = settings;
    this.session = new Session(bots, outcome -> mailbox.add(() -> decided(outcome)), outbox::add);
  }

  /**
   * What SIGINT and SIGTERM do, on any thread: the first finishes what runs, the second ends at
   * once.
   */
  void interrupt() {
    mailbox.add(
        () -> {
          if (session.draining()) {
            exitCode = EXIT_INTERRUPTED;
            return;
          }
          if (session.running() > 0) {
            LOG.info(
                "finishing " + session.running() + " running games; once more to stop at once");
          }
          session.drain();
        });
  }

  /** Connects, plays, reconnects; the exit code once there is nothing left for a drained bot. */
  int run() throws BotArenaException {
    int failures = 0;
    long silentSince = System.nanoTime();
    while (!over()) {
      long started = System.nanoTime();
      playOneStream();
      if (over()) {
        break;
      }
      if (session.welcome().isPresent()) {
        silentSince = System.nanoTime();
        failures = silentSince - started >= STEADY.toNanos() ? 0 : failures;
      }
      complain(failures, silentSince);
      Duration spread = session.reconnectWithin().orElse(delayBound(failures));
      failures++;
      long until =
          System.nanoTime() + (long) (spread.toNanos() * ThreadLocalRandom.current().nextDouble());
      work(until, () -> over());
    }
    return exitCode != null ? exitCode : goodbye();
  }

  private boolean over() {
    return exitCode != null || session.over();
  }

  /**
   * Doubles with each failure in a row, up to 30 s; the delay is a random part of it, so that a
   * herd comes back spread.
   */
  static Duration delayBound(int failures) {
    Duration doubled = FIRST_DELAY.multipliedBy(1L << Math.min(failures, 10));
    return doubled.compareTo(MAX_DELAY) < 0 ? doubled : MAX_DELAY;
  }

  /**
   * Plays until the stream has ended; {@link #ended} says how. Throws where coming back is of no
   * use.
   */
  private void playOneStream() throws BotArenaException {
    int number = ++stream;
    outbox.clear();
    ended = null;
    heardNanos = System.nanoTime();
    session.streamOpened();
    outbox.add(hello());
    ManagedChannel channel = settings.address().channel();
    try {
      StreamObserver<Play.PlayRequest> requests =
          PlayService.play(authorized(channel), new Responses(number));
      do {
        while (!outbox.isEmpty()) {
          requests.onNext(nextFrame(outbox, frameBytes()));
        }
        work(
            System.nanoTime() + TimeUnit.SECONDS.toNanos(1),
            () -> !outbox.isEmpty() || ended != null || over());
        session.settle();
        if (System.nanoTime() - heardNanos > silence().toNanos()) {
          ended = Status.UNAVAILABLE.withDescription("the arena went silent");
        }
      } while (ended == null && !over());
    } finally {
      channel.shutdownNow();
    }
    judge();
  }

  /** Runs jobs until {@code stop} or the time has come. */
  private void work(long untilNanos, BooleanSupplier stop) throws BotArenaException {
    try {
      while (!stop.getAsBoolean()) {
        Job job = mailbox.poll(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (job == null) {
          return;
        }
        job.run();
        while ((job = mailbox.poll()) != null) { // what is ready goes out together
          job.run();
        }
      }
    } catch (InterruptedException unexpected) {
      Thread.currentThread().interrupt();
      exitCode = EXIT_INTERRUPTED;
    }
  }

  private void decided(GameWorker.Decided outcome) {
    if (settings.strict() && outcome.error().isPresent()) {
      exitCode = EXIT_STRICT;
      return;
    }
    session.decided(outcome);
  }

  private Duration silence() {
    Optional<Play.Limits> limits = session.welcome().map(Play.Welcome::getLimits);
    long pings = limits.map(Play.Limits::getPingIntervalMs).orElse(0) * (long) SILENT_PINGS;
    if (limits.isPresent() && pings == 0) {
      return Duration.ofDays(36500);
    }
    return pings > SILENCE.toMillis() ? Duration.ofMillis(pings) : SILENCE;
  }

  private int frameBytes() {
    int allowed =
        session.welcome().map(welcome -> welcome.getLimits().getMaxFrameBytes()).orElse(0);
    return allowed > 0 ? Math.min(FRAME_BYTES, allowed) : FRAME_BYTES;
  }

  /**
   * Takes as many events as fit into one frame, at least one; an annotation that fits into none is
   * left out.
   */
  static Play.PlayRequest nextFrame(Deque<BotEvent> outbox, int mostBytes) {
    final int overhead = 8;
    Play.PlayRequest.Builder frame = Play.PlayRequest.newBuilder();
    int size = 0;
    while (!outbox.isEmpty()) {
      BotEvent event = outbox.peek();
      if (event.getSerializedSize() + overhead > mostBytes && event.hasAct()) {
        LOG.warning("an annotation is too long for a frame and was left out");
        event = event.toBuilder().setAct(event.getAct().toBuilder().clearAnnotation()).build();
      }
      size += event.getSerializedSize() + overhead;
      if (frame.getEventsCount() > 0 && size > mostBytes) {
        break;
      }
      outbox.remove();
      frame.addEvents(event);
    }
    return frame.build();
  }

  private BotEvent hello() {
    Play.Hello.Builder hello =
        Play.Hello.newBuilder()
            .setBot(profile.name())
            .setVersion(profile.version())
            .setInstance(settings.instance())
            .setSdk("botarena-java/" + BotArena.VERSION)
            .setCredit(settings.credit())
            .setWants(profile.wants())
            .setProtocol(PROTOCOL)
            .setResumeSession(session.id());
    for (String game : profile.games()) {
      hello.addGames(Play.GameSupport.newBuilder().setGame(game).addAllPlayers(profile.players()));
    }
    return BotEvent.newBuilder().setHello(hello).build();
  }

  private Channel authorized(Channel channel) {
    if (settings.token().isEmpty()) {
      return channel;
    }
    Metadata metadata = new Metadata();
    metadata.put(AUTHORIZATION, "Bearer " + settings.token());
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  /** Throws the error that stops the process, if this end of a stream should. */
  private void judge() throws BotArenaException {
    if (ended == null || ended.isOk()) {
      return;
    }
    boolean settled =
        session.welcome().isPresent(); // a session that was good may be interrupted by anything
    switch (ended.getCode()) {
      case UNAUTHENTICATED ->
          throw refusal(
              BotArenaException.Kind.REFUSED,
              "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed");
      case PERMISSION_DENIED ->
          throw refusal(
              BotArenaException.Kind.REFUSED, "the token must be of the account that owns the bot");
      default -> {}
    }
    if (settled) {
      return;
    }
    switch (ended.getCode()) {
      case FAILED_PRECONDITION ->
          throw refusal(BotArenaException.Kind.VERSION_SKEW, "update the SDK");
      case NOT_FOUND ->
          throw refusal(
              BotArenaException.Kind.MISCONFIGURED,
              "check the names of the bot and its games; `arena games` lists them");
      case INVALID_ARGUMENT ->
          throw refusal(
              BotArenaException.Kind.MISCONFIGURED, "check the bot's name, version and games");
      case UNIMPLEMENTED ->
          throw refusal(
              BotArenaException.Kind.MISCONFIGURED, "what answers at this address is no arena");
      default -> {}
    }
  }

  private BotArenaException refusal(BotArenaException.Kind kind, String advice) {
    String said = problem().replaceAll("\\.+$", "");
    return new BotArenaException(kind, "the arena refused the bot: " + said + "; " + advice);
  }

  private String problem() {
    if (ended == null || ended.isOk()) {
      return "closed";
    }
    return ended.getDescription() != null
        ? ended.getDescription().lines().findFirst().orElse("")
        : ended.getCode().name();
  }

  /** Says once what is wrong. Throws when patience is over. */
  private void complain(int failures, long silentSince) throws BotArenaException {
    Address address = settings.address();
    Duration patience =
        settings.patience() != null
            ? settings.patience()
            : address.patience(!session.id().isEmpty());
    if (System.nanoTime() - silentSince > patience.toNanos()) {
      throw new BotArenaException(
          BotArenaException.Kind.UNREACHABLE,
          "no arena answers at "
              + address.text()
              + " ("
              + problem()
              + "): is it up, and is ARENA_ADDRESS right?");
    }
    if (session.reconnectWithin().isEmpty()) {
      LOG.log(
          failures > 0 ? Level.FINE : Level.WARNING,
          address.text() + ": " + problem() + "; trying again");
    }
  }

  /** Lets the bots hear the end of their games. */
  private int goodbye() {
    long deadline = System.nanoTime() + GOODBYE.toNanos();
    try {
      for (GameWorker worker : session.ending()) {
        worker.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      }
    } catch (InterruptedException unexpected) {
      return EXIT_INTERRUPTED;
    }
    return 0;
  }

  /**
   * Carries what gRPC's threads hear into the mailbox; what comes late from an older stream is
   * dropped.
   */
  private final class Responses implements StreamObserver<Play.PlayResponse> {
    private final int number;

    Responses(int number) {
      this.number = number;
    }

    @Override
    public void onNext(Play.PlayResponse frame) {
      post(
          () -> {
            heardNanos = System.nanoTime();
            for (Play.ArenaEvent event : frame.getEventsList()) {
              session.handle(event);
            }
          });
    }

    @Override
    public void onError(Throwable error) {
      post(() -> ended = Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      post(() -> ended = Status.OK);
    }

    private void post(Job job) {
      mailbox.add(
          () -> {
            if (number == stream && ended == null) {
              job.run();
            }
          });
    }
  }
}

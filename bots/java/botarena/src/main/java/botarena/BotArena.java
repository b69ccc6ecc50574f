package botarena;

import botarena.v1.Play;
import java.util.List;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import sun.misc.Signal;

/** Where a bot's program starts. */
public final class BotArena {
  /** Of this SDK. */
  public static final String VERSION = "0.1.0";

  private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";

  private BotArena() {}

  /** A bot for these games; none: for every game of the arena. */
  public static Profile bot(String... games) {
    // Events go over the wire only to bots that listen to them.
    Play.Wants wants = Play.Wants.newBuilder().setHistory(Play.Wants.History.HISTORY_NONE).build();
    return new Profile(List.of(games), List.of(), "", "1", wants);
  }

  /** Plays until told to stop; the exit code. */
  static int play(Profile profile, String[] args, Supplier<? extends Bot> bots) {
    if (System.getProperty(LOG_FORMAT) == null) {
      System.setProperty(LOG_FORMAT, "%1$tT %4$.1s %5$s%6$s%n");
    }
    Logger.getLogger("io.grpc")
        .setLevel(Level.OFF); // what a bot's author needs of it is said in one line
    try {
      Settings settings = Settings.parse(args, System.getenv());
      if (settings.help()) {
        System.out.println(Settings.HELP);
        return 0;
      }
      if (settings.name() != null) {
        profile = profile.name(settings.name());
      }
      Connection connection = new Connection(profile, bots, settings);
      for (String signal : List.of("INT", "TERM")) {
        Signal.handle(new Signal(signal), ignored -> connection.interrupt());
      }
      return connection.run();
    } catch (BotArenaException error) {
      System.err.println("botarena: " + error.getMessage());
      return error.kind().exitCode;
    }
  }
}

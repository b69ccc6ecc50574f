package botarena;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** How a process connects: from its arguments and the environment. */
record Settings(
    Address address,
    String token,
    String name,
    String instance,
    int credit,
    boolean strict,
    Duration patience,
    boolean help) {

  static final String HELP =
      """
      A bot for a Bot Arena.

        --address A      host:port or unix:path (default: ARENA_ADDRESS)
        --token T        the bot's token (default: ARENA_TOKEN, which nobody sees in ps)
        --name N         the bot's name, instead of the one in the program
        --instance I     tells several processes of one bot apart (default: ARENA_INSTANCE or 0)
        --credit N       how many games at once (default: 1)
        --strict         what a bot throws ends the process, not only the game
        --insecure       no TLS to an arena on another machine
        --ca FILE        TLS with this private CA, in PEM (default: ARENA_CA)
        --patience S     give up when no arena answers for so many seconds\
      """;

  private static final Set<String> VALUES =
      Set.of("--address", "--token", "--name", "--instance", "--credit", "--ca", "--patience");
  private static final Set<String> FLAGS = Set.of("--strict", "--insecure", "--help");

  static Settings parse(String[] args, Map<String, String> environment) throws BotArenaException {
    Map<String, String> values = new HashMap<>();
    Set<String> flags = new HashSet<>();
    for (int i = 0; i < args.length; i++) {
      if (FLAGS.contains(args[i])) {
        flags.add(args[i]);
      } else if (VALUES.contains(args[i]) && i + 1 < args.length) {
        values.put(args[i], args[++i]);
      } else {
        throw wrong("what is " + args[i] + "? --help lists the flags");
      }
    }
    if (flags.contains("--help")) {
      return new Settings(null, "", null, "", 1, false, null, true);
    }
    Address address =
        Address.parse(
            values.getOrDefault("--address", environment.getOrDefault("ARENA_ADDRESS", "")),
            flags.contains("--insecure"),
            values.getOrDefault("--ca", environment.getOrDefault("ARENA_CA", "")));
    String token = values.getOrDefault("--token", environment.getOrDefault("ARENA_TOKEN", ""));
    if (address.needsToken() && token.isEmpty()) {
      throw wrong(
          "no token: set ARENA_TOKEN or --token; `arena register` or `arena token create` makes"
              + " one");
    }
    int credit = number("--credit", values.getOrDefault("--credit", "1"));
    if (credit < 1) {
      throw wrong("--credit is the number of games at once, at least 1, not " + credit);
    }
    String patience = values.get("--patience");
    return new Settings(
        address,
        token,
        values.get("--name"),
        values.getOrDefault("--instance", environment.getOrDefault("ARENA_INSTANCE", "0")),
        credit,
        flags.contains("--strict"),
        patience == null ? null : Duration.ofSeconds(number("--patience", patience)),
        false);
  }

  private static int number(String flag, String text) throws BotArenaException {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException error) {
      throw wrong(flag + " takes a whole number, not " + text);
    }
  }

  private static BotArenaException wrong(String message) {
    return new BotArenaException(BotArenaException.Kind.MISCONFIGURED, message);
  }
}

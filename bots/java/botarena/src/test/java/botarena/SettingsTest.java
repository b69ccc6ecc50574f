package botarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a program is told, and what it says of what makes no sense. */
class SettingsTest {
  private static Settings parse(Map<String, String> environment, String... args)
      throws BotArenaException {
    return Settings.parse(args, environment);
  }

  @Test
  void tlsIsSpokenEverywhereButHere() throws BotArenaException {
    assertFalse(Address.parse("localhost:7700", false).tls());
    assertFalse(Address.parse("127.0.0.1:7700", false).tls());
    assertFalse(Address.parse("unix:/run/arena.sock", false).tls());
    assertTrue(Address.parse("arena.example:443", false).tls());
    assertFalse(Address.parse("arena.example:443", true).tls());
  }

  @Test
  void aSocketFileNeedsNoToken() throws BotArenaException {
    assertEquals("", parse(Map.of("ARENA_ADDRESS", "unix:/run/arena.sock")).token());
  }

  @Test
  void argumentsComeBeforeTheEnvironment() throws BotArenaException {
    Map<String, String> environment = Map.of("ARENA_ADDRESS", "localhost:1", "ARENA_TOKEN", "t");
    Settings settings = parse(environment, "--address", "localhost:2", "--credit", "4", "--strict");
    assertEquals("localhost:2", settings.address().text());
    assertEquals(4, settings.credit());
    assertTrue(settings.strict());
  }

  @ParameterizedTest
  @CsvSource({
    "'', no address",
    "--address nowhere, is no address",
    "--address localhost:7700, no token",
    "--address localhost:7700 --token t --credit 0, at least 1",
    "--address localhost:7700 --token t --credit many, whole number",
    "--what, --help lists",
  })
  void whatMakesNoSenseIsOneLineAndExitCode2(String args, String said) {
    String[] words = args.isEmpty() ? new String[0] : args.split(" ");
    BotArenaException wrong = assertThrows(BotArenaException.class, () -> parse(Map.of(), words));
    assertTrue(wrong.getMessage().contains(said), wrong.getMessage());
    assertEquals(2, wrong.kind().exitCode);
  }
}

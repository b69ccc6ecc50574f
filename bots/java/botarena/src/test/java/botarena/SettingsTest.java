package botarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a program is told, and what it says of what makes no sense. */
class SettingsTest {
  private static final String CA =
      """
      -----BEGIN CERTIFICATE-----
      MIIBcjCCARegAwIBAgIUXPea/jufAOh8REXJuXcvJBCJFtIwCgYIKoZIzj0EAwIw
      DTELMAkGA1UEAwwCY2EwIBcNMjYxMTMwMTAxMjEwWhgPMjEyNjExMDYxMDEyMTBa
      MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdjziafuL
      lR9G67+M7r3+kAIHOP4u3ugy7RbhOaSx6VG4DMAdBZpmiA9XhsD1dP8BLZWG/WMB
      an/4bv/ojkV4VKNTMFEwHQYDVR0OBBYEFGxRcz8sCP2aL/x8v4gzfHiN5FELMB8G
      A1UdIwQYMBaAFGxRcz8sCP2aL/x8v4gzfHiN5FELMA8GA1UdEwEB/wQFMAMBAf8w
      CgYIKoZIzj0EAwIDSQAwRgIhAJQJBXPz+ohPJ8JEhifBa5xFeHLKXshL6Dh6sGNU
      Eo0GAiEAl/HAQrugWdGQCZUbFi5JIplAvhrjSrSsWowT4ZT3doc=
      -----END CERTIFICATE-----
      """;

  private static Settings parse(Map<String, String> environment, String... args)
      throws BotArenaException {
    return Settings.parse(args, environment);
  }

  @Test
  void tlsIsSpokenEverywhereButHere() throws BotArenaException {
    assertFalse(Address.parse("localhost:7700", false, "").tls());
    assertFalse(Address.parse("127.0.0.1:7700", false, "").tls());
    assertFalse(Address.parse("unix:/run/arena.sock", false, "").tls());
    assertTrue(Address.parse("arena.example:443", false, "").tls());
    assertFalse(Address.parse("arena.example:443", true, "").tls());
  }

  @Test
  void withAPrivateCaTlsIsSpokenHereToo(@TempDir Path folder) throws Exception {
    Path ca = Files.writeString(folder.resolve("ca.pem"), CA);
    Map<String, String> environment =
        Map.of("ARENA_ADDRESS", "localhost:1", "ARENA_TOKEN", "t", "ARENA_CA", ca.toString());
    assertTrue(parse(environment).address().tls());
    assertFalse(parse(environment, "--ca", "").address().tls());
    assertFalse(parse(environment, "--address", "unix:/run/arena.sock").address().tls());
    assertRefused("choose one", environment, "--insecure");
    assertRefused("cannot read the CA", environment, "--ca", ca + ".none");
    for (String wrong : List.of("no certificate\n", CA.replace("MII", "AAA"))) {
      Files.writeString(ca, wrong);
      assertRefused("no certificate in PEM", environment);
    }
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
    assertRefused(said, Map.of(), words);
  }

  private static void assertRefused(String said, Map<String, String> environment, String... words) {
    BotArenaException wrong =
        assertThrows(BotArenaException.class, () -> parse(environment, words));
    assertTrue(wrong.getMessage().contains(said), wrong.getMessage());
    assertEquals(2, wrong.kind().exitCode);
  }
}

package botarena;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Where the arena is.
 *
 * @param text {@code host:port} or {@code unix:path}
 * @param credentials whether TLS is spoken there, and whom to trust
 */
record Address(String text, ChannelCredentials credentials) {
  private static final String UNIX = "unix:";
  private static final int MAX_MESSAGE_BYTES = 16 << 20;

  /**
   * TLS everywhere but on this machine, unless {@code insecure}; with a {@code ca}, the path of a
   * PEM file, there too.
   */
  static Address parse(String given, boolean insecure, String ca) throws BotArenaException {
    String text = given.strip();
    if (insecure && !ca.isEmpty()) {
      throw wrong("--insecure means no TLS and --ca means TLS: choose one");
    }
    if (text.isEmpty()) {
      throw wrong("no address: set ARENA_ADDRESS or --address, e.g. localhost:7700");
    }
    if (text.startsWith(UNIX)) {
      if (text.length() == UNIX.length()) {
        throw wrong("unix: needs the path of a socket, e.g. unix:/run/arena.sock");
      }
      return new Address(text, InsecureChannelCredentials.create());
    }
    int colon = text.lastIndexOf(':');
    if (colon < 1 || text.contains("/") || !isPort(text.substring(colon + 1))) {
      throw wrong(
          "'" + text + "' is no address: write host:port, e.g. localhost:7700, or unix:/path");
    }
    if (!ca.isEmpty()) {
      return new Address(text, trusting(ca));
    }
    boolean plain = insecure || isLoopback(text.substring(0, colon));
    return new Address(
        text, plain ? InsecureChannelCredentials.create() : TlsChannelCredentials.create());
  }

  private static ChannelCredentials trusting(String ca) throws BotArenaException {
    try {
      byte[] pem = Files.readAllBytes(Path.of(ca));
      // What gRPC cannot read it would only say when it connects.
      if (!new String(pem, StandardCharsets.ISO_8859_1).contains("-----BEGIN CERTIFICATE-----")) {
        throw new CertificateException();
      }
      CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
      return TlsChannelCredentials.newBuilder().trustManager(new ByteArrayInputStream(pem)).build();
    } catch (CertificateException error) {
      throw wrong("the CA " + ca + " holds no certificate in PEM");
    } catch (IOException | InvalidPathException error) {
      throw wrong("cannot read the CA " + ca + ": " + error);
    }
  }

  private static BotArenaException wrong(String message) {
    return new BotArenaException(BotArenaException.Kind.MISCONFIGURED, message);
  }

  private static boolean isPort(String text) {
    return text.matches("\\d{1,5}") && Integer.parseInt(text) > 0 && Integer.parseInt(text) < 65536;
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost")
        || host.equals("[::1]")
        || host.matches("127\\.\\d+\\.\\d+\\.\\d+");
  }

  /** Whether TLS is spoken there. */
  boolean tls() {
    return credentials instanceof TlsChannelCredentials;
  }

  /** Who can open a socket file has been let in by the file system. */
  boolean needsToken() {
    return !text.startsWith(UNIX);
  }

  /**
   * How long nothing may answer before the process gives up. A socket file belongs to a server on
   * this machine: where that is gone, its bots must not stay behind for ever.
   */
  Duration patience(boolean connectedBefore) {
    if (!connectedBefore) {
      return Duration.ofSeconds(30);
    }
    return text.startsWith(UNIX) ? Duration.ofSeconds(60) : Duration.ofDays(36500);
  }

  /** A new channel. */
  ManagedChannel channel() {
    return Grpc.newChannelBuilder(text, credentials)
        .maxInboundMessageSize(MAX_MESSAGE_BYTES)
        .keepAliveTime(30, TimeUnit.SECONDS)
        .disableRetry()
        .build();
  }
}

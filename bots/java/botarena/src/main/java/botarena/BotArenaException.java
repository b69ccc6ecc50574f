package botarena;

/**
 * Why the process cannot go on playing: one line for the author that says what to do, and its exit
 * code.
 */
public final class BotArenaException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Exit codes, the same for every SDK. */
  public enum Kind {
    /** An address, a token or an option is wrong, or the arena does not know the bot or a game. */
    MISCONFIGURED(2),
    /** The arena does not accept the token, or has revoked it. */
    REFUSED(3),
    /** This SDK and the arena speak different versions of the protocol. */
    VERSION_SKEW(4),
    /** A newer process connected as the same instance of the same bot. */
    REPLACED(5),
    /** Nothing answers at the address. */
    UNREACHABLE(6);

    /** The exit code of the process. */
    public final int exitCode;

    Kind(int exitCode) {
      this.exitCode = exitCode;
    }
  }

  private final Kind kind;

  BotArenaException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** What went wrong. */
  public Kind kind() {
    return kind;
  }
}

package botarena;

import botarena.v1.Play;
import com.google.protobuf.ByteString;
import java.util.Optional;

/**
 * How a game ended, and what proves it.
 *
 * @param match the game as it was announced, with the arena's promise about the deal and its first
 *     signature
 * @param ended the arena's word, with its second signature; empty if the game ended while this
 *     process was not connected (the arena's pages have the result)
 * @param arenaKey the Ed25519 key of both signatures
 */
public record Result(
    Play.MatchStarted match, Optional<Play.MatchEnded> ended, ByteString arenaKey) {
  /**
   * Whether the game has a result; else the arena failed and it is played again, or the result is
   * not known here.
   */
  public boolean finished() {
    return ended.map(end -> end.getEnd() == Play.MatchEnded.End.END_FINISHED).orElse(false);
  }

  /** Our place from 1, shared where players tie; 0 unless finished. */
  public int place() {
    return finished() ? ended.get().getPlaces(match.getSeat()) : 0;
  }

  /** Our points; 0 unless finished. */
  public int score() {
    return finished() ? ended.get().getScores(match.getSeat()) : 0;
  }
}

import botarena.Action;
import botarena.Answer;
import botarena.Bot;
import botarena.BotArena;
import botarena.Decision;
import botarena.games.balloon_challenge.v1.BalloonChallenge.Seat;
import botarena.games.balloon_challenge.v1.BalloonChallenge.View;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Plays Balloon Challenge from the typed messages: gets rid of high cards while others make the
 * balloon grow, and plans exactly what to keep once nobody does.
 */
final class BalloonChallengeBot implements Bot {
  /**
   * Cards below are of five colours with the values 0 to 7, those from here on black with 0 to 9.
   */
  private static final int BLACK = 40;

  private static final int VALUES = 8;

  /**
   * What the third card of a colour earns beside its value, so that of equal plays it is preferred.
   */
  private static final double CHIP = 5;

  public static void main(String[] args) {
    BotArena.bot("balloon-challenge").typedActions().run(args, BalloonChallengeBot::new);
  }

  @Override
  public Answer act(Decision decision) {
    View view = decision.view().getBalloonChallenge();
    return decision.legal().stream()
        .max(Comparator.comparingDouble(action -> worth(view, action)))
        .orElseThrow()
        .answer();
  }

  /** About how many points the round brings after an action. */
  static double worth(View view, Action action) {
    int company = company(view);
    if (action.typed().getBalloonChallenge().hasDrop()) {
      int volume = volume(view.getHandList());
      // With company the balloon goes on growing: a hand that is going to fit may stop here.
      return volume <= view.getSize() + company ? volume + (company > 0 ? 100 : 0) : 0;
    }
    int card = action.typed().getBalloonChallenge().getPlay().getCard();
    double extra = value(card) / 100.0 + (isThird(view, card) ? CHIP : 0);
    if (company > 0) {
      return value(card) + extra;
    }
    List<Integer> rest = view.getHandList().stream().filter(other -> other != card).toList();
    return bestAlone(rest, view.getSize() + 1) + extra;
  }

  /**
   * The most that can be kept of {@code hand}, if nobody else plays and each card that we play
   * makes one more fit.
   */
  static int bestAlone(List<Integer> hand, int size) {
    boolean[][] reachable =
        new boolean[hand.size() + 1][10 * hand.size() + 1]; // cards kept, their volume
    reachable[0][0] = true;
    for (int card : hand) {
      for (int kept = hand.size() - 1; kept >= 0; kept--) {
        for (int volume = reachable[0].length - 1 - value(card); volume >= 0; volume--) {
          reachable[kept + 1][volume + value(card)] |= reachable[kept][volume];
        }
      }
    }
    int best = 0;
    for (int kept = 0; kept <= hand.size(); kept++) {
      int room = size + hand.size() - kept;
      for (int volume = Math.min(room, reachable[0].length - 1); volume > best; volume--) {
        if (reachable[kept][volume]) {
          best = volume;
        }
      }
    }
    return best;
  }

  /** Opponents who are still in: each is likely to play another card. */
  private static int company(View view) {
    int others = 0;
    for (int seat = 0; seat < view.getSeatsCount(); seat++) {
      if (seat != view.getSeat()
          && !view.getSeats(seat).getOut()
          && view.getSeats(seat).getHandSize() > 1) {
        others++;
      }
    }
    return others;
  }

  /** Whether playing this card brings a chip: it would be the third of its colour on the table. */
  private static boolean isThird(View view, int card) {
    if (card >= BLACK || view.getPot() == 0) {
      return false;
    }
    Stream<Integer> table =
        Stream.concat(
            view.getRow0List().stream(),
            view.getSeatsList().stream().map(Seat::getRowList).flatMap(List::stream));
    return table.filter(other -> other < BLACK && other / VALUES == card / VALUES).count() == 2;
  }

  private static int volume(List<Integer> cards) {
    return cards.stream().mapToInt(BalloonChallengeBot::value).sum();
  }

  /** What a card adds to the volume of a hand. */
  static int value(int card) {
    return card >= BLACK ? card - BLACK : card % VALUES;
  }
}

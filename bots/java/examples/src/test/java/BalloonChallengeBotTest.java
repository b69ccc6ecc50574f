import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import botarena.Action;
import botarena.games.balloon_challenge.v1.BalloonChallenge;
import botarena.games.balloon_challenge.v1.BalloonChallenge.View;
import botarena.v1.Play;
import java.util.List;
import org.junit.jupiter.api.Test;

class BalloonChallengeBotTest {
  private static Action play(int card) {
    Play.TypedAction.Builder typed = Play.TypedAction.newBuilder();
    typed.getBalloonChallengeBuilder().getPlayBuilder().setCard(card);
    return new Action(card, "play", typed.build());
  }

  private static Action drop() {
    Play.TypedAction.Builder typed = Play.TypedAction.newBuilder();
    typed.getBalloonChallengeBuilder().setDrop(BalloonChallenge.Drop.getDefaultInstance());
    return new Action(50, "drop", typed.build());
  }

  @Test
  void alonePlaysWhatLetsTheMostFit() {
    // 7 + 5 do not fit into 4; without the 7 there is room for the 5.
    assertEquals(5, BalloonChallengeBot.bestAlone(List.of(7, 5), 4));
    assertEquals(12, BalloonChallengeBot.bestAlone(List.of(7, 5), 12));
    assertEquals(0, BalloonChallengeBot.bestAlone(List.of(), 3));
  }

  @Test
  void dropsOutWhereTheHandIsGoingToFit() {
    View.Builder view = View.newBuilder().setSeat(0).setPlayers(2).setSize(9).addHand(7).addHand(3);
    view.addSeatsBuilder().setHandSize(2);
    view.addSeatsBuilder().setHandSize(4);
    assertTrue(
        BalloonChallengeBot.worth(view.build(), drop())
            > BalloonChallengeBot.worth(view.build(), play(7)));
    view.setSize(3);
    assertTrue(
        BalloonChallengeBot.worth(view.build(), drop())
            < BalloonChallengeBot.worth(view.build(), play(7)));
  }
}

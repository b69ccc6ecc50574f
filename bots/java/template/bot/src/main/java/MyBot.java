import botarena.Answer;
import botarena.Bot;
import botarena.BotArena;
import botarena.Decision;

/**
 * {{name}}: a bot for {{game}}. Each game has an instance of its own, which may keep what it likes.
 */
final class MyBot implements Bot {
  public static void main(String[] args) {
    BotArena.bot("{{game}}").run(args, MyBot::new);
  }

  /**
   * Chooses one of the legal actions. So far at random: {@code decision.view()} is the position as
   * your seat knows it, {@code action.text()} what an action does, {@code decision.left()} your
   * time.
   */
  @Override
  public Answer act(Decision decision) {
    return decision.legal().get(decision.random().nextInt(decision.legal().size())).answer();
  }
}

package botarena;

import botarena.v1.Play;
import java.util.Optional;

/** What a bot answers: an action by its id or its text, and what it thinks of it. */
public final class Answer {
  private final Integer id;
  private final String text;
  private final Play.Annotation annotation;

  private Answer(Integer id, String text, Play.Annotation annotation) {
    this.id = id;
    this.text = text;
    this.annotation = annotation;
  }

  /** Plays the legal action of this id. */
  public static Answer id(int id) {
    return new Answer(id, null, null);
  }

  /** Plays the legal action of this text. */
  public static Answer text(String text) {
    return new Answer(null, text, null);
  }

  /** With a comment, which spectators see once the game is over. */
  public Answer comment(String comment) {
    return annotate(Play.Annotation.newBuilder().setComment(comment).build());
  }

  /** With all that can be said of a move; shown to nobody before the game is over. */
  public Answer annotate(Play.Annotation annotation) {
    return new Answer(id, text, annotation);
  }

  /**
   * The message for this answer. Throws IllegalArgumentException if it is not legal, saying what
   * would be.
   */
  Play.Act toAct(Decision decision) {
    Optional<Action> action = id != null ? decision.find(id) : decision.find(text.strip());
    if (action.isEmpty()) {
      Object given = id != null ? id : '"' + text + '"';
      throw new IllegalArgumentException(
          given
              + " is not legal; legal are: "
              + decision.legal().stream().map(Action::text).limit(12).toList());
    }
    Play.Act.Builder act = decision.act().setActionId(action.get().id());
    if (annotation != null) {
      act.setAnnotation(annotation);
    }
    return act.build();
  }
}

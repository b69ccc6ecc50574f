package botarena;

import botarena.v1.Play;

/**
 * One legal action.
 *
 * @param id unique within the game
 * @param text as people and records write it
 * @param typed the game's own message, if the bot asked for typed actions
 */
public record Action(int id, String text, Play.TypedAction typed) {
  /** The answer that plays this action. */
  public Answer answer() {
    return Answer.id(id);
  }
}

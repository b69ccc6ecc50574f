"""Balloon Challenge from typed messages: plays high cards until its hand fits into the balloon, then drops out.

Try it: arena match bots/python/examples/greedy_balloon.py random
"""

import botarena
from botarena.games.balloon_challenge.v1 import balloon_challenge_pb2 as balloon

BLACK = 40
"""Cards below are of five colours with the values 0 to 7, those from here on black with 0 to 9."""


def value(card: int) -> int:
    """What a card adds to the volume of a hand."""
    return card - BLACK if card >= BLACK else card % 8


@botarena.bot("balloon-challenge", typed_actions=True)
def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
    """Drops out as soon as that scores; else gets rid of as much as it can."""
    seen: balloon.View = view.typed
    volume = sum(value(card) for card in seen.hand)
    if volume <= seen.size:
        return "drop", f"{volume} fits into {seen.size}"
    plays = [action for action in legal if action.typed.HasField("play")]
    return max(plays, key=lambda action: value(action.typed.play.card))


if __name__ == "__main__":
    botarena.run(act)

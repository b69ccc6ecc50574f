"""OpenSpiel's search for games with hidden information, IS-MCTS, at any of our games.

    arena match "python -m bots.bridges.openspiel bots/bridges/samples/openspiel_bot.py" random --game pop

Its rollouts go through Python both ways, so it does not look far.
"""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

SIMULATIONS = 20


def make_bot(game: pyspiel.Game, player_id: int) -> pyspiel.Bot:
    """A bot for a seat. Any that OpenSpiel has will do that takes games written in Python."""
    rng = np.random.RandomState(player_id)
    return ismcts.ISMCTSBot(
        game=game,
        evaluator=mcts.RandomRolloutEvaluator(1, rng),
        uct_c=1.4,
        max_simulations=SIMULATIONS,
        random_state=rng,
    )

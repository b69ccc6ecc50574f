"""POP!: cards queue in five columns, equal colours that touch explode, and whoever sets them off pays for it."""

from engines.pop.actions import Chief, Deal, Draw, Play, PlayPair, Row
from engines.pop.rules import GAME, Pop, PopState
from engines.pop.view import PopView

__all__ = ["GAME", "Chief", "Deal", "Draw", "Play", "PlayPair", "Pop", "PopState", "PopView", "Row"]

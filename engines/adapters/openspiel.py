"""Every installed game as an OpenSpiel game. Needs the extra ``openspiel``; importing this module registers them.

    import pyspiel
    import engines.adapters.openspiel

    game = pyspiel.load_game("botarena_pop", {"players": 3, "rounds": 2})

``botarena_<name>`` is the sequential form: seats that decide at the same time do so one after the other, and none sees what those
before it chose. Games with such decisions also have ``botarena_<name>_simultaneous``, where they are one joint action.
Parameters are ``players`` and the game's options. Action ids are the engine's; chance outcomes are the engine's chance ids
counted from 0. Utilities are ``State.returns``: zero-sum, 0 before the end. Information states are strings: all that the
player has seen, then its view; observations are the view alone. There are no tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, ClassVar, Final

import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

from engines import registry
from engines.adapters.openspiel_position import Position
from engines.conformance import cases
from engines.game import Config, Game
from engines.playout import advance, random_step

PREFIX: Final = "botarena_"
SIMULTANEOUS: Final = "_simultaneous"


class SpielState(pyspiel.State):  # type: ignore[misc,unused-ignore]
    """A position in sequential form.

    OpenSpiel clones a state by a deep copy of its attributes and stores it by pickling them; ``position`` is the only
    one, and knows how to do both.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.position = game.opening

    def current_player(self) -> int:
        position = self.position
        if position.state.is_terminal:
            return int(pyspiel.PlayerId.TERMINAL)
        seat = position.to_move()
        return int(pyspiel.PlayerId.CHANCE) if seat is None else seat

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.position.state.legal(player))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        state = self.position.state
        outcomes, first = state.chance(), state.game.num_actions
        total = sum([weight for _, weight in outcomes])
        return [(event - first, weight / total) for event, weight in outcomes]

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.position.state.game
        return game.text(action + game.num_actions if player == pyspiel.PlayerId.CHANCE else action)

    def is_terminal(self) -> bool:
        return self.position.state.is_terminal

    def returns(self) -> list[float]:
        """Zeros before the end, as OpenSpiel wants them of games that reward only there."""
        state = self.position.state
        return list(state.returns()) if state.is_terminal else [0.0] * state.players

    def resample_from_infostate(self, player_id: int, probability_sampler: Any) -> SpielState:
        """A state drawn among those that the player cannot tell from this one. Its ``history()`` is empty."""
        seed = int(probability_sampler() * 2**53)
        world: SpielState = self.get_game().new_initial_state()
        world.position = self.position.resampled(player_id, Random(seed))  # noqa: S311 - not for secrets
        return world

    def __str__(self) -> str:
        return str(self.position)


class SimultaneousState(SpielState):
    """A position where a decision of all seats is one joint action; a decision of some is taken one after the other."""

    def current_player(self) -> int:
        state = self.position.state
        if len(state.actors()) == state.players:
            return int(pyspiel.PlayerId.SIMULTANEOUS)
        return super().current_player()

    def _apply_actions(self, actions: list[int]) -> None:
        self.position = self.position.after_all(actions)


class SpielGame(pyspiel.Game):  # type: ignore[misc,unused-ignore]
    """One of our games with its number of players and options fixed; a subclass for each registered name."""

    engine: ClassVar[Game]
    game_type: ClassVar[Any]

    def __init__(self, params: dict[str, Any]) -> None:
        game, game_type = self.engine, self.game_type
        options = dict(params)
        players = options.pop("players")
        self.opening = Position.opening(game.new_state(players, **options))
        self.max_events = game.max_events(players, self.opening.state.config)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=game.num_chance,
            num_players=players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.max_events,
        )
        super().__init__(game_type, info, params)
        self.simultaneous = game_type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS

    def new_initial_state(self) -> SpielState:
        return SimultaneousState(self) if self.simultaneous else SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.max_events

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return _loaded, (str(self),)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """An observer; None for private information alone or of all players, which our views do not tell apart."""
        if params:
            raise ValueError(f"observers of {self.get_type().short_name} take no parameters, not {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        private = pyspiel.PrivateInfoType
        if not kind.public_info or kind.private_info == private.ALL_PLAYERS:
            return None
        return Observer(kind.perfect_recall, public_only=kind.private_info == private.NONE)


class Observer:
    """Strings of what a player, or a spectator, knows. OpenSpiel expects the attributes ``tensor`` and ``dict``."""

    def __init__(self, perfect_recall: bool, public_only: bool) -> None:
        self.tensor = None
        self.dict: dict[str, Any] = {}
        self._perfect_recall = perfect_recall
        self._public_only = public_only

    def set_from(self, state: SpielState, player: int) -> None:
        """There is no tensor to fill."""

    def string_from(self, state: SpielState, player: int) -> str:
        seat = None if self._public_only else player
        position = state.position
        return position.knowledge(seat) if self._perfect_recall else position.observation(seat)


def _loaded(text: str) -> SpielGame:
    """Unpickles a game; being of this module, it has the games registered first."""
    game: SpielGame = pyspiel.load_game(text)
    return game


def short_name(name: str, simultaneous: bool = False) -> str:
    """What OpenSpiel calls our game ``name``."""
    return PREFIX + name.replace("-", "_") + (SIMULTANEOUS if simultaneous else "")


def _register(game: Game, players: int, config: Config, simultaneous: bool) -> str:
    dynamics = pyspiel.GameType.Dynamics
    name = short_name(game.name, simultaneous)
    game_type = pyspiel.GameType(
        short_name=name,
        long_name=game.title + (" (simultaneous)" if simultaneous else ""),
        dynamics=dynamics.SIMULTANEOUS if simultaneous else dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.max_players,
        min_num_players=game.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification={"players": players, **config},
    )
    # A class, as OpenSpiel's own games do: C++ lets go of it after the interpreter is gone, which a function does not survive.
    pyspiel.register_game(game_type, type(name, (SpielGame,), {"engine": game, "game_type": game_type}))
    return name


def _joint_config(game: Game) -> Config | None:
    """A configuration in which all seats decide at once somewhere, the default if it will do; None if there is none."""
    for case in cases(game):
        rng, state = case.rng("openspiel"), case.new_state()
        while not state.is_terminal:
            if len(state.actors()) == state.players:
                return state.config
            state = advance(state, random_step(state, rng))
    return None


def _register_all() -> tuple[str, ...]:
    registered = []
    for game in map(registry.get, registry.names()):
        registered.append(_register(game, game.min_players, game.complete_config(game.min_players, {}), False))
        joint = _joint_config(game)
        if joint is not None:
            registered.append(_register(game, game.min_players, joint, True))
    return tuple(registered)


NAMES: Final = _register_all()
"""Short names of what was registered."""

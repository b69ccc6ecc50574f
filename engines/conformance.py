"""The kit that every game passes, ours or a stranger's.

    from engines.conformance import CHECKS, Case, check_game

    check_game(engines.get("my-game"))              # everything, at each number of players and with each option; or:
    for check in CHECKS:
        check(Case(game, players=3, config={"bonus": True}))

Each check plays seeded random games and raises :class:`Violation`, an AssertionError that says what is wrong where.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, Final, TypeAlias, cast

from engines.game import BadConfig, Config, Game, GameError, IllegalAction, MalformedAction, State, View
from engines.playout import Step, advance, choose, events, random_step


class Violation(AssertionError):
    """A game breaks the contract of ``engines.game``."""


@dataclass(frozen=True)
class Case:
    """What to check: a game, a number of players, options that differ from the default, and how many random games."""

    game: Game
    players: int
    config: Config = field(default_factory=dict)
    seed: int = 0
    playouts: int = 2

    def __str__(self) -> str:
        options = "".join(f" {key}={value}" for key, value in self.config.items())
        return f"{self.game.name} {self.players}p{options}"

    def new_state(self) -> State:
        return self.game.new_state(self.players, **self.config)

    def rng(self, purpose: str) -> Random:
        """A generator of the case's own for each purpose."""
        return Random(f"{self} {purpose} {self.seed}")  # noqa: S311 - reproducible on purpose

    def observers(self) -> tuple[int | None, ...]:
        return (None, *range(self.players))

    def games(self) -> Iterator[list[Step]]:
        """The steps of each random game."""
        rng = self.rng("games")
        for _ in range(self.playouts):
            yield self.play_out(self.new_state(), rng)[1]

    def play_out(self, state: State, rng: Random) -> tuple[State, list[Step]]:
        """A random game that goes on from ``state``: its end, and the steps to it. Raises Violation beyond max_events."""
        bound, played = self.game.max_events(self.players, state.config), 0
        steps: list[Step] = []
        while not state.is_terminal:
            try:
                step = random_step(state, rng)
                state = advance(state, step)
            except (ValueError, LookupError) as error:
                raise Violation(f"a state must take what it offers: {error}\n{state.render(None)}") from error
            steps.append(step)
            played += events(step)
            require(played <= bound, f"a game must end within max_events, which is {bound}")
        return state, steps

    def positions(self, every: int = 1) -> Iterator[tuple[State, Step | None]]:
        """Each position of each random game with the step that follows, the end (None) included; or a sample of them.

        With ``every`` > 1 about one in so many is taken, at random, so that no rhythm of the game hides a position.
        """
        rng = self.rng(f"positions {every}")
        for steps in self.games():
            state = self.new_state()
            for step in steps:
                if rng.random() * every < 1:
                    yield state, step
                state = advance(state, step)
            yield state, None


def require(holds: bool, what: str, *details: object) -> None:
    """Raises Violation unless ``holds``."""
    if not holds:
        raise Violation(what + "".join(f"\n  {detail!s:.2000}" for detail in details))


def refuses(error: type[GameError], what: str, call: Callable[[], object]) -> None:
    """Raises Violation unless ``call`` raises ``error``."""
    try:
        result = call()
    except error:
        return
    except Exception as other:
        raise Violation(f"{what} must raise {error.__name__}, not {type(other).__name__}: {other}") from other
    raise Violation(f"{what} must raise {error.__name__}, not return {result!s:.200}")


# --- what needs no position


def check_ids(case: Case) -> None:
    """Texts are unique and parse back; typed forms are frozen, hashable, unique; anything else is malformed."""
    game = case.game
    ids = range(game.num_actions + game.num_chance)
    texts = [game.text(event) for event in ids]
    require(len(set(texts)) == len(texts), "texts must be unique")
    require([game.parse(text) for text in texts] == list(ids), "parse must be the inverse of text")
    require(all(text and text == text.strip() and text.isprintable() for text in texts), "texts must be plain")
    typed = [game.typed(event) for event in ids]
    require(len(set(typed)) == len(typed), "typed forms must be unique and hashable")
    for kind in set(map(type, typed)):
        frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined] # not in typeshed
        require(frozen, "a typed form must be a frozen dataclass", kind)
    for event in (-1, len(ids), 10**9):
        refuses(MalformedAction, f"text({event})", partial(game.text, event))
        refuses(MalformedAction, f"typed({event})", partial(game.typed, event))
    for text in {"", " ", "nonsense", "\0", "é", *_misspelt(texts)}.difference(texts):
        refuses(MalformedAction, f"parse({text!r})", partial(game.parse, text))
    for other in (None, 7, 1.5, ["play"]):  # what a caller may have from JSON
        refuses(MalformedAction, f"parse({other!r})", partial(game.parse, cast(str, other)))


def _misspelt(texts: Sequence[str]) -> Iterator[str]:
    for text in texts[:: max(1, len(texts) // 50)]:
        yield from (f" {text}", f"{text} ", f"{text}x", text.swapcase(), text[:-1], text.replace(" ", "  "))


def check_config(case: Case) -> None:
    """Numbers of players and options that the game does not have are refused; a state's config is complete."""
    game, state = case.game, case.new_state()
    require(state.game is game, "state.game must be the game itself")
    require(state.players == case.players, "state.players must be as asked for")
    require(dict(state.config) == game.complete_config(case.players, case.config), "state.config must be complete")
    odd_players: tuple[Any, ...] = (game.min_players - 1, game.max_players + 1, True, "2")
    for players in odd_players:
        refuses(BadConfig, f"new_state({players!r})", partial(game.new_state, players))
    refuses(BadConfig, "an unknown option", partial(game.new_state, case.players, no_such_option=1))
    for key, option in game.options.items():
        is_bool = isinstance(option.default, bool)
        odd: tuple[Any, ...] = (2, "1", None) if is_bool else (option.low - 1, option.high + 1, True)
        for value in odd:
            refuses(BadConfig, f"{key}={value!r}", partial(game.new_state, case.players, **{key: value}))


# --- what every position keeps


def check_positions(case: Case) -> None:
    """The game's invariants hold; one of end, chance and decision is due; ids, weights, timers, scores are in form."""
    for state, _ in case.positions():
        case.game.check_invariants(state)
        due = (state.is_terminal, bool(state.chance()), bool(state.actors()))
        require(sum(due) == 1, "exactly one of end, chance and decision must be due", due, state.render(None))
        for nobody in (-1, case.players):
            require(state.legal(nobody) == (), f"legal({nobody}) must be empty: there is no such seat")
        _check_chance(case, state)
        _check_decisions(case, state)
        _check_result(case, state)


def _check_chance(case: Case, state: State) -> None:
    low = case.game.num_actions
    outcomes = state.chance()
    ids = [outcome for outcome, _ in outcomes]
    require(ids == sorted(set(ids)), "chance ids must ascend", ids)
    require(all(low <= outcome < low + case.game.num_chance for outcome in ids), "chance ids must be in range", ids)
    require(all(type(weight) is int and weight >= 1 for _, weight in outcomes), "weights are ints from 1", outcomes)


def _check_decisions(case: Case, state: State) -> None:
    actors = state.actors()
    require(list(actors) == sorted(set(actors)), "actors must ascend", actors)
    require(all(0 <= seat < case.players for seat in actors), "actors must be seats", actors)
    for seat in range(case.players):
        legal, timer = state.legal(seat), state.timer_ms(seat)
        require(bool(legal) == (seat in actors), f"legal({seat}) is for who decides, and nobody else", actors, legal)
        require(list(legal) == sorted(set(legal)), "legal ids must ascend", legal)
        require(all(0 <= action < case.game.num_actions for action in legal), "legal ids must be in range", legal)
        require(timer is None or (seat in actors and timer > 0), f"timer_ms({seat}) must be positive or None", timer)
        if seat in actors:
            require(state.default_action(seat) in legal, f"default_action({seat}) must be legal")
            _check_timeout(state, seat)


def _check_timeout(state: State, seat: int) -> None:
    timeout = state.timeout_action(seat)
    require((timeout is None) == (state.timer_ms(seat) is None), "timeout_action must go with timer_ms", timeout)
    if timeout is not None:
        require(timeout not in state.legal(seat), "the timeout action must not be legal for a bot", timeout)
        advance(state, {**{other: state.default_action(other) for other in state.actors()}, seat: timeout})


def _check_result(case: Case, state: State) -> None:
    scores, places, returns = state.scores(), state.placements(), state.returns()
    require(len(scores) == case.players and all(type(score) is int for score in scores), "a score a seat", scores)
    require(len(places) == case.players, "a place a seat", places)
    require(places == tuple(1 + sum(q < p for q in places) for p in places), "placements are as 1, 1, 3", places)
    require(all(-1 <= value <= 1 for value in returns) and abs(sum(returns)) < 1e-9, "returns sum to zero", returns)
    if state.is_terminal:
        pairs = list(combinations(zip(scores, places, strict=True), 2))
        uneven = [((a > b), (p < q)) for (a, p), (b, q) in pairs if a != b]
        ordered = all(better == first for better, first in uneven) or all(better != first for better, first in uneven)
        require(ordered and all(p != q for (a, p), (b, q) in pairs if a != b), "places go by score", scores, places)


def check_bound(case: Case) -> None:
    """Games end, within max_events."""
    for steps in case.games():
        require(bool(steps), "a game must begin before it ends")


# --- determinism


def check_replay(case: Case) -> None:
    """The same steps lead to the same states, whatever the order of seats in a joint decision."""
    for steps in case.games():
        one, two = case.new_state(), case.new_state()
        for step in steps:
            one = advance(one, step)
            two = advance(two, step if isinstance(step, int) else dict(reversed(list(step.items()))))
            require(_whole(one) == _whole(two), "replaying must give the same states")


def check_immutable(case: Case) -> None:
    """Applying, resampling and asking leave a state as it was."""
    rng = case.rng("immutable")
    for state, step in case.positions(every=3):
        before = _whole(state)
        for other in [] if step is None else [step, random_step(state, rng), random_step(state, rng)]:
            advance(state, other)
        state.resample(rng.randrange(case.players), rng)
        require(_whole(state) == before, "a state must stay as it was", before, _whole(state))


def check_json(case: Case) -> None:
    """A state that went through JSON is the same, and a game goes on from it as before."""
    rng = case.rng("json")
    for steps in case.games():
        state = restored = case.new_state()
        for step in (*steps, None):
            if rng.random() < 0.2 or step is None:
                doc = state.to_json()
                _check_plain(doc)
                restored = case.game.from_json(json.loads(json.dumps(doc)))
                case.game.check_invariants(restored)
                require(dict(restored.config) == dict(state.config), "JSON must keep the config")
            require(_whole(restored) == _whole(state), "JSON must keep the state", state.to_json(), restored.to_json())
            views = [[one.view(seat) for seat in case.observers()] for one in (state, restored)]
            require(views[0] == views[1], "JSON must keep every view", *views)
            if step is not None:
                state, restored = advance(state, step), advance(restored, step)


def _whole(state: State) -> tuple[Any, ...]:
    """All that a state says."""
    legal = tuple(state.legal(seat) for seat in range(state.players))
    return json.dumps(state.to_json()), state.is_terminal, state.chance(), state.actors(), legal, state.scores()


def _check_plain(doc: Any) -> None:
    if isinstance(doc, dict):
        require(all(type(key) is str for key in doc), "JSON keys must be strings", doc)
        doc = list(doc.values())
    if isinstance(doc, list):
        for item in doc:
            _check_plain(item)
    else:
        require(doc is None or type(doc) in (str, int, bool), "JSON holds no floats and no types of its own", repr(doc))


# --- what is refused


def check_refusals(case: Case) -> None:
    """What the rules do not allow is illegal, what names no action is malformed, and nothing is guessed."""
    rng = case.rng("refusals")
    for state, _ in case.positions(every=3):
        if state.actors():
            _check_refused_decisions(case, state, rng)
        else:
            refuses(IllegalAction, "a decision that nobody has", partial(state.apply, {0: 0}))
            refuses(IllegalAction, "an empty decision", partial(state.apply, {}))
        _check_refused_chance(case, state, rng)


def _check_refused_decisions(case: Case, state: State, rng: Random) -> None:
    game, actors = case.game, state.actors()
    joint = {seat: choose(state.legal(seat), rng) for seat in actors}
    seat = rng.choice(actors)
    allowed = {*state.legal(seat), state.timeout_action(seat)}
    near = {action + step for action in state.legal(seat)[:3] for step in (-1, 1)}
    for action in sorted({0, game.num_actions - 1, *near, *(rng.randrange(game.num_actions) for _ in range(4))}):
        if 0 <= action < game.num_actions and action not in allowed:
            what = f"{game.text(action)!r} of seat {seat}, which is not legal,"
            refuses(IllegalAction, what, partial(state.apply, {**joint, seat: action}))
    for action in (-1, game.num_actions, game.num_actions + game.num_chance):
        refuses(MalformedAction, f"action {action}", partial(state.apply, {**joint, seat: action}))
    refuses(IllegalAction, "a missing seat", partial(state.apply, {s: a for s, a in joint.items() if s != seat}))
    for extra in {*range(case.players + 1), -1}.difference(actors):
        refuses(IllegalAction, f"a decision of seat {extra}", partial(state.apply, {**joint, extra: joint[seat]}))


def _check_refused_chance(case: Case, state: State, rng: Random) -> None:
    low, count = case.game.num_actions, case.game.num_chance
    due = {outcome for outcome, _ in state.chance()}
    for outcome in {low, low + count - 1, *(low + rng.randrange(count) for _ in range(4))} - due:
        refuses(IllegalAction, f"chance {outcome}, which is not due,", partial(state.apply_chance, outcome))
    for outcome in (-1, 0, low + count):
        refuses(GameError, f"chance {outcome}, which is none,", partial(state.apply_chance, outcome))


# --- who knows what


def check_views(case: Case) -> None:
    """Views are hashable, hold plain values and survive JSON; an info key is equal exactly where the views are."""
    keys: dict[View, str] = {}
    for state, _ in case.positions(every=3):
        for seat in case.observers():
            view, key = state.view(seat), state.info_key(seat)
            require(getattr(view, "seat", "missing") == seat, "a view must say whose it is", view)
            require(keys.setdefault(view, key) == key, "equal views must have equal info keys", view)
            doc = view.to_json()
            _check_plain(doc)
            back = case.game.view_from_json(json.loads(json.dumps(doc)))
            require(back == view and hash(back) == hash(view), "view_from_json must be the inverse", view, back)
    require(len(set(keys.values())) == len(keys), "different views must have different info keys")


def check_hidden_events(case: Case) -> None:
    """An event that an observer may not see tells it nothing but its first word; a seat sees its own actions.

    This finds views that leak: it brings about another hidden event than the one that happened, and compares.
    """
    rng = case.rng("hidden")
    for state, step in case.positions(every=2):
        for observer in case.observers():
            if isinstance(step, int):
                _require_same(state, observer, step, _other_hidden(state, rng, observer, None, step))
            elif step is not None:
                for seat, action in step.items():
                    require(seat != observer or state.sees(observer, seat, action), "a seat sees its own actions")
                    other = _other_hidden(state, rng, observer, seat, action)
                    _require_same(state, observer, step, {**step, seat: other})


def _other_hidden(state: State, rng: Random, observer: int | None, actor: int | None, event: int) -> int:
    """An event that ``observer`` cannot tell from ``event``, brought about by ``actor``: itself if it is seen."""
    if state.sees(observer, actor, event):
        return event
    possible = [outcome for outcome, _ in state.chance()] if actor is None else state.legal(actor)
    hidden = [other for other in possible if not state.sees(observer, actor, other)]
    words = {state.game.text(other).split()[0] for other in hidden}
    require(len(words) == 1, "texts of hidden events must begin with one word, or it tells them apart", words)
    return rng.choice(hidden)


def _require_same(state: State, observer: int | None, step: Step, other: Step) -> None:
    if other != step:
        one, two = _knowledge(advance(state, step), observer), _knowledge(advance(state, other), observer)
        require(one == two, f"observer {observer} must not learn from an event that it does not see", *_diff(one, two))


def check_resampling(case: Case) -> None:
    """Worlds drawn for a seat look the same to it, and the same to a spectator; so do worlds drawn from those."""
    rng = case.rng("resampling")
    for state, _ in case.positions(every=8):
        refuses(GameError, "determinize(view(SPECTATOR))", partial(case.game.determinize, state.view(None), rng))
        public = _knowledge(state, None)
        for first in range(case.players):
            world = state.resample(first, rng)
            for seat, before, after in ((first, state, world), (rng.randrange(case.players), world, None)):
                drawn = after or before.resample(seat, rng)
                one, two = _knowledge(before, seat), _knowledge(drawn, seat)
                require(one == two, f"a world drawn for seat {seat} must look the same to it", *_diff(one, two))
                two = _knowledge(drawn, None)
                require(public == two, f"a world drawn for seat {seat} must look the same to all", *_diff(public, two))
                case.game.check_invariants(drawn)
                require(dict(drawn.config) == dict(state.config), "a drawn world must have the same config")


def check_worlds_play(case: Case) -> None:
    """Every world drawn for a seat can be played to the end, with the bound and the invariants kept."""
    rng = case.rng("worlds")
    for state, _ in case.positions(every=20):
        for seat in range(case.players):
            end, _ = case.play_out(state.resample(seat, rng), rng)
            case.game.check_invariants(end)
            _check_result(case, end)


def _knowledge(state: State, observer: int | None) -> dict[str, object]:
    """All that ``observer`` is told about a position."""
    known: dict[str, object] = {
        "view": state.view(observer),
        "info key": state.info_key(observer),
        "render": state.render(observer),
        "due": (state.is_terminal, bool(state.chance()), state.actors()),
        "scores": state.scores(),
        "placements": state.placements(),
    }
    if observer in state.actors():
        known["legal"] = state.legal(observer)
        known["default"] = state.default_action(observer)
        known["timer"] = (state.timer_ms(observer), state.timeout_action(observer))
    return known


def _diff(one: dict[str, object], two: dict[str, object]) -> Iterator[str]:
    for key, value in one.items():
        if value != two.get(key):
            yield f"{key}: {value!s}"
            yield f"{key}: {two.get(key)!s}"


Check: TypeAlias = Callable[[Case], None]
CHECKS: Final[tuple[Check, ...]] = (
    check_ids,
    check_config,
    check_bound,
    check_positions,
    check_replay,
    check_immutable,
    check_json,
    check_refusals,
    check_views,
    check_hidden_events,
    check_resampling,
    check_worlds_play,
)


def cases(game: Game) -> Iterator[Case]:
    """The game at each number of players, with its defaults and with each option changed, one at a time."""
    for players in range(game.min_players, game.max_players + 1):
        yield Case(game, players)
        for key, option in game.options.items():
            if isinstance(option.default, bool):
                yield Case(game, players, {key: not option.default})
            else:
                edge = option.low if option.low != option.default else option.high
                yield Case(game, players, {key: edge})


def check_game(game: Game, players: int | None = None) -> None:
    """All checks at all of :func:`cases`, or those with so many ``players``. Raises Violation."""
    for case in cases(game):
        for check in CHECKS if players in (None, case.players) else ():
            try:
                check(case)
            except Violation as violation:
                raise Violation(f"{case}: {check.__name__}: {violation}") from violation

"""Swiss: who has as many points meets, nobody twice; paired by the Dutch system of py4swiss.

A set seats both ways, so that a colour says no more than who begins its first game. The Dutch system still balances them;
a set that is won, drawn or lost is a point, a half or none for it. It may take seconds for hundreds: call
:meth:`Swiss.next_pairings` in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from arena.tournaments.formats.event import Event, Pairing, Result

Colour: TypeAlias = Literal["white", "black"]
WIN, DRAW, LOSS = 1.0, 0.5, 0.0


@dataclass(frozen=True, slots=True)
class Round:
    """What somebody did in a round: against whom (a number from 1; 0: nobody) as which colour, for how many points.

    ``kind``: a game that was ``played``, a pairing to which one or both did not come (``forfeit``), the ``bye`` that
    the pairing gave, or ``absent``: not in this round's pairing at all.
    """

    kind: Literal["played", "forfeit", "bye", "absent"]
    points: float = LOSS
    opponent: int = 0
    colour: Colour | None = None


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody to be paired, with all rounds so far. ``number`` from 1 orders those of equal points, best first."""

    number: int
    rounds: tuple[Round, ...] = field(default=())
    active: bool = True


class Unpairable(ValueError):
    """Everybody who could meet has met."""


def dutch(players: Iterable[Player], rounds: int) -> tuple[tuple[int, int | None], ...]:
    """The next round's pairs (white, black) of player numbers, best table first; None: a bye. Raises Unpairable."""
    from py4swiss.engines import DutchEngine  # noqa: PLC0415 - slow to import, and needed for Swiss alone
    from py4swiss.engines.common import PairingError  # noqa: PLC0415
    from py4swiss.trf import ParsedTrf  # noqa: PLC0415
    from py4swiss.trf.codes import PlayerCode  # noqa: PLC0415
    from py4swiss.trf.results import ColorToken, ResultToken, RoundResult  # noqa: PLC0415
    from py4swiss.trf.sections import PlayerSection, XSection  # noqa: PLC0415

    colours = {"white": ColorToken.WHITE, "black": ColorToken.BLACK, None: ColorToken.BYE_OR_NOT_PAIRED}
    tokens = {
        "played": {WIN: ResultToken.WIN, DRAW: ResultToken.DRAW, LOSS: ResultToken.LOSS},
        "forfeit": {WIN: ResultToken.FORFEIT_WIN, LOSS: ResultToken.FORFEIT_LOSS},
        "bye": {WIN: ResultToken.PAIRING_ALLOCATED_BYE},
        "absent": {LOSS: ResultToken.ZERO_POINT_BYE},
    }
    field_ = sorted(players, key=lambda player: player.number)
    sections = [
        PlayerSection(
            code=PlayerCode.PLAYER,
            starting_number=player.number,
            rank=player.number,
            points_times_ten=round(10 * sum(one.points for one in player.rounds)),
            results=[
                RoundResult(id=one.opponent, color=colours[one.colour], result=tokens[one.kind][one.points])
                for one in player.rounds
            ],
        )
        for player in field_
    ]
    absent = {player.number for player in field_ if not player.active}
    try:
        found = DutchEngine.generate_pairings(
            ParsedTrf(player_sections=sections, x_section=XSection(number_of_rounds=rounds, zeroed_ids=absent))
        )
    except PairingError as error:
        raise Unpairable("there is no pairing without a repeat") from error
    return tuple((pair.white, pair.black or None) for pair in found)


@dataclass(frozen=True, slots=True)
class Swiss:
    """``length`` rounds. Each round waits for the one before. Late entries join the next round with no points.

    If all pairings would repeat one, as when many withdraw, the event ends with the rounds that were played.
    """

    length: int
    late_entries: bool = True

    def rounds(self, entrants: int) -> int:
        if entrants < 2 or self.length > entrants - 1 + entrants % 2:
            raise ValueError(f"{entrants} entrants cannot play {self.length} rounds without meeting twice")
        return self.length

    def next_pairings(self, event: Event) -> tuple[Pairing, ...]:
        number = event.last_round + 1
        if event.open or number > self.length or len(event.active(number)) < 2:
            return ()
        try:
            pairs = dutch(history(event), self.length)
        except Unpairable:
            return ()
        by_seed = {entrant.seed: entrant.name for entrant in event.entrants}
        return tuple(
            Pairing(f"r{number}.{board}", number, tuple(by_seed[one] for one in pair if one is not None))
            for board, pair in enumerate(pairs, 1)
        )


def history(event: Event) -> tuple[Player, ...]:
    """The field as the Dutch system sees it before the next round."""
    rounds: dict[str, list[Round]] = {entrant.name: [] for entrant in event.entrants}
    by_round: dict[int, list[tuple[Pairing, Result]]] = {}
    for pairing, result in event.finished():
        by_round.setdefault(pairing.round, []).append((pairing, result))
    for number in range(1, event.last_round + 1):
        here = {
            name: one for pairing, result in by_round.get(number, ()) for name, one in _rounds(event, pairing, result)
        }
        for name, played in rounds.items():
            played.append(here.get(name, Round("absent")))
    active = {entrant.name for entrant in event.active(event.last_round + 1)}
    return tuple(
        Player(entrant.seed, tuple(rounds[entrant.name]), entrant.name in active) for entrant in event.entrants
    )


def match_points(scores: tuple[float, ...], player: int) -> float:
    """What a pairing of two is worth for one of them: it was won, drawn or lost."""
    mine, other = scores[player], scores[1 - player]
    return WIN if mine > other else DRAW if mine == other else LOSS


def _rounds(event: Event, pairing: Pairing, result: Result) -> Iterable[tuple[str, Round]]:
    if pairing.bye:
        present = not result.absent
        yield pairing.players[0], Round("bye", WIN) if present else Round("absent")
        return
    for player, colour in enumerate[Colour](("white", "black")):
        name, other = pairing.players[player], pairing.players[1 - player]
        opponent = event.by_name[other].seed
        if result.absent:
            yield name, Round("forfeit", LOSS if name in result.absent else WIN, opponent, colour)
        else:
            yield name, Round("played", match_points(result.scores, player), opponent, colour)

"""``arena games``: what can be played."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markdown import Markdown
from rich.table import Table

import engines
from arena.cli.common import JsonFlag, console, find_game, print_json
from arena.match.deal import rules_hash


def add_to(app: typer.Typer) -> None:
    app.command()(games)


def games(
    name: Annotated[str | None, typer.Argument(help="A game, to read its rules.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Lists the installed games, or shows the rules of one."""
    if name is not None:
        game = find_game(name)
        if as_json:
            print_json(describe(game) | {"rules": game.summary})
        else:
            console.print(Markdown(game.summary))
        return
    found = [engines.get(each) for each in engines.names()]
    if as_json:
        print_json([describe(game) for game in found])
        return
    table = Table("game", "title", "players", "rules", "options")
    for game in found:
        options = "\n".join(f"{key} = {option.default}: {option.help}" for key, option in game.options.items())
        table.add_row(
            game.name, game.title, f"{game.min_players}-{game.max_players}", f"v{game.rules_version}", options
        )
    console.print(table)


def describe(game: engines.Game) -> dict[str, Any]:
    """A game as JSON."""
    return {
        "name": game.name,
        "title": game.title,
        "rules_version": game.rules_version,
        "rules_hash": rules_hash(game).hex(),
        "min_players": game.min_players,
        "max_players": game.max_players,
        "num_actions": game.num_actions,
        "num_chance": game.num_chance,
        "options": {
            key: {"default": option.default, "help": option.help}
            | ({} if isinstance(option.default, bool) else {"low": option.low, "high": option.high})
            for key, option in game.options.items()
        },
    }

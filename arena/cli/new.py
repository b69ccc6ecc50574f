"""``arena new``: a project in which to write a bot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena import kits
from arena.cli.common import console, find_game
from arena.errors import UserError
from bots.house import catalogue

LanguageOption = Annotated[
    str, typer.Option("--lang", "-l", help=f"One of {', '.join(kits.languages())}.", show_default=True)
]
GameOption = Annotated[str, typer.Option("--game", "-g", help="What it is to play; `arena games` lists the games.")]


def add_to(app: typer.Typer) -> None:
    app.command()(new)


def new(
    name: Annotated[str, typer.Argument(help="The bot's name, and its folder's.")],
    lang: LanguageOption = "python",
    game: GameOption = "balloon-challenge",
) -> None:
    """Makes a project for a bot that plays at once, and says how to go on."""
    rules = find_game(game)
    kit = kits.load(lang)
    kits.check_name(name)
    if catalogue.is_house(name):
        raise UserError(f"the name {name!r} belongs to a house bot")
    if missing := kit.missing_tools():
        raise UserError(f"a bot in {kit.title} needs {'; '.join(missing)}")
    kits.make_project(kit, Path(name), rules.name)
    opponents = " ".join(["random"] * (rules.min_players - 1))
    build = "".join(f"    {command}\n" for command in kit.build)
    text = f"""\
{name}/ holds a bot in {kit.title} that plays {rules.name}. To let it play here:

    cd {name}
{build}    arena match {kit.program} {opponents} --game {rules.name} --games 10

The same program on an arena (`arena up` runs one):

    arena register YOUR_NAME {name}
    export ARENA_ADDRESS=localhost:7700 ARENA_TOKEN=what-register-printed
    {kit.run}

{name}/README.md says what is where. `arena conformance -- {kit.run}` tries what may happen to it."""
    console.print(kits.fill_in(text, name, rules.name), markup=False, highlight=False, soft_wrap=True)

"""``arena bot``: further bots of your account, and the versions of your bots: listed, retired, restored, rolled back to."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from arena.cli.common import JsonFlag, console, print_json
from arena.cli.dial import CALL_TIMEOUT_S, DEFAULT_ADDRESS, Address, bearer, call, dial
from botarena.v1 import bot_service_pb2 as pb
from botarena.v1.bot_service_pb2_grpc import BotServiceStub

bot_app = typer.Typer(help="Further bots of your account, and what becomes of their versions.", no_args_is_help=True)
Bot = Annotated[str, typer.Argument(metavar="BOT", help="A bot of the account whose token is in ARENA_TOKEN.")]
PAGE = 500


def add_to(app: typer.Typer) -> None:
    app.add_typer(bot_app, name="bot")


@bot_app.command()
def create(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Its name: 2 to 40 letters, digits, '-' and '_'.")],
    address: Address = DEFAULT_ADDRESS,
    as_json: JsonFlag = False,
) -> None:
    """Adds a bot to the account whose token is in ARENA_TOKEN. All tokens of the account are good for it."""
    with dial(address) as channel:
        request = pb.CreateBotRequest(bot=bot)
        stub = BotServiceStub(channel)
        made = call(lambda: stub.CreateBot(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address).bot
    if as_json:
        print_json({"owner": made.owner, "bot": made.name, "address": address})
        return
    console.print(
        f"{made.name} of {made.owner} is registered. Connect it with the same ARENA_TOKEN, and its name in its program or "
        f"behind it: --name {made.name}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


@bot_app.command()
def versions(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Anybody's.")],
    address: Address = DEFAULT_ADDRESS,
    as_json: JsonFlag = False,
) -> None:
    """Lists a bot's versions, newest first. The current one is the newest that is not retired."""
    with dial(address) as channel:
        request = pb.ListVersionsRequest(bot=bot, page_size=PAGE)
        stub = BotServiceStub(channel)
        found = list(call(lambda: stub.ListVersions(request, timeout=CALL_TIMEOUT_S), address).versions)
    if as_json:
        print_json(
            [
                {"version": one.version, "created_at": one.created_at, "seen_at": one.seen_at, "retired": one.retired}
                for one in found
            ]
        )
        return
    table = Table("version", "made", "seen", "", title=bot)
    current = next((one.version for one in found if not one.retired), None)
    for one in found:
        state = "retired" if one.retired else "current" if one.version == current else ""
        table.add_row(one.version, one.created_at[:16], one.seen_at[:16], state)
    console.print(table if found else f"{bot} has no versions yet: it gets one when it first connects")


@bot_app.command()
def retire(
    bot: Bot,
    version: Annotated[str, typer.Argument(help="Which one; all of them if not given.")] = "",
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Takes a version off all tables and out of rated play. What it played stays; a new version starts where it was."""
    with dial(address) as channel:
        request = pb.RetireVersionRequest(bot=bot, version=version)
        stub = BotServiceStub(channel)
        call(lambda: stub.RetireVersion(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    console.print(f"{_named(bot, version)} retired; `arena bot restore` takes it back", highlight=False)


@bot_app.command()
def restore(
    bot: Bot,
    version: Annotated[str, typer.Argument(help="Which one; all of them if not given.")] = "",
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Takes retirement back: rating and record go on where they were."""
    with dial(address) as channel:
        request = pb.RestoreVersionRequest(bot=bot, version=version)
        stub = BotServiceStub(channel)
        call(lambda: stub.RestoreVersion(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    console.print(f"{_named(bot, version)} back", highlight=False)


@bot_app.command()
def rollback(
    bot: Bot,
    version: Annotated[str, typer.Argument(help="The version that is to be the current one again.")],
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Makes an older version the current one: all newer ones are retired. Connect its program again to play on with it."""
    with dial(address) as channel:
        request = pb.RollBackRequest(bot=bot, version=version)
        stub = BotServiceStub(channel)
        call(lambda: stub.RollBack(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    console.print(f"{bot} is at version {version} again; newer ones are retired", highlight=False)


def _named(bot: str, version: str) -> str:
    return f"version {version} of {bot} is" if version else f"all versions of {bot} are"

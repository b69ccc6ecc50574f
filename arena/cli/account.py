"""``arena register`` and ``arena token``: accounts, bots and tokens, asked of a running arena."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from arena.cli.common import JsonFlag, console, print_json
from arena.cli.dial import CALL_TIMEOUT_S, DEFAULT_ADDRESS, Address, bearer, call, dial
from botarena.v1 import bot_service_pb2 as pb
from botarena.v1.bot_service_pb2_grpc import BotServiceStub

token_app = typer.Typer(help="Further tokens of your account, and ending them.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.command()(register)
    app.add_typer(token_app, name="token")


def register(
    owner: Annotated[str, typer.Argument(help="Your account: 2 to 40 letters, digits, '-' and '_'.")],
    bot: Annotated[str, typer.Argument(help="Your bot's name, by the same rule.")],
    address: Address = DEFAULT_ADDRESS,
    as_json: JsonFlag = False,
) -> None:
    """Makes an account with a bot and prints its token, which is shown this once."""
    with dial(address) as channel:
        request = pb.RegisterRequest(owner=owner, bot=bot, request_id=secrets.token_hex(8))
        answer = call(lambda: BotServiceStub(channel).Register(request, timeout=CALL_TIMEOUT_S), address)
    if as_json:
        print_json({"owner": answer.bot.owner, "bot": answer.bot.name, "token": answer.token, "address": address})
        return
    console.print(
        f"{answer.bot.name} of {answer.bot.owner} is registered. Its token, shown this once:", highlight=False
    )
    console.print(
        f"\nexport ARENA_ADDRESS={address}\nexport ARENA_TOKEN={answer.token}\n", highlight=False, soft_wrap=True
    )
    console.print("Now start your bot with these two set.")


@token_app.command()
def create(
    label: Annotated[str, typer.Argument(help="What it is for.")] = "", address: Address = DEFAULT_ADDRESS
) -> None:
    """Makes a further token of the account whose token is in ARENA_TOKEN."""
    with dial(address) as channel:
        request = pb.CreateTokenRequest(label=label)
        create = BotServiceStub(channel).CreateToken
        answer = call(lambda: create(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    console.print(answer.token, highlight=False, soft_wrap=True)


@token_app.command()
def revoke(
    prefix: Annotated[str, typer.Argument(help="The part of the token that names it: arena_PREFIX_...")],
    address: Address = DEFAULT_ADDRESS,
) -> None:
    """Ends a token of the account whose token is in ARENA_TOKEN; streams opened with it are cut within 5 s."""
    with dial(address) as channel:
        request = pb.RevokeTokenRequest(prefix=prefix)
        end = BotServiceStub(channel).RevokeToken
        call(lambda: end(request, timeout=CALL_TIMEOUT_S, metadata=bearer()), address)
    console.print(f"{prefix} is revoked")

"""Starting a bot: :func:`run` for programs, :func:`play` for those who bring their own settings."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from botarena.address import Target
from botarena.connection import Connection, Interrupted, Settings
from botarena.errors import BotArenaError, Misconfigured
from botarena.program import Act, Bot, Program, load
from botarena.version import __version__


def play(
    bot: Act | type[Bot],
    *,
    address: str,
    token: str = "",
    instance: str = "0",
    credit: int = 1,
    strict: bool = False,
    insecure: bool = False,
    ca: str = "",
    patience_s: float | None = None,
    name: str | None = None,
    ladders: Sequence[str] = (),
) -> None:
    """Plays until SIGINT or SIGTERM has drained the bot; returns then.

    address: ``host:port`` or ``unix:path``. token: the bot's; not needed for a socket file.
    instance: tells several processes of one bot apart. credit: how many games it plays at once.
    strict: what ``act`` raises ends the process, instead of only that game.
    insecure: no TLS to another machine. ca: TLS with this private CA (path of a PEM file). patience_s: give up when no arena answers for so long.
    name: instead of the one in the decorator. ladders: the only ones to play on; by default all that fit, without those
    with much slower clocks than another for the same game.

    Raises a BotArenaError if the process cannot go on, whatever ``act`` raised if ``strict``, and KeyboardInterrupt at
    the second signal.
    """
    target = Target.parse(address, insecure=insecure, ca=ca)
    if target.needs_token and not token:
        raise Misconfigured("no token: set ARENA_TOKEN or --token; `arena register` or `arena token create` makes one")
    if credit < 1:
        raise Misconfigured(f"credit is the number of games at once, at least 1, not {credit}")
    prepared = load(bot)
    if name is not None:
        prepared = replace(prepared, profile=replace(prepared.profile, name=name))
    settings = Settings(target, token, instance, credit, strict, patience_s, tuple(ladders))
    # Made on the loop: gRPC and asyncio objects belong to the loop that uses them.
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_connect(prepared, settings))
    except Interrupted:
        raise KeyboardInterrupt from None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's where it is installed: a bot that answers at once plays a tenth more moves with it. None: asyncio's own."""
    try:
        import uvloop  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _connect(prepared: Program, settings: Settings) -> None:
    await Connection(prepared, settings).run()


def run(bot: Act | type[Bot], argv: Sequence[str] | None = None) -> None:
    """Plays until told to stop; the whole ``main`` of a bot's program.

    Takes its settings from flags (``--help`` lists them) and the environment: ARENA_ADDRESS, ARENA_TOKEN, ARENA_CA.
    Returns after a drain (SIGTERM or Ctrl-C); else ends the process with one line on standard error and an exit code:
    1 ``act`` raised and ``--strict``, 2 wrong settings, 3 token refused, 4 version skew, 5 replaced by a newer process,
    6 no arena there, 130 Ctrl-C twice.
    """
    args = _parser().parse_args(argv)
    logging.basicConfig(format="%(asctime)s %(levelname).1s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("botarena").setLevel(args.log_level.upper())
    try:
        if not args.address:
            raise Misconfigured("no address: set ARENA_ADDRESS or --address, e.g. localhost:7700")
        play(
            bot,
            address=args.address,
            token=args.token,
            instance=args.instance,
            ladders=[name.strip() for name in args.ladders.split(",") if name.strip()],
            credit=args.credit,
            strict=args.strict,
            insecure=args.insecure,
            ca=args.ca,
            patience_s=args.patience,
            name=args.name,
        )
    except BotArenaError as error:
        print(f"botarena: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    env = os.environ.get
    parser = argparse.ArgumentParser(description="A bot for a Bot Arena.")
    add = parser.add_argument
    add("--address", default=env("ARENA_ADDRESS", ""), help="host:port or unix:path (default: ARENA_ADDRESS)")
    add(
        "--token",
        default=env("ARENA_TOKEN", ""),
        help="the bot's token (default: ARENA_TOKEN, which nobody sees in ps)",
    )
    add("--name", help="the bot's name, instead of the one in the program")
    add("--instance", default=env("ARENA_INSTANCE", "0"), help="tells several processes of one bot apart (default: 0)")
    add(
        "--ladders",
        default=env("ARENA_LADDERS", ""),
        metavar="NAME,...",
        help="the only ladders to play on, such as those with minutes a move (default: ARENA_LADDERS, else all that fit)",
    )
    add("--credit", type=int, default=1, metavar="N", help="how many games at once (default: 1)")
    add("--strict", action="store_true", help="an exception in the bot ends the process, not only the game")
    add("--insecure", action="store_true", help="no TLS to an arena on another machine")
    add(
        "--ca", default=env("ARENA_CA", ""), metavar="FILE", help="TLS with this private CA, in PEM (default: ARENA_CA)"
    )
    add("--patience", type=float, metavar="SECONDS", help="give up when no arena answers for so long")
    add("--log-level", default=env("ARENA_LOG_LEVEL", "info"), choices=["debug", "info", "warning", "error"])
    add("--version", action="version", version=f"botarena {__version__}")
    return parser

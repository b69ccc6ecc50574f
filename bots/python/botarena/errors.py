"""Why a bot process stops. Each error is one line that says what to do, and has the exit code of the process."""

from __future__ import annotations

from typing import ClassVar


class BotArenaError(Exception):
    """The process cannot go on playing; ``str(error)`` is one line for the author."""

    exit_code: ClassVar[int] = 1


class Misconfigured(BotArenaError):
    """An address, a token or an option is missing or wrong, or the arena does not know the bot or a game."""

    exit_code = 2


class Refused(BotArenaError):
    """The arena does not accept the token, or has revoked it."""

    exit_code = 3


class VersionSkew(BotArenaError):
    """This SDK and the arena speak different versions of the protocol."""

    exit_code = 4


class Replaced(BotArenaError):
    """A newer process connected as the same instance of the same bot."""

    exit_code = 5


class Unreachable(BotArenaError):
    """Nothing answers at the address for longer than the process is willing to wait."""

    exit_code = 6

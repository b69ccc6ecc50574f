"""Errors of the arena itself.

Three families never mix: a bot's fault is a value in the record (:mod:`arena.match.referee`), a failure of the
infrastructure is an :class:`ArenaError`, and a programmer's error crashes.
"""

from __future__ import annotations


class ArenaError(Exception):
    """Something the arena could not do. ``retryable``: the same call may succeed later."""

    retryable = False


class Unavailable(ArenaError):
    """A part of the arena (database, Redis, a gateway) does not answer now."""

    retryable = True


class Fenced(ArenaError):
    """This worker's or leader's claim is no longer valid; whatever it was doing must stop without writing."""


class UserError(ArenaError):
    """What a person asked for cannot be done; the message says what would be right."""


class QuotaExceeded(UserError):
    """More was asked for than one account may have; later it may be had."""

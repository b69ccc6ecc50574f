"""The scenarios. Importing this enters them all, in the order in which they run."""

from arena.conformance.scenarios import handshake, games, oddities, resume, endings  # noqa: I001 - the order matters

__all__ = ["endings", "games", "handshake", "oddities", "resume"]

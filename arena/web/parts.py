"""A page that lives: its parts as HTML by element id, and what changes from one moment to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Parts:
    """``blocks`` are elements by their id; ``lists`` maps the id of a parent to its children by their ids, in order.

    ``skeleton`` names what the page is built around the parts: where it differs the page must be fetched again.
    """

    skeleton: str
    blocks: Mapping[str, Markup] = field(default_factory=dict)
    lists: Mapping[str, Mapping[str, Markup]] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Equal where the parts are."""
        content = json.dumps([self.skeleton, self.blocks, {name: [*rows.items()] for name, rows in self.lists.items()}])
        return sha256(content.encode()).hexdigest()[:16]

    def everything(self) -> dict[str, Any]:
        """The message that turns whatever a page shows into this."""
        return {
            "base": None,
            "version": self.version,
            "skeleton": self.skeleton,
            "blocks": self.blocks,
            "lists": {name: {"order": [*rows], "rows": rows} for name, rows in self.lists.items()},
        }

    def since(self, earlier: Parts) -> dict[str, Any] | None:
        """The message that turns ``earlier`` into this, with nothing that is the same in both; None if all is.

        Its ``base`` is the only version that it may be applied to.
        """
        if self.version == earlier.version:  # equal dictionaries may differ in their order, and that is a change
            return None
        message: dict[str, Any] = {
            "base": earlier.version,
            "version": self.version,
            "skeleton": self.skeleton,
            "blocks": {},
            "lists": {},
        }
        if self.skeleton != earlier.skeleton:
            return message
        message["blocks"] = {name: html for name, html in self.blocks.items() if earlier.blocks.get(name) != html}
        for name, rows in self.lists.items():
            before = earlier.lists.get(name, {})
            changed = {row: html for row, html in rows.items() if before.get(row) != html}
            if changed or [*rows] != [*before]:
                message["lists"][name] = {"order": [*rows], "rows": changed}
        return message

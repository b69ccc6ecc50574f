"""Answers that are kept: bytes, their gzip and their ETag, made once and sent many times."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

WORTH_PACKING: Final = 1024
HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
GZIP: Final = "application/gzip"
FRESH: Final = "no-cache"
"""Kept by browsers, and asked for again each time: a 304 costs nothing."""
FOREVER: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Content:
    """One answer's body."""

    body: bytes
    media_type: str = HTML
    status: int = 200
    cache: str = FRESH
    packed: bytes = field(init=False)
    etag: str = field(init=False)

    def __post_init__(self) -> None:
        worth = len(self.body) >= WORTH_PACKING and not self.media_type.startswith("image/png")
        object.__setattr__(self, "packed", gzip.compress(self.body, 5, mtime=0) if worth else b"")
        object.__setattr__(self, "etag", f'"{sha256(self.body).hexdigest()[:20]}"')

    def answer(self, request: Request, headers: Mapping[str, str] | None = None) -> Response:
        """The response to a request: 304 if its sender has this already."""
        sent = {"cache-control": self.cache, "etag": self.etag, "vary": "accept-encoding", **(headers or {})}
        if self.status == 200 and _knows(request.headers.get("if-none-match", ""), self.etag):
            return Response(status_code=304, headers=sent)
        body = self.body
        if self.packed and "gzip" in request.headers.get("accept-encoding", ""):
            body = self.packed
            sent["content-encoding"] = "gzip"
        return Response(body, self.status, sent, self.media_type)


def _knows(given: str, etag: str) -> bool:
    return any(tag.strip().removeprefix("W/") in {etag, "*"} for tag in given.split(","))

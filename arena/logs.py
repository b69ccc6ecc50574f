"""One line a log record, the same in every process: as text or, if asked for, as JSON that says which set it is about.

What :func:`bound` binds is in every JSON line that is written within, and follows into tasks that start there. With it
one match can be followed through all processes: ``grep '"match_id":"m_..."' logs/*.log``.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

import orjson

TEXT: Final = "text"
JSON: Final = "json"

_bound: ContextVar[Mapping[str, Any]] = ContextVar("bound", default=MappingProxyType({}))


def configure(level: str = "INFO", form: str = TEXT, **always: Any) -> None:
    """Logs to standard error from ``level`` on; ``always`` is in each JSON line, as the process's name.

    Line breaks in messages are escaped, so that nobody forges a line.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json(always) if form == JSON else _OneLine("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("alembic", "kombu", "httpx", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def as_json() -> bool:
    """Whether lines are JSON."""
    return any(isinstance(handler.formatter, _Json) for handler in logging.getLogger().handlers)


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Every JSON line within says these too."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def event(log: logging.Logger, name: str, **fields: Any) -> None:
    """A line for machines: something happened, called ``name``, as ``match.finished``. Nothing unless lines are JSON."""
    if as_json():
        log.info(name, extra={"fields": {"event": name, **fields}})


class _OneLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")


class _Json(logging.Formatter):
    def __init__(self, always: Mapping[str, Any]) -> None:
        super().__init__()
        self._always = always

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object on one line: ``ts`` (RFC 3339, UTC), ``level``, ``logger``, ``message``, and what is known."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        document = {
            "ts": f"{at}.{int(record.msecs):03}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **self._always,
            **_bound.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(document, default=str).decode()

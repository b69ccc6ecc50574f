"""One line a log record, the same in every process."""

from __future__ import annotations

import logging
import sys


def configure(level: str = "INFO") -> None:
    """Logs to standard error from ``level`` on; line breaks in messages are escaped, so that nobody forges a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("alembic", "kombu", "httpx", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


class _OneLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")

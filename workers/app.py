"""The Celery application and the worker runtime behind it.

celery -A workers.app worker --pool=threads --concurrency=64

One process a core. The pool's threads do nothing but wait: each set is played on the runtime's event loop.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_shutdown

from arena import logs, metrics, settings
from arena.doorbell import configure
from arena.errors import UserError
from arena.host.watchdog import EXIT_STATUS
from arena.host.worker import Worker
from arena.tracing import TRACES

log = logging.getLogger(__name__)

try:
    SETTINGS = settings.load()
    REDIS_URL = SETTINGS.required_redis()
except UserError as error:
    sys.exit(f"arena: {error}")  # Celery would show where in its own code this module was imported

app = configure(Celery("workers", include=["workers.tasks"]), REDIS_URL)
# Containers have the same process ids, and two workers of one name would fence each other out for ever.
NAME = os.environ.get("ARENA_WORKER_NAME", f"worker-{socket.gethostname()}-{os.getpid()}")
NUMBER = int(os.environ.get("ARENA_WORKER_NUMBER", "0"))
runtime = Worker(SETTINGS, NAME)


@setup_logging.connect
def _log(**_: Any) -> None:
    logs.configure(form=SETTINGS.log.format, process="worker", worker=NAME)
    logging.getLogger("celery").setLevel(logging.WARNING)


@worker_init.connect
def _start(**_: Any) -> None:
    try:
        TRACES.start("worker")
        metrics.serve(SETTINGS.worker.metrics_address(NUMBER))
        runtime.start()
    except Exception as error:
        # Celery goes on without what a signal's receiver did not do: its threads would take doorbells and answer none.
        _log()  # which Celery sets up later
        log.critical("this worker cannot start and ends: %s", error)
        os._exit(EXIT_STATUS)


@worker_shutdown.connect
def _stop(**_: Any) -> None:
    runtime.stop()
    TRACES.stop()

"""Rings for a set: a Celery task that carries its id and nothing else. Losing one costs time, never a result."""

from __future__ import annotations

from celery import Celery
from kombu.exceptions import OperationalError

from arena.errors import Unavailable

TASK = "workers.tasks.play_set"
QUEUE = "sets"


def broker_url(redis_url: str) -> str:
    """A Redis URL as Celery writes it: ``unix:///path`` becomes ``redis+socket:///path``."""
    return redis_url.replace("unix://", "redis+socket://", 1) if redis_url.startswith("unix://") else redis_url


def configure(app: Celery, redis_url: str) -> Celery:
    """The settings that sender and workers share."""
    app.conf.update(
        broker_url=broker_url(redis_url),
        task_ignore_result=True,
        task_default_queue=QUEUE,
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # What a killed worker had taken and not yet begun comes back within seconds; the claim in SQL makes that safe.
        broker_transport_options={
            "visibility_timeout": 3600,
            "unacked_restore_interval": 2,
            "unacked_restore_throttle": 1,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
    )
    return app


class Doorbell:
    """Sends tasks by name: the arena knows no worker's code."""

    def __init__(self, redis_url: str) -> None:
        self._app = configure(Celery("arena"), redis_url)
        self._app.conf.broker_transport_options = {"socket_timeout": 3, "socket_connect_timeout": 3}

    def ring(self, set_id: str) -> None:
        """Raises Unavailable; whoever sweeps rings again later."""
        try:
            self._app.send_task(TASK, args=(set_id,), retry=False)
        except (OperationalError, OSError) as error:
            raise Unavailable(f"cannot reach the queue: {error}") from error

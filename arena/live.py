"""What has happened, told through Redis to those who watch. Hints only: what is lost there can be read in SQL."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import redis
from redis.asyncio import Redis
from redis.exceptions import RedisError

from arena.errors import Unavailable
from arena.storage.outbox import Event

CHANNEL: Final = "arena:events"
TIMEOUT_S: Final = 2.0


def publisher(redis_url: str) -> Callable[[Event], None]:
    """A function that publishes an event, for a thread that may block. It raises Unavailable if Redis is away."""
    client = redis.Redis.from_url(
        redis_url.replace("redis+socket://", "unix://", 1),
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
    )

    def publish(event: Event) -> None:
        try:
            client.publish(CHANNEL, json.dumps({"id": event.id, "topic": event.topic, "payload": event.payload}))
        except (RedisError, OSError) as error:
            raise Unavailable(f"cannot publish events: {error}") from error

    return publish


async def events(client: Redis) -> AsyncIterator[Event]:
    """Events as they are published, from now on. Raises Unavailable when Redis is away; begin again then."""
    try:
        async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.subscribe(CHANNEL)
            while True:
                message = await pubsub.get_message(timeout=1.0)
                if message is not None and (event := _event(message["data"])) is not None:
                    yield event
    except (RedisError, OSError) as error:
        raise Unavailable(f"Redis does not answer: {error}") from None


def _event(data: str | bytes) -> Event | None:
    """None for what is no event: anybody with access to Redis can publish."""
    try:
        document: dict[str, Any] = json.loads(data)
        return Event(document["id"], document["topic"], document["payload"])
    except (ValueError, KeyError, TypeError):
        return None

"""The one task: plays a set whose id it carries. Everything that matters is in SQL."""

from __future__ import annotations

from workers.app import app, runtime


@app.task(name="workers.tasks.play_set", acks_late=False)
def play_set(set_id: str) -> None:
    """Plays the set unless somebody else does, or has."""
    runtime.play(set_id)

"""What Prometheus is told: by the web process, of all processes."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import func, select

from arena import metrics
from arena.durations import BOUNDS_US
from arena.gateway.registry import connect_redis
from arena.metrics import Snapshots
from arena.settings import Settings
from arena.storage import overview
from arena.storage.tables import result
from arena.web.exporter import TOP, WATCHED, ResultCounter
from tests.web.seed import SeededArena
from tests.web.support import CHALLENGE, LADDERS, POP, WebArena, a_valkey, serving

DOC = Path(__file__).parents[2] / "docs" / "metrics.md"


def samples(web: WebArena) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by name and label values, in the order of the labels' names."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(web.get("/metrics").text):
        for sample in family.samples:
            labels = tuple(value for _, value in sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def wait_for(web: WebArena, name: str, least: float) -> None:
    """Waits until a metric's values add up to so much: what is scraped is a few seconds old."""
    deadline = time.monotonic() + 30
    while sum(samples(web).get(name, {}).values()) < least:
        assert time.monotonic() < deadline, f"{name} stays below {least}"
        time.sleep(0.1)


def test_the_web_process_tells_what_processes_share(web: WebArena) -> None:
    """Results by game and reason, queue, sessions, workers, ledger and ratings are there and agree with SQL."""
    web.arena.connect(web.redis_url)
    web.get(f"/ladders/{CHALLENGE}")
    wait_for(web, "arena_sessions", 2)
    found = samples(web)
    with web.arena.database.read() as connection:
        matches = connection.execute(select(func.count()).select_from(result)).scalar_one()
    assert sum(found["arena_results_total"].values()) == matches
    assert {game for game, _ in found["arena_results_total"]} == {"balloon-challenge", "pop"}
    assert len({reason for _, reason in found["arena_results_total"]}) > 1
    assert set(found["arena_sets"]) == {("QUEUED",), ("CLAIMED",), ("FINISHED",), ("VOID",), ("ERRORED",)}
    assert found["arena_queue_depth"][()] == 0
    assert found["arena_sessions"][("gateway-1",)] == 2
    assert found["arena_ledger_entries_total"][(CHALLENGE,)] > 5
    assert found["arena_rating"][("random", CHALLENGE, "1")] == 1000
    assert found["arena_redis_up"][()] == 1
    assert found["arena_all_decision_seconds_bucket"][("+Inf",)] > 100
    assert any(route == "/ladders/{slug}" for route, *_ in found["arena_web_request_seconds_count"])


def test_r81_no_label_names_a_match_and_bots_are_bounded(tmp_path: Path) -> None:
    """However many bots come, ten a ladder have a rating there and a hundred that are connected metrics of their own."""
    arena = SeededArena(tmp_path, LADDERS, bots=[f"balloon-{number}" for number in range(WATCHED + 10)])
    arena.play_any(CHALLENGE)
    arena.play_any(POP)
    with a_valkey() as redis_url:
        arena.connect(redis_url)
        with serving(arena, redis_url) as web:
            wait_for(web, "arena_sessions", WATCHED + 10)
            text = web.get("/metrics").text
            assert not re.search(r'"[ms]_[\w-]{8,}"', text)
            per_ladder = Counter(ladder for _, ladder, _ in samples(web)["arena_rating"])
            assert per_ladder == {CHALLENGE: TOP, POP: TOP}
            assert len({bot for bot, *_ in samples(web)["arena_bot_rating"]}) == WATCHED


def test_a_connected_bot_has_metrics_of_its_own(web: WebArena) -> None:
    """Its rating, outcomes and endings; an ending counts for the seat that had it, from when the process began."""
    web.get("/metrics")  # which counts from the first time that it is asked
    began = int(time.time() * 1000)
    web.arena.play(POP, ["zephyr", "updraft"], fault_rate=0.5)
    with web.arena.database.read() as connection:
        endings = overview.endings_by_bot(connection, began, 2**62)
        seats = connection.execute(select(result.c.reasons).where(result.c.finished_at >= began)).scalars().all()
    assert Counter(reason for _, reason in endings.elements()) == Counter(one for ended in seats for one in ended)
    web.arena.connect(web.redis_url)
    wait_for(web, "arena_bot_endings_total", sum(endings.values()))
    assert {bot for bot, *_ in samples(web)["arena_bot_rating"]} == {"zephyr", "updraft"}
    assert any(key[0] == "zephyr" for key in samples(web)["arena_bot_outcomes_total"])


def test_redis_and_celery_are_told(web: WebArena) -> None:
    """Tasks that wait, memory, connections."""
    found = samples(web)
    assert found["arena_doorbells"][()] == 0
    assert found["arena_doorbells_unacked"][()] == 0
    assert found["arena_redis_memory_bytes"][()] > 100_000
    assert found["arena_redis_clients"][()] >= 1
    assert found["arena_loop_lateness_seconds"][()] >= 0


def test_results_are_counted_once_however_often_they_are_scraped(web: WebArena) -> None:
    """The running count is that of the whole table, wherever the line between old and new results lies."""
    counter = ResultCounter(overview.matches_by_reason)
    with web.arena.database.read() as connection:
        whole = overview.matches_by_reason(connection, 0, 2**62)
        times = connection.execute(select(result.c.finished_at)).scalars().all()
        assert counter.count(connection) == whole
        for until in sorted({min(times), sorted(times)[len(times) // 2], max(times) + 1}):
            counter._settled = overview.matches_by_reason(connection, 0, until)
            counter._until = until
            assert counter.count(connection) == whole


async def test_processes_add_up_and_lapse(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dashboard's latency is the sum over the processes that live, and one that ended is forgotten."""
    async with connect_redis(redis_url) as redis:
        await redis.delete(Snapshots.INDEX)
        await Snapshots.publish(redis, "a")
        await Snapshots.publish(redis, "b")
        own, both = metrics.current(), await Snapshots.read(redis)
        assert both.decisions.counts == tuple(2 * number for number in own.decisions.counts)
        monkeypatch.setattr(Snapshots, "TTL_MS", 1)
        await Snapshots.publish(redis, "b")
        while await redis.exists(f"{Snapshots.INDEX}:b"):
            pass
        assert (await Snapshots.read(redis)).decisions.counts == own.decisions.counts
        assert await redis.smembers(Snapshots.INDEX) == {"a"}
        await redis.delete(Snapshots.INDEX)


def test_this_processs_histogram_is_read_as_it_is() -> None:
    """What is observed lands in its bucket and in the sum."""
    before = metrics.current().decisions
    metrics.DECISION_TIMES.add(3_000)
    added = metrics.current().decisions.since(before)
    assert added.total == 1
    assert added.counts[BOUNDS_US.index(5_000)] == 1
    assert added.sum_s == pytest.approx(0.003)


def test_the_documented_scrape_configuration_fits_the_settings(tmp_path: Path) -> None:
    """The lines of docs/metrics.md are valid and name the ports that the arena has by default."""
    found = re.search(r"```yaml\n(.*?)```", DOC.read_text(), re.DOTALL)
    assert found is not None
    document = yaml.safe_load(found[1])
    targets = {
        target for job in document["scrape_configs"] for config in job["static_configs"] for target in config["targets"]
    }
    chosen = Settings()
    assert {
        chosen.web.listen,
        chosen.gateway.metrics_listen,
        chosen.scheduler.metrics_listen,
        chosen.worker.metrics_listen,
    } <= targets
    if promtool := shutil.which("promtool"):
        (tmp_path / "prometheus.yml").write_text(found[1])
        subprocess.run([promtool, "check", "config", str(tmp_path / "prometheus.yml")], check=True)

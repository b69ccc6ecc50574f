"""Grafana's dashboards: the committed JSON is what the code makes, and every query finds data in a real arena."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.bench.processes import free_port
from tests.deploy.tools import DEPLOY, program
from tests.integration.harness import DEMO_BOT, RAW_BOT, Arena, until

GRAFANA = DEPLOY / "grafana"
BAD_BOT = Path(__file__).parents[1] / "integration" / "bad_bot.py"
LABEL_VALUES = re.compile(r"label_values\((?P<metric>\w+), (?P<label>\w+)\)")
BOT = "demo"


def documents() -> dict[str, Any]:
    """The committed dashboards by file name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((GRAFANA / "json").glob("*.json"))}


def test_the_committed_dashboards_are_what_the_code_makes() -> None:
    """`python deploy/grafana/dashboards.py` would change nothing."""
    spec = importlib.util.spec_from_file_location("dashboards", GRAFANA / "dashboards.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, Callable[[], Any]] = module.ALL
    assert {path.stem for path in (GRAFANA / "json").glob("*.json")} == set(made)
    for name, make in made.items():
        assert module.text(make) == (GRAFANA / "json" / f"{name}.json").read_text(), name


def test_dashboards_fit_the_provisioned_source_and_do_not_overlap() -> None:
    """Every panel asks the data source that is provisioned, has a title, and a place of its own."""
    provisioned: Any = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())
    uid = provisioned["datasources"][0]["uid"]
    assert len({document["uid"] for document in documents().values()}) == 3
    for document in documents().values():
        taken: set[tuple[int, int]] = set()
        for panel in document["panels"]:
            place = panel["gridPos"]
            cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
            assert not cells & taken, panel["title"]
            taken |= cells
            assert panel["title"]
            if panel["type"] != "row":
                assert panel["datasource"] == {"type": "prometheus", "uid": uid}
                assert panel["targets"]


@dataclass(frozen=True)
class Prometheus:
    """A real Prometheus that scrapes a real arena."""

    url: str

    def ready(self) -> bool:
        """Whether it answers queries."""
        try:
            return bool(urllib.request.urlopen(f"{self.url}/-/ready").status == 200)
        except urllib.error.URLError:
            return False

    def ask(self, path: str, **parameters: object) -> Any:
        """The data of an answer. Raises AssertionError with Prometheus' complaint."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from None

    def values(self, expr: str, *, instant: bool) -> list[float]:
        """All values that a query finds now, or over the last minutes as a panel draws them."""
        if instant:
            return [float(one["value"][1]) for one in self.ask("query", query=expr)["result"]]
        now = time.time()
        found = self.ask("query_range", query=expr, start=now - 120, end=now, step=2)["result"]
        return [float(value) for one in found for _, value in one["values"]]

    def labels(self, query: str) -> list[str]:
        """What a dashboard's variable offers."""
        asked = LABEL_VALUES.fullmatch(query)
        assert asked is not None
        found: list[str] = self.ask(f"label/{asked['label']}/values", **{"match[]": asked["metric"]})
        return found


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """An arena with good bots and bad ones, and somebody whose token is none."""
    program("prometheus", "prometheus")
    metrics = {
        f"ARENA_{name}_METRICS_LISTEN": f"127.0.0.1:{free_port()}" for name in ("GATEWAY", "SCHEDULER", "WORKER")
    }
    running = Arena(tmp_path_factory.mktemp("dashboards"), environment=metrics)
    running.start()
    running.start_bot(DEMO_BOT, running.register("good", BOT), "--credit", "4")
    for mode in ("twice", "illegal"):
        running.start_bot(BAD_BOT, running.register(f"owner-{mode}", f"bot-{mode}"), mode)
    running.start_bot(RAW_BOT, "arena_nobodys")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def prometheus(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus with the committed configuration; only addresses and the pace are the test's."""
    folder = tmp_path_factory.mktemp("prometheus")
    document: Any = yaml.safe_load((DEPLOY / "prometheus" / "single-machine.yml").read_text())
    document["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    document["rule_files"] = [str(DEPLOY / "prometheus" / "rules" / "*.yml")]
    targets = {
        job: arena.environment.get(f"ARENA_{job.upper()}_METRICS_LISTEN", arena.web)
        for job in ("web", "gateway", "scheduler", "worker")
    }
    for job in document["scrape_configs"]:
        job["static_configs"] = [{"targets": [targets.pop(job["job_name"])]}]
    assert not targets
    (folder / "prometheus.yml").write_text(yaml.safe_dump(document))
    url = f"127.0.0.1:{free_port()}"
    command = [program("prometheus", "prometheus"), f"--config.file={folder / 'prometheus.yml'}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={url}"], stderr=log
        )
    running = Prometheus(f"http://{url}")
    until(running.ready, 60, "Prometheus is ready")
    yield running
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def queries() -> list[tuple[str, str, bool]]:
    """(where it is, PromQL, instant) of every query of every panel."""
    return [
        (f"{name}: {panel['title']}: {target['expr']}", target["expr"], bool(target.get("instant")))
        for name, document in documents().items()
        for panel in document["panels"]
        for target in panel.get("targets", ())
    ]


def test_every_query_of_every_panel_finds_data(arena: Arena, prometheus: Prometheus) -> None:
    """A real Prometheus that scrapes a real arena answers each with numbers, for each ladder that is offered."""
    variables = [one for document in documents().values() for one in document["templating"].get("list", ())]
    assert {one["name"] for one in variables} == {"ladder", "bot"}
    ladders: list[str] = []

    def offered() -> bool:
        found = {one["name"]: prometheus.labels(one["query"]) for one in variables}
        ladders[:] = found["ladder"]
        return len(ladders) == 2 and BOT in found["bot"]

    until(offered, 90, "ladders and bots are offered")
    missing = [
        (where, expr.replace("$ladder", ladder).replace("$bot", BOT), instant)
        for where, expr, instant in queries()
        for ladder in (ladders if "$ladder" in expr else ladders[:1])
    ]
    assert len(missing) > 50

    def all_found() -> bool:
        missing[:] = [one for one in missing if not any(map(math.isfinite, prometheus.values(one[1], instant=one[2])))]
        return not missing

    try:
        until(all_found, 90, "every query finds data")
    except AssertionError:
        raise AssertionError("no data: " + "\n".join(where for where, *_ in missing)) from None
    assert arena.results() > 0


def test_every_metric_of_the_rules_is_told(prometheus: Prometheus) -> None:
    """No rule watches a name that no process tells."""
    text = "".join(path.read_text() for path in (DEPLOY / "prometheus" / "rules").glob("*.yml"))
    expressions = re.findall(r"expr: (?:\|\n(?: {10}.*\n)+|.*)", text)
    names = {name for one in expressions for name in re.findall(r"\barena_\w+", one)}
    assert names
    until(lambda: names <= set(prometheus.ask("label/__name__/values")), 60, f"{names} are told")

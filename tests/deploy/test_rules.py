"""Prometheus' configuration, as Prometheus sees it."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import yaml

from tests.deploy.tools import DEPLOY, program

PROMETHEUS = DEPLOY / "prometheus"


def promtool(*words: object) -> str:
    """What promtool says; its complaint is the test's."""
    command = [program("promtool", "prometheus"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["compose.yml", "single-machine.yml"])
def test_prometheus_takes_the_configuration(name: str) -> None:
    """Both scrape configurations are valid, and find their rules."""
    assert "2 rule files found" in promtool("check", "config", PROMETHEUS / name)


def test_the_rules_do_what_their_tests_say() -> None:
    """A healthy arena is quiet, and each thing that goes wrong is told in its time."""
    promtool("test", "rules", PROMETHEUS / "rules_test.yml")


def test_every_alert_is_tested_and_says_what_to_do() -> None:
    """No alert without a test, a severity, a summary and advice."""
    tests = (PROMETHEUS / "rules_test.yml").read_text()
    document: Any = yaml.safe_load((PROMETHEUS / "rules" / "alerts.yml").read_text())
    for rule in document["groups"][0]["rules"]:
        assert rule["alert"] in tests
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert set(rule["annotations"]) == {"summary", "what_to_do"}

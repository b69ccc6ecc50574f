"""Ladders to take away from the pages, and to check without the arena."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

from tests.web.support import PATIENCE_S, POP, Answer, WebArena


def taken(web: WebArena, path: str) -> Answer:
    """The file, once it is made; till then one is told to come again."""
    deadline = time.monotonic() + 3 * PATIENCE_S
    while (answer := web.get(path)).status == 202:
        assert "retry-after" in answer.headers
        assert time.monotonic() < deadline
        time.sleep(0.5)
    return answer


def test_anybody_takes_a_ladder_away_and_checks_it(web: WebArena, tmp_path: Path) -> None:
    """Without a login, at the address that page and API name: the file passes `arena verify ladder`, and names the ladder."""
    address = web.get(f"/api/v1/ladders/{POP}").json()["export"]
    assert address in web.get(f"/ladders/{POP}").text
    answer = taken(web, address)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/gzip")
    file = tmp_path / "ladder.jsonl.gz"
    file.write_bytes(answer.body)
    with gzip.open(file, "rt") as lines:
        assert json.loads(next(lines))["ladder"] == POP
    verify = [sys.executable, "-m", "arena", "verify", "ladder", str(file)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "OK" in done.stdout
    assert taken(web, address).body == answer.body, "it is kept for a while"


def test_what_is_no_ladder_has_no_export(web: WebArena) -> None:
    """Nothing is made for it, whatever its name looks like."""
    for slug in ("nothing-2p", "..%2f..%2fetc%2fpasswd", "%2e%2e"):
        assert web.get(f"/ladders/{slug}/export").status == 404
    there = {path.name for path in (web.arena.settings.data_dir / "exports").glob("*")}
    assert there <= {f"{POP}.jsonl.gz", f"{POP}.jsonl.gz.partial"}

"""An arena whose bots and workers speak TLS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from arena.bench.processes import free_port
from tests.gateway.certificates import Authority
from tests.integration.harness import DEMO_BOT, Arena, until


def test_matches_are_played_over_tls_and_a_bot_that_does_not_know_the_ca_stays_out(tmp_path: Path) -> None:
    """With the private CA a bot is registered and plays rated matches, workers reach the gateway by mutual TLS; without
    the CA a bot ends with the exit code of no arena there."""
    authority = Authority(tmp_path / "ca")
    public, public_key = authority.issue("public")
    inner, inner_key = authority.issue("inner")
    arena = Arena(
        tmp_path,
        environment={
            "ARENA_GATEWAY_TLS_CERTIFICATE": str(public),
            "ARENA_GATEWAY_TLS_KEY": str(public_key),
            "ARENA_GATEWAY_RELAY_LISTEN": f"127.0.0.1:{free_port()}",
            "ARENA_RELAY_TLS_CA": str(authority.ca),
            "ARENA_RELAY_TLS_CERTIFICATE": str(inner),
            "ARENA_RELAY_TLS_KEY": str(inner_key),
        },
    )
    arena.start()
    try:
        registered = subprocess.run(
            [sys.executable, "-m", "arena", "register", "ada", "demo", "--json", "--address", arena.gateway],
            env={**os.environ, "ARENA_CA": str(authority.ca)},
            capture_output=True,
            text=True,
            check=True,
        )
        token = json.loads(registered.stdout)["token"]
        outside = subprocess.run(
            [sys.executable, str(DEMO_BOT), "--patience", "2", "--address", arena.gateway, "--token", token],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert outside.returncode == 6, outside.stderr
        arena.start_bot(DEMO_BOT, token, "--ca", str(authority.ca), "--credit", "4")
        until(lambda: "NORMAL" in arena.reasons().get("demo", ()), 90, "the bot plays")
        assert arena.problems() == ()
    finally:
        arena.stop()

"""Programs that play with other libraries, run by the Python of an environment that has those; none imports the arena
(one plays a game of ``engines``)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
PINS: Final = (
    ("--no-deps", "kaggle-environments==1.33.2", "chess==1.11.2"),
    ("flask==3.1.3", "jsonschema==4.26.0", "requests==2.34.2", "numpy==2.4.6", "pyjson5==2.0.1", "termcolor==3.3.0"),
)
"""What is installed in turn. Of kaggle-environments' requirements those that its own games need (jax, transformers) are
left out: a gigabyte that a game of one's own does not use.
"""
INSTALL_S: Final = 1800


class NotThere(Exception):
    """What a contestant needs is missing; the message says what."""


def python() -> Path:
    """The Python of an environment with the other libraries, made at first use in the user's cache. Raises NotThere."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(repr((PINS, sys.version_info[:2])).encode()).hexdigest()[:12]
    folder = cache / "bot-arena" / f"rivals-{name}"
    if not (folder / ".done").exists():
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        for words in PINS:
            _run(str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *words)
        (folder / ".done").touch()
    return folder / "bin/python"


def program(name: str) -> str:
    """The path of one of the programs here."""
    return str(FOLDER / f"{name}.py")


def _run(*words: str) -> None:
    try:
        subprocess.run(words, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.CalledProcessError as error:
        raise NotThere(f"{' '.join(words[1:4])} failed: {error.stderr.strip().splitlines()[-1:]}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotThere(str(error)) from None

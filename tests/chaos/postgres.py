"""A PostgreSQL server to be killed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError


def is_here() -> bool:
    """Whether one can be started."""
    return bool(shutil.which("initdb") and shutil.which("postgres") and importlib.util.find_spec("psycopg"))


class PostgreSQL:
    """A server on a socket in ``folder``, which must be reachable by everybody: it does not run as root."""

    def __init__(self, folder: Path) -> None:
        self.url = f"postgresql+psycopg://arena@/postgres?host={folder}"
        self._folder = folder
        self._user = ["setpriv", "--pdeathsig=SIGQUIT"]
        if os.getuid() == 0:
            shutil.chown(folder, "nobody")
            self._user += ["--reuid=nobody", "--clear-groups"]
        initialise = ["initdb", "-D", "data", "-A", "trust", "-U", "arena", "--no-sync"]
        subprocess.run([*self._user, *initialise], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        self._server = self._start()

    def crash(self) -> None:
        """Ends all of it at once, without a checkpoint: the next start recovers from the log."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(30)

    def start(self) -> None:
        """Starts it again and waits till it answers."""
        self._server = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["listen_addresses=", f"unix_socket_directories={self._folder}", "fsync=off"]
        command = ["postgres", "-D", "data", *(part for option in options for part in ("-c", option))]
        with (self._folder / "log").open("ab") as log:
            server = subprocess.Popen([*self._user, *command], cwd=self._folder, stderr=log)
        engine = create_engine(self.url)
        for _ in range(300):
            try:
                engine.connect().close()
            except OperationalError:
                time.sleep(0.1)
            else:
                engine.dispose()
                return server
        raise TimeoutError("PostgreSQL did not start")

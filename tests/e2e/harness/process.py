"""A program that is started for the test, and ends with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

LOOPBACK = "127.0.0.1"

# The only variables that started programs have from outside.
_INHERITED = ("PATH", "LANG", "TZ")


# Ports that were given out: another server may listen there only later.
_given: set[int] = set()


def free_port() -> int:
    """One that nobody has, and nobody else was given here."""
    while True:
        with socket.socket() as listener:
            listener.bind((LOOPBACK, 0))
            port = listener.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


class Process:
    """Runs in a session of its own, so that everything it starts can be ended with it."""

    def __init__(self, name: str, command: list, environment: dict[str, str], directory: Path):
        self.name = name
        self.log = directory / f"{name}.log"
        inherited = {key: os.environ[key] for key in _INHERITED if key in os.environ}
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                [str(word) for word in command],
                cwd=directory,
                env={**inherited, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def runs(self) -> bool:
        return self._child.poll() is None

    def ask_to_end(self) -> None:
        """Sends SIGTERM, and does not wait."""
        self._child.terminate()

    def status(self) -> int | None:
        """Returns its exit status, if it has ended."""
        return self._child.poll()

    def stop(self, by: signal.Signals = signal.SIGTERM) -> None:
        for end, patience in ((by, 15), (signal.SIGKILL, 15)):
            try:
                os.killpg(self._child.pid, end)
            except ProcessLookupError:
                pass
            try:
                self._child.wait(patience)
                return
            except subprocess.TimeoutExpired:
                continue

    def kill(self) -> None:
        """Ends it at once, whatever it does."""
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait(15)

    def last_lines(self, count: int = 20) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-count:]
        return "\n".join([f"-- last lines of {self.name}", *lines])

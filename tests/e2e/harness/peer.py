"""open-terminal, whose interface the terminal of fileshed speaks, with a home of its own."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from harness import check, install, web
from harness.process import LOOPBACK, Process, free_port

VERSION = "0.14.5"


def program(directory: Path) -> Path:
    """Returns the program that OPEN_TERMINAL_BIN names, or a fresh one from the package index."""
    named = os.environ.get("OPEN_TERMINAL_BIN")
    if named:
        return Path(named).resolve()
    return install.package(f"open-terminal=={VERSION}", directory) / "open-terminal"


class Peer:
    """A running server. `with Peer(...) as peer:` ends it."""

    def __init__(self, program: Path, directory: Path):
        self.home = directory / "home"
        self.home.mkdir()
        self.key = secrets.token_hex(16)
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        environment = {
            "HOME": str(directory),
            "SHELL": "/bin/sh",
            "OPEN_TERMINAL_API_KEY": self.key,
            "OPEN_TERMINAL_INFO": "About this computer.",
        }
        command = [program, "run", "--host", LOOPBACK, "--port", port, "--cwd", self.home]
        self.process = Process("open-terminal", command, environment, directory)

    def __enter__(self) -> "Peer":
        check.until("open-terminal answers", self._answers)
        return self

    def __exit__(self, *_failure: object) -> None:
        self.process.stop()

    def _answers(self) -> bool:
        check.that("open-terminal runs", self.process.runs(), self.process.last_lines())
        try:
            return web.request("GET", f"{self.url}/health", seconds=5).status == 200
        except OSError:
            return False

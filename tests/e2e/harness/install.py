"""Open WebUI and others from the package index, each in a virtual environment that is kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness.versions import Version

_RIGHT_PYTHON = "import sys, ensurepip; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))"

# Prints what the installed package asks for, without its optional parts.
_ASKED_FOR = """
import importlib.metadata
for line in importlib.metadata.requires("open-webui"):
    if ";" not in line:
        print(line)
"""

_FIND_FILE = """
import importlib.metadata, sys
print(*[file.locate() for file in importlib.metadata.files("open-webui") if file.name == sys.argv[1]][:1])
"""

# Messages of pip if there is no package index, or one that does not deliver. An index that merely lacks
# this version gives another message.
_NO_INDEX = re.compile(
    r"from versions: none|Connection\w*Error|\w*Timeout\w*Error|Connection broken|ProxyError"
    r"|HTTP error (403|429|5\d\d)|Max retries exceeded|DO NOT MATCH THE HASHES"
)


class Missing(Exception):
    """A program or package is missing on this machine, so that the version cannot be tested here."""


class NotInstalled(Exception):
    """Something else went wrong."""


def program(name: str) -> str:
    """Returns the path of a program of this machine, also of one for administrators."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not found:
        raise Missing(f"{name} is not installed")
    return found


def environment(version: Version, directory: Path) -> Path:
    """The Python of a virtual environment that has this version; makes it if it is not there."""
    place = directory / f"open-webui-{version.number}"
    python = place / "bin" / "python"
    stamp = place / "complete"
    needs = (version.number, version.requirements_file, version.names, version.additions)
    wanted = hashlib.sha256(repr(needs).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted and _works(python):
        return python
    shutil.rmtree(place, ignore_errors=True)
    base = _base_python()
    print(f"installing Open WebUI {version.number} into {place}", flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    _run([base, "-m", "venv", str(place)])
    _install(python, "--no-deps", f"open-webui=={version.number}")
    _install(python, *_requirements(version, python))
    stamp.write_text(wanted)
    return python


def package(requirement: str, directory: Path) -> Path:
    """The programs of a virtual environment that has this package with all that it asks for; makes it
    if it is not there."""
    programs = directory / requirement.replace("==", "-") / "bin"
    stamp = programs / "complete"
    if stamp.is_file() and _works(programs / "python"):
        return programs
    shutil.rmtree(programs.parent, ignore_errors=True)
    base = _base_python()
    print(f"installing {requirement} into {programs.parent}", flush=True)
    programs.parent.parent.mkdir(parents=True, exist_ok=True)
    _run([base, "-m", "venv", str(programs.parent)])
    _install(programs / "python", requirement)
    stamp.touch()
    return programs


def _works(python: Path) -> bool:
    """Returns True if the Python of the environment is still there."""
    try:
        return subprocess.run([python, "-c", ""], check=False).returncode == 0
    except OSError:
        return False


def _base_python() -> str:
    for name in (sys.executable, "python3.12", "python3.11"):
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", _RIGHT_PYTHON], stderr=subprocess.DEVNULL).returncode == 0:
            return path
    raise Missing("there is no Python 3.11 or 3.12 with venv")


def _requirements(version: Version, python: Path) -> list[str]:
    if version.requirements_file:
        return ["-r", _run([python, "-c", _FIND_FILE, version.requirements_file]).strip()]
    asked_for = _run([python, "-c", _ASKED_FOR]).splitlines()
    by_name = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower(): line for line in asked_for}
    return [by_name[name] for name in version.names] + list(version.additions)


def _install(python: Path, *arguments: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    try:
        _run([*pip, *arguments])
    except NotInstalled as failure:
        if _NO_INDEX.search(str(failure)):
            raise Missing("pip reaches no package index") from failure
        raise


def _run(command: list) -> str:
    """Returns the output of the program."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        shown = " ".join(map(str, command[:6]))
        raise NotInstalled(f"{shown} failed:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    return done.stdout

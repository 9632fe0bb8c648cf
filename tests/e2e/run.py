"""Proves that fileshed works in a real Open WebUI.

openwebui.sh [VERSION …] [--smoke] [--only SCENARIO] [--install-only] [--keep] [--pictures DIRECTORY]

Open WebUI comes from the package index and stays in the build directory. Where there is none, or no
Python that it runs with, a line that begins with SKIP says so; everything else is a failure.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Callable

import scenarios
from harness import check, fileshed, install, parts, versions, webui
from harness.world import World
from scenarios import page


def main() -> int:
    arguments = _arguments()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [versions.find(number) for number in arguments.versions] or versions.VERSIONS
    if arguments.keep or arguments.smoke:
        chosen = chosen[:1]
    if arguments.install_only:
        return 0 if all([parts.attempt("Open WebUI", version.number, lambda: _installed(version)) for version in chosen]) else 1
    program = fileshed.binary()
    failed = sum(_test(version, program, arguments) for version in chosen)
    if failed:
        print(f"{failed} failed", flush=True)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="openwebui.sh", description="Test fileshed in a real Open WebUI.")
    names = scenarios.names()
    parser.add_argument(
        "versions", nargs="*", metavar="VERSION", help="versions of Open WebUI (default: all)"
    )
    parser.add_argument("--smoke", action="store_true", help="one short scenario with the newest version")
    parser.add_argument("--install-only", action="store_true", help="install what is not installed yet, and test nothing")
    parser.add_argument("--only", metavar="SCENARIO", choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--keep", action="store_true", help="test nothing, stay, and say where to look")
    parser.add_argument(
        "--pictures", metavar="DIRECTORY", type=Path, help="keep pictures of the pages (PNG) there"
    )
    return parser.parse_args()


def _test(version: versions.Version, program: Path, arguments: argparse.Namespace) -> int:
    """Tests one version; returns the number of failures."""
    try:
        python = _installed(version)
    except install.Missing as missing:
        print(f"SKIP: Open WebUI {version.number}: {missing}", flush=True)
        return 0
    except install.NotInstalled as failure:
        print(f"FAILED Open WebUI {version.number}: install\n{failure}", flush=True)
        return 1
    with tempfile.TemporaryDirectory(prefix="fileshed-e2e-", ignore_cleanup_errors=True) as directory:
        world = World(version, python, program, Path(directory))
        world.pictures = arguments.pictures
        try:
            plan = scenarios.SMOKE if arguments.smoke else scenarios.PLAN
            return _keep(world) if arguments.keep else _run(world, plan, arguments.only)
        finally:
            world.stop()


def _installed(version: versions.Version) -> Path:
    return install.environment(version, fileshed.target() / "e2e")


def _run(world: World, plan: scenarios.Plan, only: str | None) -> int:
    """Runs the scenarios; returns the number of failures."""
    failed = 0
    for naming, listed in plan.items():
        chosen = [scenario for scenario in listed if only in (None, scenarios.name(scenario))]
        if not chosen:
            continue
        world.webui.stop()
        print(f"Open WebUI {world.version.number} names its users {naming.value}", flush=True)
        if not _holds(world, "start", lambda world: world.start(naming)):
            return failed + 1
        failed += sum(not _holds(world, scenarios.name(scenario), scenario.run) for scenario in chosen)
    return failed


def _keep(world: World) -> int:
    """Stays until told to stop, for people who want to look."""
    world.start(webui.Naming.NONE)
    page.tell(world)
    with world.connected("session", openwebui_api_url=world.webui.url) as server:
        print(f"Open WebUI {world.version.number}: {world.webui.url}")
        print(f"fileshed: {server.url}")
        for account in world.webui.accounts.values():
            print(f"{account.name}: {account.email}, password: {webui.PASSWORD}")
        print(f"The model knows one question: {page.QUESTION}")
        print("Ctrl-C ends everything.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


def _holds(world: World, name: str, run: Callable[[World], None]) -> bool:
    title = f"Open WebUI {world.version.number}: {name}"
    begun = time.monotonic()
    try:
        run(world)
    except Exception as failure:
        print(f"FAILED {title}", flush=True)
        if isinstance(failure, check.Failed):
            print(failure)
        traceback.print_exc(file=sys.stdout)
        print(world.last_lines(), flush=True)
        return False
    print(f"ok     {title} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())

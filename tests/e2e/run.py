"""Proves that fileshed works in a real Open WebUI.

run.py [VERSION …] [--only SCENARIO] [--keep] [--screenshot FILE]
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import scenarios
from harness import check, fileshed, install, versions
from harness.world import World


def main() -> int:
    arguments = _arguments()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = fileshed.binary()
    chosen = [versions.find(number) for number in arguments.versions] or versions.VERSIONS
    failed = 0
    for version in chosen:
        try:
            python = install.environment(version, fileshed.target() / "e2e")
        except install.Missing as missing:
            print(f"SKIP: Open WebUI {version.number}: {missing}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="fileshed-e2e-") as directory:
            world = World(version, python, program, Path(directory))
            world.screenshot = arguments.screenshot
            try:
                failed += _run(world, arguments.only)
            finally:
                world.stop()
    if failed:
        print(f"{failed} failed", flush=True)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="openwebui.sh", description="Test fileshed in a real Open WebUI.")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="versions of Open WebUI (default: all)")
    parser.add_argument("--only", metavar="SCENARIO", help="one scenario by its name")
    parser.add_argument("--screenshot", metavar="FILE", type=Path, help="keep a picture of the page (PNG)")
    return parser.parse_args()


def _run(world: World, only: str | None) -> int:
    """How many scenarios failed."""
    failed = 0
    world.start()
    for scenario in scenarios.PLAIN:
        if only in (None, scenarios.name(scenario)):
            failed += not _holds(world, scenario)
    return failed


def _holds(world: World, scenario) -> bool:
    title = f"Open WebUI {world.version.number}: {scenarios.name(scenario)}"
    begun = time.monotonic()
    try:
        scenario.run(world)
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

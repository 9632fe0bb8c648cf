"""Compares the terminal of fileshed with open-terminal, whose interface it speaks.

peer.py [--all] [--install-only]

Both servers get the same requests, and statuses, fields and values are compared. What is meant to
differ is listed in comparison/deliberate.py. `--all` shows that, too. Where there is no package index,
a line that begins with SKIP says so.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from comparison import difference
from comparison.deliberate import DELIBERATE, Deliberate
from comparison.step import Side, Step
from comparison.steps import STEPS
from harness import fileshed, install, peer


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer.py", description="Compare fileshed with open-terminal.")
    parser.add_argument("--all", action="store_true", help="show deliberate differences, too")
    parser.add_argument("--install-only", action="store_true", help="install what is not installed yet, and compare nothing")
    arguments = parser.parse_args()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        program = peer.program(fileshed.target() / "e2e")
    except install.Missing as missing:
        print(f"SKIP: open-terminal: {missing}")
        return 0
    if arguments.install_only:
        return 0
    with tempfile.TemporaryDirectory(prefix="fileshed-peer-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        (place / "peer").mkdir()
        (place / "ours").mkdir()
        settings = {"FILESHED_TERMINAL_API_KEYS": "terminal-key"}
        theirs = peer.Peer(program, place / "peer")
        ours = fileshed.Fileshed(fileshed.binary(), place / "ours", settings)
        with theirs, ours:
            sides = (
                Side(theirs.url, theirs.key, {"home": str(theirs.home)}),
                Side(f"{ours.url}/terminal", "terminal-key", {"home": "/storage"}),
            )
            return _compare(*sides, arguments.all)


def _compare(theirs: Side, ours: Side, show_all: bool) -> int:
    """Status of the program."""
    different, used = 0, set()
    for step in STEPS:
        for line in difference.between(step, theirs, ours, theirs.send(step), ours.send(step)):
            deliberate = _reason(step, line)
            if deliberate:
                used.add(deliberate)
                if show_all:
                    print(f"meant     {step.name}: {line} ({deliberate.reason})")
            else:
                different += 1
                print(f"DIFFERENT {step.name}: {line}")
    unused = [deliberate for deliberate in DELIBERATE if deliberate not in used]
    for deliberate in unused:
        print(f"NO LONGER {deliberate.reason}")
    print(f"{len(STEPS)} requests, {different} undeliberate differences", flush=True)
    return 1 if different or unused else 0


def _reason(step: Step, line: str) -> Deliberate | None:
    return next((deliberate for deliberate in DELIBERATE if deliberate.covers(step.name, line)), None)


if __name__ == "__main__":
    sys.exit(main())

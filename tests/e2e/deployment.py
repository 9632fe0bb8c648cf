"""Tries what is in deploy/: the compose file and the manifests as the tools read them, and the proxy with
two real servers and PostgreSQL behind it; and a cable to the database that is cut.

deployment.py [part ...]

The parts are compose, kubernetes, traffic and cable. A program that is not there, and a package that no index
gives, is skipped by a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from deployment import manifests, site, traffic
from deployment.cable import cable
from harness import check, parts

#: What draining needs: the proxy asks twice.
SETTINGS = {"FILESHED_INSTANCE_DRAIN_SECONDS": "5"}


def _traffic(directory: Path) -> None:
    with site.Site(directory, SETTINGS) as ours:
        for scenario in traffic.SCENARIOS:
            begun = time.monotonic()
            try:
                scenario(ours)
            except check.Failed:
                print("\n".join(ours.proxy_said()[-20:]))
                raise
            print(f"ok {scenario.__name__} ({time.monotonic() - begun:.0f} s)", flush=True)


PARTS = {
    "compose": manifests.compose,
    "kubernetes": manifests.kubernetes,
    "traffic": _traffic,
    "cable": cable,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="deployment.py", description="Try what is deployed.")
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="which; all, if none is named")
    arguments = parser.parse_args()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    went_well = True
    for name in arguments.part or list(PARTS):
        with tempfile.TemporaryDirectory(prefix="fileshed-deployment-") as directory:
            went_well &= parts.attempt("deployment", name, lambda: PARTS[name](Path(directory)))
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())

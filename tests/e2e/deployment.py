"""Tries what is in deploy/: the compose file and the manifests as the tools read them, and the proxy with
two real servers and PostgreSQL behind it; the examples for other proxies; and a cable to the database that
is cut.

deployment.py [part ...]

The parts are compose, kubernetes, traffic, nginx, caddy and cable. A program that is not there, and a
package that no index gives, is skipped by a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

from deployment import manifests, proxies, site, traffic
from deployment.cable import cable
from harness import check, parts

#: What draining needs: the proxy asks twice.
SETTINGS = {"FILESHED_INSTANCE_DRAIN_SECONDS": "5"}


def _traffic(directory: Path) -> None:
    _try(traffic.SCENARIOS, site.Site(directory, SETTINGS, proxies.Haproxy()))


def _nginx(directory: Path) -> None:
    for names, scenarios in (
        (site.SERVERS[:1], [*traffic.THROUGH_ANY_PROXY, traffic.an_answer_with_tls]),
        (site.SERVERS, [*traffic.THROUGH_ANY_PROXY, traffic.a_server_that_listens_no_more]),
    ):
        place = directory / str(len(names))
        place.mkdir()
        _try(scenarios, site.Site(place, SETTINGS, proxies.Nginx(), names))


def _caddy(directory: Path) -> None:
    _try(traffic.THROUGH_ANY_PROXY, site.Site(directory, SETTINGS, proxies.Caddy(), site.SERVERS[:1]))


def _try(scenarios: list[Callable[[site.Site], None]], ours: site.Site) -> None:
    with ours:
        for scenario in scenarios:
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
    "nginx": _nginx,
    "caddy": _caddy,
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
        with tempfile.TemporaryDirectory(prefix="fileshed-deployment-", ignore_cleanup_errors=True) as directory:
            went_well &= parts.attempt("deployment", name, lambda: PARTS[name](Path(directory)))
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())

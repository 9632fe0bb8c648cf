"""Reads the sample files of packages with fileshed and with the tool that people trust, and compares.

run.py [--only PACKAGE] [--tools]

What differs is listed by cause in differences.toml. The run fails where a file differs more than the table
says, and where one differs less, so that the table only shrinks. A package that cannot be fetched is
skipped by a line that begins with SKIP. `--tools` prints what the trusted tools could not read.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import checks
import ours
import packages
import table
from harness import check, fileshed

USER = "corpus"


def main() -> int:
    parser = argparse.ArgumentParser(prog="run.py", description="Compare readings of sample files.")
    parser.add_argument("--only", help="a package")
    parser.add_argument("--tools", action="store_true", help="print what the trusted tools could not read")
    arguments = parser.parse_args()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    known = table.known()
    chosen = [package for package in packages.PACKAGES if arguments.only in (None, package.name)]
    files, skipped = _fetched(chosen, fileshed.target() / "corpus")
    skipped |= {package.name for package in packages.PACKAGES if package not in chosen}
    print(f"{len(files)} files after {time.monotonic() - begun:.0f} s", flush=True)
    results = _results(files)
    _report(results, arguments.tools)
    failures = table.failures(known, results, skipped)
    for line in failures:
        print(line)
    print(f"{len(results)} checks, {len(failures)} not as listed, in {time.monotonic() - begun:.0f} s")
    return 1 if failures else 0


def _fetched(chosen: list[packages.Package], directory: Path) -> tuple[dict[str, Path], set[str]]:
    """Every file that is checked, by package and path, and the packages that are not there."""
    directory.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    skipped = set()
    with ThreadPoolExecutor(4) as pool:
        places = [(package, pool.submit(package.unpacked, directory)) for package in chosen]
    for package, place in places:
        try:
            top = place.result()
        except packages.Missing as missing:
            print(f"SKIP: corpus, {package.name}: {missing}")
            skipped.add(package.name)
            continue
        for file in sorted(top.rglob("*")):
            if file.is_file() and checks.of(file):
                files[f"{package.name}/{file.relative_to(top)}"] = file
    return files, skipped


def _results(files: dict[str, Path]) -> list[checks.Result]:
    key = secrets.token_hex(16)
    settings = {"FILESHED_LOG_LEVEL": "warn", "FILESHED_API_KEYS": key, "FILESHED_TERMINAL_API_KEYS": key}
    with tempfile.TemporaryDirectory(prefix="fileshed-corpus-", ignore_cleanup_errors=True) as directory:
        with fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server:
            made = server.run("token", "create", "--user", USER)
            check.equal(f"a token: {made.stderr}", made.returncode, 0)
            caller = ours.Caller(server.url, server.port, key, USER, made.stdout.strip())
            workers = min(4, os.cpu_count() or 1)
            with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
                done = pool.map(checks.run, [caller] * len(files), files.keys(), files.values())
                return [result for found in done for result in found]


def _report(results: list[checks.Result], tools: bool) -> None:
    for kind in sorted({result.kind for result in results}):
        counted = Counter(
            "unread" if result.unread else "differ" if result.count else "agree"
            for result in results
            if result.kind == kind
        )
        numbers = ", ".join(f"{counted[name]} {what}" for name, what in _COUNTED.items())
        print(f"{kind:16} {numbers}")
    for result in results:
        if tools and result.unread:
            print(f"unread    {result.file}: {result.unread}")


_COUNTED = {"agree": "agree", "differ": "differ", "unread": "that the trusted tool does not read"}


if __name__ == "__main__":
    sys.exit(main())

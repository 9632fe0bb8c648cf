"""Has a person use the page in Chromium, and for a while in Firefox: with the mouse and by key, at a desk
and with a finger on a phone.

people.py [SCENARIO …] [--smoke] [--install-only] [--accept] [--pixels] [--pictures DIRECTORY]

Everything is found by its role and label, as screen readers find it. What comes from a registry that
cannot be reached, and a browser that is not there, is skipped by a line that begins with SKIP. What
is done on a phone has a name that ends with `-phone`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from harness import browser, check, fileshed, install, parts
from people import SMOKE, named
from people.provider import programs as provider_programs
from people.world import DESK, World, axe_core

SCENARIOS = named()


def main() -> int:
    parser = argparse.ArgumentParser(prog="people.py", description="Use the page as a person does.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--smoke", action="store_true", help=f"only {', '.join(SMOKE)}")
    parser.add_argument("--install-only", action="store_true", help="install what is not installed yet, and test nothing")
    parser.add_argument("--accept", action="store_true", help="take the boxes, and with --pixels the pixels, for what they should be")
    parser.add_argument("--pixels", action="store_true", help="compare the committed pictures, too")
    parser.add_argument("--pictures", metavar="DIRECTORY", type=Path, help="keep pictures of the page (PNG) there")
    arguments = parser.parse_args()
    if arguments.install_only:
        wanted = {"axe-core": axe_core, "oidc-provider": provider_programs}
        chosen = ["axe-core"] if arguments.smoke else list(wanted)
        return 0 if all([parts.attempt("the page", name, wanted[name]) for name in chosen]) else 1
    missing = browser.missing()
    if missing:
        print(f"SKIP: the page: there is no {missing}")
        return 0
    # No sign-in: one person on their own machine.
    settings = {"FILESHED_API_KEYS": "", "FILESHED_LOG_LEVEL": "warn"}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fileshed-people-", ignore_cleanup_errors=True) as directory:
        downloads, *places = [Path(directory) / name for name in ("downloads", "desk", "phone")]
        for place in (downloads, *places):
            place.mkdir()
        with (
            fileshed.Fileshed(fileshed.binary(), places[0], settings) as desk,
            fileshed.Fileshed(fileshed.binary(), places[1], settings) as phone,
            browser.Browser(downloads) as window,
        ):
            window.resize(*DESK)
            world = World(desk, window, arguments.pictures)
            # The server of the phone has none of the files from the desk's scenarios.
            small = World(phone, window, arguments.pictures, world.page)
            for one in (world, small):
                one.accepts, one.compares_pixels = arguments.accept, arguments.pixels
            for name in arguments.scenarios or (SMOKE if arguments.smoke else SCENARIOS):
                failed += not _holds(small if SCENARIOS[name][1] else world, name)
    return 1 if failed else 0


def _holds(world: World, name: str) -> bool:
    scenario, on_phone = SCENARIOS[name]
    begun = time.monotonic()
    try:
        world.use_phone(on_phone)
        scenario(world)
    except install.Missing as missing:
        print(f"SKIP: the page, {name}: {missing}", flush=True)
        return True
    except Exception as failure:
        print(f"FAILED the page: {name}", flush=True)
        print(failure if isinstance(failure, check.Failed) else traceback.format_exc(), flush=True)
        return False
    print(f"ok     the page: {name} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())

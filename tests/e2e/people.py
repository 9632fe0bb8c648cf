"""Has a person use the page in Chromium and in Firefox: with the mouse and by key, at a desk and with a
finger on a phone.

people.py [SCENARIO …] [--smoke] [--install-only] [--accept] [--pixels] [--pictures DIRECTORY]

Everything is found by its role and label, as screen readers find it. What comes from a registry that
cannot be reached, and a browser that is not there, is skipped by a line that begins with SKIP. The names
of what is done in Firefox, in dark and on a phone have these words at their ends, as in
`views-firefox-dark-phone`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from contextlib import ExitStack
from pathlib import Path

from harness import browser, check, fileshed, firefox, install, parts
from harness.accessible import Accessible
from harness.chromium import ChromiumPage
from harness.firefox_page import FirefoxPage
from people import SMOKE, Way, named
from people.provider import programs as provider_programs
from people.world import DESK, World, axe_core

SCENARIOS = named()

MISSING = {"chromium": browser.missing, "firefox": firefox.missing}

# No sign-in: one person on their own machine.
SETTINGS = {"FILESHED_API_KEYS": "", "FILESHED_LOG_LEVEL": "warn"}


class Worlds(ExitStack):
    """The windows, a server for each size of each of them, and what is opened of both so far."""

    def __init__(self, directory: Path, arguments: argparse.Namespace):
        super().__init__()
        self._directory = directory
        self._arguments = arguments
        self._pages: dict[str, Accessible] = {}
        self._worlds: dict[tuple[str, bool], World] = {}

    def world(self, way: Way) -> World:
        """The world of a scenario. The server of a phone has none of the files from a desk."""
        at = way.browser, way.is_phone
        if at not in self._worlds:
            page = self._page(way.browser)
            place = self._made(f"{way.browser}-{'phone' if way.is_phone else 'desk'}")
            server = self.enter_context(fileshed.Fileshed(fileshed.binary(), place, SETTINGS))
            world = World(server, page.window, page, self._arguments.pictures)
            # The other browser is to have the boxes of Chromium.
            world.accepts = self._arguments.accept and way.browser == "chromium"
            world.compares_pixels = self._arguments.pixels
            self._worlds[at] = world
        return self._worlds[at]

    def _page(self, name: str) -> Accessible:
        if name not in self._pages:
            downloads = self._made(f"{name}-downloads")
            if name == "firefox":
                window = self.enter_context(firefox.Firefox(self._made(name), downloads))
                self._pages[name] = FirefoxPage(window)
            else:
                window = self.enter_context(browser.Browser(downloads))
                self._pages[name] = ChromiumPage(window)
            window.resize(*DESK)
        return self._pages[name]

    def _made(self, name: str) -> Path:
        place = self._directory / name
        place.mkdir()
        return place


def main() -> int:
    parser = argparse.ArgumentParser(prog="people.py", description="Use the page as a person does.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--smoke", action="store_true", help=f"only {', '.join(SMOKE)}")
    parser.add_argument("--install-only", action="store_true", help="install what is not installed yet, and test nothing")
    parser.add_argument("--accept", action="store_true", help="take the boxes, and with --pixels the pixels, for what they should be")
    parser.add_argument("--pixels", action="store_true", help="compare the committed pictures, too")
    parser.add_argument("--pictures", metavar="DIRECTORY", type=Path, help="keep pictures of the page (PNG) there")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scenarios if name not in SCENARIOS]:
        parser.error(f"there is no {', '.join(unknown)}")
    if arguments.install_only:
        wanted = {"axe-core": axe_core, "oidc-provider": provider_programs}
        chosen = ["axe-core"] if arguments.smoke else list(wanted)
        return 0 if all([parts.attempt("the page", name, wanted[name]) for name in chosen]) else 1
    ways = [SCENARIOS[name] for name in arguments.scenarios or (SMOKE if arguments.smoke else SCENARIOS)]
    for name, missing in MISSING.items():
        if absent := missing() if any(way.browser == name for way in ways) else "":
            print(f"SKIP: the page in {name}: there is no {absent}")
            ways = [way for way in ways if way.browser != name]
    with (
        tempfile.TemporaryDirectory(prefix="fileshed-people-", ignore_cleanup_errors=True) as directory,
        Worlds(Path(directory), arguments) as worlds,
    ):
        failed = sum(not _holds(worlds, way) for way in ways)
    return 1 if failed else 0


def _holds(worlds: Worlds, way: Way) -> bool:
    begun = time.monotonic()
    try:
        world = worlds.world(way)
        world.usual_scheme = "dark" if way.is_dark else ""
        world.use_phone(way.is_phone)
        world.in_scheme("")
        world.errors()
        way.scenario(world)
        # Some scenarios want a request to be refused.
        check.equal("the console tells nothing", world.window.errors(answers=False), [])
    except install.Missing as missing:
        print(f"SKIP: the page, {way.name}: {missing}", flush=True)
        return True
    except Exception as failure:
        print(f"FAILED the page: {way.name}", flush=True)
        print(failure if isinstance(failure, check.Failed) else traceback.format_exc(), flush=True)
        return False
    print(f"ok     the page: {way.name} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())

"""The world of a scenario: a server, a window on its page, and functions to see and act there."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator
from urllib.parse import urlencode

from harness import check, fileshed, npm, web
from harness.accessible import Accessible
from harness.browser import Browser
from harness.firefox import Firefox

AXE = "axe-core@4.14.1"

#: Width and height of a window at a desk and on a phone.
DESK = (1280, 800)
PHONE = (390, 844)


def axe_core() -> Path:
    """The script of axe-core, which is installed if it is not there."""
    return npm.package(AXE, fileshed.target() / "e2e", runs=False).modules / "axe-core" / "axe.min.js"


class World:
    """A server for one person, and a window on it."""

    def __init__(self, server: fileshed.Fileshed, window: Browser | Firefox, page: Accessible, pictures: Path | None):
        self.server = server
        self.window = window
        self.page = page
        self.pictures = pictures
        #: Light or dark, where a scenario does not say; empty for what the machine prefers.
        self.usual_scheme = ""
        #: Whether what is seen now is what is expected from then on.
        self.accepts = False
        #: Whether pictures are compared with the committed ones.
        self.compares_pixels = False

    @property
    def is_phone(self) -> bool:
        return self.page.touches

    def use_phone(self, wanted: bool) -> None:
        """A small screen and a finger, or a large one and a mouse."""
        self.page.touches = wanted
        self.window.touch(wanted)
        self.window.resize(*(PHONE if wanted else DESK))

    def open(self, where: str) -> None:
        """Shows a place as if its address was typed in."""
        self.window.open("about:blank")
        self.window.open(f"{self.server.url}/#/{where}")
        self.page.see("dialog" if "open=" in where else "grid")

    def go(self, place: str) -> None:
        """Follows a link among the places, which lie behind a button on a phone."""
        if self.is_phone:
            self.page.click("button", "Menu")
        self.page.click("link", place, inside=("navigation", "Places"))
        if self.is_phone:
            self.page.gone("navigation", "Places")

    def sign_out(self) -> None:
        if self.is_phone:
            self.page.click("button", "Menu")
        self.page.click("button", "Sign out")
        self.page.see("textbox", "Personal token")

    def call(self, operation: str, **given: object) -> dict:
        answer = self.server.call(operation, given)
        check.equal(f"{operation}: {answer.text}", answer.status, 200)
        return answer.json()["data"]

    def store(self, zone: str, path: str, content: bytes) -> None:
        address = f"{self.server.url}/files/content?{urlencode({'zone': zone, 'path': path})}"
        answer = web.request("PUT", address, raw=content)
        check.that(f"{path} is stored: {answer.text}", answer.status in (200, 201))

    def content(self, zone: str, path: str) -> bytes | None:
        address = f"{self.server.url}/files/content?{urlencode({'zone': zone, 'path': path})}"
        answer = web.request("GET", address)
        return answer.body if answer.status == 200 else None

    def script(self, text: str, *arguments: object):
        return self.window.script(text, *arguments)

    def errors(self) -> list[str]:
        """Returns the browser's reports since the last call: errors of scripts, failed requests, and breaches
        of a policy."""
        return self.window.errors()

    def settle(self) -> None:
        """Waits until the page has drawn what it has, and nothing moves but what always does."""
        self.window.run("""
            const done = arguments[0];
            const frame = () => new Promise(requestAnimationFrame);
            const moving = () => document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
            frame().then(frame).then(() => Promise.allSettled(moving().map((one) => one.finished))).then(frame).then(() => done());
        """)

    def picture(self, name: str, height: int = 0) -> None:
        """Keeps a picture, of a window that is so high, unless it is to stay as it is."""
        if not self.pictures:
            return
        self.pictures.mkdir(parents=True, exist_ok=True)
        if height:
            self.window.resize(DESK[0], height)
        of = [name] if self.window.name == "chromium" else [self.window.name, name]
        if self.usual_scheme:
            of.append(self.usual_scheme)
        self.window.picture(self.pictures / f"{'-'.join(of)}.png")
        if height:
            self.window.resize(*DESK)

    @contextmanager
    def another(self, **settings: str) -> Iterator["World"]:
        """The same window on another server, with its own data and these settings beside the usual ones."""
        given = {"FILESHED_LOG_LEVEL": "warn"}
        given |= {f"FILESHED_{name.upper()}": value for name, value in settings.items()}
        with tempfile.TemporaryDirectory(prefix="fileshed-people-", ignore_cleanup_errors=True) as directory:
            with fileshed.Fileshed(fileshed.binary(), Path(directory), given) as server:
                try:
                    here = World(server, self.window, self.page, self.pictures)
                    here.accepts, here.compares_pixels = self.accepts, self.compares_pixels
                    here.usual_scheme = self.usual_scheme
                    yield here
                finally:
                    # Pending requests of the page would fail in the next one.
                    self.window.open("about:blank")

    def told(self, *arguments: str) -> str:
        """Runs the program at the command line, and returns its output."""
        done = self.server.run(*arguments)
        check.equal(f"{arguments}: {done.stderr}", done.returncode, 0)
        return done.stdout.strip()

    def of(self, user: str, operation: str, **given: object) -> web.Response:
        """A call of this user, as a gateway makes it."""
        return self.server.call(operation, given, self.server.key, {"X-OpenWebUI-User-Id": user})

    def sign_in(self, token: str) -> None:
        self.page.write("textbox", "Personal token", token)
        self.page.click("button", "Sign in")

    def clean(self, where: str) -> None:
        """axe-core finds nothing on what is shown now."""
        # Pictures that move have no colours of their own yet.
        check.until("it has loaded", lambda: not self.page.says("Loading"))
        self.script(axe_core().read_text())
        found = self.window.run(
            "const done = arguments[0]; axe.run().then((found) => done(found.violations.map(({ id, nodes }) => "
            "`${id}: ${nodes.map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary).join(' | ')}`)));"
        )
        check.equal(f"axe finds nothing: {where}", found, [])

    def in_scheme(self, scheme: str) -> None:
        """Shows pages in light or dark; empty for what is usual."""
        self.window.scheme(scheme or self.usual_scheme)

    def fits(self) -> None:
        """The page is not wider than the screen."""
        fits = self.script("return document.documentElement.scrollWidth <= innerWidth")
        check.that("nothing is wider than the screen", fits)

    def row(self, name: str) -> None:
        self.page.see("checkbox", f"Select {name}")

    def listed(self) -> list[str]:
        """The entries as the list has them."""
        return _entries(self.page.names("checkbox"))

    def has_chosen(self, expected: list[str]) -> None:
        """These entries are selected, in the order of the list."""
        chosen = lambda: _entries(self.page.names_where("checkbox", "checked"))
        check.until(lambda: f"{expected} are selected; {chosen()} are", lambda: chosen() == expected)

    def told_by_page(self) -> str:
        """The notes at the bottom."""
        return self.page.text("status", "Notices")

    def drop(self, name: str, content: bytes) -> None:
        """Lets a file go over the list."""
        with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
            file = Path(directory) / name
            file.write_bytes(content)
            self.page.drop("main", None, [file])
            self.row(name)

    def dismiss(self) -> None:
        """Closes the notes."""
        def are_gone() -> bool:
            names = [name for name in self.page.names("button") if name.startswith("Close: ")]
            if names:
                # It may go by itself before.
                self.page.could_click("button", names[0])
            return not names

        check.until("no notes are left", are_gone)

    def choose(self, *names: str) -> None:
        for name in names:
            self.page.click("checkbox", f"Select {name}")

    def menu(self, name: str, action: str) -> None:
        """An action of one entry, by its button."""
        self.page.click("button", f"More actions: {name}")
        self.page.click("menuitem", action)


def _entries(boxes: list[str]) -> list[str]:
    """Returns the names of the entries that these boxes select."""
    names = [name.removeprefix("Select ") for name in boxes]
    return [name for name in names if name != "all"]

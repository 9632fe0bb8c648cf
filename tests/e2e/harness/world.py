"""Everything that a scenario may use."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from pathlib import Path
from typing import Iterator

from harness import chat, check, signature
from harness.browser import Browser
from harness.fileshed import Fileshed
from harness.model import Model, Steps, Turn
from harness.versions import Version
from harness.webui import Account, Naming, OpenWebUI


class World:
    """One Open WebUI and its model; servers of fileshed come and go."""

    def __init__(self, version: Version, python: Path, program: Path, directory: Path):
        self.version = version
        self.directory = directory
        self.jwt_secret = secrets.token_hex(32)
        self.model = Model()
        self.webui = OpenWebUI(version, python, directory, self.model.url)
        self.naming = Naming.PLAIN
        #: Where pictures of pages go, if they are wanted.
        self.pictures: Path | None = None
        self.program = program
        self._numbers = itertools.count(1)
        self._logs: list[Fileshed] = []

    def start(self, naming: Naming = Naming.PLAIN) -> None:
        self.naming = naming
        self.webui.start(naming, self.jwt_secret)

    def restart(self) -> None:
        self.webui.stop()
        self.start(self.naming)

    def stop(self) -> None:
        self.webui.stop()
        self.model.stop()

    @contextlib.contextmanager
    def fileshed(self, **settings: str) -> Iterator[Fileshed]:
        """A fresh server. `groups="headers"` is the setting FILESHED_GROUPS."""
        directory = self.directory / f"fileshed-{next(self._numbers)}"
        directory.mkdir()
        if self.naming is Naming.SIGNED:
            settings.setdefault("forward_jwt_secret", self.jwt_secret)
        named = {f"FILESHED_{name.upper()}": value for name, value in settings.items()}
        with Fileshed(self.program, directory, named) as server:
            self._logs.append(server)
            yield server

    @contextlib.contextmanager
    def connected(self, auth: str = "bearer", *, short: bool = False, **settings: str) -> Iterator[Fileshed]:
        """A fresh server that all users of Open WebUI have as a tool; its answers have every field, or
        are as `short` as registering makes them."""
        if auth == "session":
            # No service key at all.
            settings["api_keys"] = ""
        with self.fileshed(**settings) as server:
            whole = {**server.connection(auth), "headers": {"Prefer": "return=representation"}}
            self.webui.connect(*([] if short else [whole]))
            done = server.register(self.webui.url, self.webui.admin.token, "--auth", auth)
            check.that("fileshed registers itself", done.returncode == 0, done.stderr)
            yield server

    @contextlib.contextmanager
    def computer(self, auth: str = "bearer", **settings: str) -> Iterator[Fileshed]:
        """A fresh server that all users of Open WebUI have as a terminal, called Computer."""
        if auth == "session":
            # No key at all: Open WebUI is asked who calls.
            settings |= {"api_keys": "", "openwebui_api_url": self.webui.url}
        settings.setdefault("terminal_api_keys", secrets.token_hex(16) if auth == "bearer" else "")
        with self.fileshed(**settings) as server:
            key = settings["terminal_api_keys"]
            self.webui.connect_terminals(server.terminal(auth, key))
            try:
                yield server
            finally:
                self.webui.connect_terminals()

    def ask(self, who: Account, turns: list[Turn] | Steps, **named) -> chat.Answer:
        return chat.ask(self.webui, self.model, who, turns, **named)

    def picture(self, browser: Browser, name: str) -> None:
        """Keeps how the page looks now, without the notes that come and go."""
        if self.pictures:
            browser.resize(1200, 730)
            browser.gone("[data-sonner-toast]")
            browser.picture(self.pictures / f"{name}.png")

    def call(self, who: Account, tool: str, **arguments) -> chat.Result:
        """One call in a chat of its own."""
        return self.ask(who, [[(tool, arguments)]]).last

    def named(self, who: Account, chat: str = "by-hand") -> dict[str, str]:
        """The headers in which Open WebUI would name this user, for calls past it."""
        user = {"X-OpenWebUI-User-Id": who.id}
        if self.naming is Naming.SIGNED:
            user = {"X-OpenWebUI-User-Jwt": signature.sign(who, self.jwt_secret)}
        return {**user, "X-OpenWebUI-Chat-Id": chat}

    def last_lines(self) -> str:
        """The ends of the logs, for a failure."""
        processes = [self.webui.process, *(server.process for server in self._logs[-1:])]
        return "\n".join(process.last_lines() for process in processes if process)

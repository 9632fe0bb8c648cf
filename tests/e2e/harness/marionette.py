"""Marionette, in which Firefox takes commands of WebDriver by itself, so that no driver is needed."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

from harness import check
from harness.process import LOOPBACK, Process

_FIREFOX = ("firefox-esr", "firefox")

_SETTINGS = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.translations.enable": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-US, en",
    # The port is written down in the profile.
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.prefs.recommended": True,
    "toolkit.telemetry.enabled": False,
}

#: How WebDriver names an element in JSON.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def program() -> str | None:
    return next(filter(None, map(shutil.which, _FIREFOX)), None)


class Refused(Exception):
    """Firefox refused a command."""


class Marionette:
    """A Firefox with a profile of its own in this directory, and the connection to it."""

    def __init__(self, directory: Path, settings: dict[str, object]):
        profile = directory / "profile"
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in (_SETTINGS | settings).items()]
        (profile / "user.js").write_text("\n".join(lines))
        options = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile]
        # A window is no larger than the screen.
        environment = {"HOME": str(directory), "MOZ_HEADLESS": "1", "MOZ_HEADLESS_WIDTH": "1600", "MOZ_HEADLESS_HEIGHT": "1600"}
        self._process = Process("firefox", [program(), *options], environment, directory)
        self._asked = 0
        try:
            written = profile / "MarionetteActivePort"
            check.until("Firefox listens", lambda: written.is_file() and written.read_text().strip())
            # Firefox itself gives up before.
            self._socket = socket.create_connection((LOOPBACK, int(written.read_text())), timeout=2 * check.PATIENCE)
            self._stream = self._socket.makefile("rb")
            self._read()
            self.tell("WebDriver:NewSession", strictFileInteractability=False, unhandledPromptBehavior="ignore")
            patience = int(check.PATIENCE * 1000)
            self.tell("WebDriver:SetTimeouts", script=patience, pageLoad=patience)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._process.stop()

    def _read(self):
        length = bytearray()
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise check.Failed(f"Firefox hung up\n{self._process.last_lines()}")
            length += byte
        return json.loads(self._stream.read(int(length)))

    def tell(self, command: str, **given: object):
        self._asked += 1
        message = json.dumps([0, self._asked, command, given]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            raise Refused(f"{command}: {error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def script(self, text: str, *arguments: object, waits: bool = False, **given: object):
        """Returns the value of a script in the page; or, if it `waits`, that with which it calls its last argument."""
        command = "WebDriver:ExecuteAsyncScript" if waits else "WebDriver:ExecuteScript"
        return self.tell(command, script=text, args=list(arguments), **given)

    def inside(self, text: str, *arguments: object):
        """The value of a script in the process of the page that may do what Firefox itself may."""
        return self.script(text, *arguments, sandbox="system")

    def outside(self, text: str, *arguments: object, waits: bool = False):
        """The same in the window around the page."""
        self.tell("Marionette:SetContext", value="chrome")
        try:
            return self.script(text, *arguments, waits=waits)
        finally:
            self.tell("Marionette:SetContext", value="content")

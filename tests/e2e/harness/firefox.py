"""Firefox, as a person uses it: over Marionette, which it speaks itself, so no driver is needed."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

from harness import check
from harness.process import LOOPBACK, Process

_FIREFOX = ("firefox-esr", "firefox")

#: How WebDriver names an element in JSON.
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

#: What may have a role. What an open dialog shuts off is not there.
_ROLES = {
    "button": "button",
    "checkbox": "input[type=checkbox], [role=checkbox]",
    "dialog": "dialog",
    "heading": "h1, h2, h3",
    "grid": "[role=grid]",
    "link": "a[href]",
    "menuitem": "[role=menuitem]",
    "textbox": "input, textarea, [role=textbox]",
}
_FOUND = """
const dialogs = document.querySelectorAll("dialog:modal");
const top = dialogs[dialogs.length - 1];
const all = [...(top ?? document).querySelectorAll(arguments[0])];
if (top?.matches(arguments[0])) all.push(top);
return all.filter((element) => element.checkVisibility());
"""

_SETTINGS = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-US, en",
    # The port is written down in the profile.
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.prefs.recommended": True,
    "toolkit.telemetry.enabled": False,
}


def missing() -> str:
    """Returns the names of missing programs."""
    return "" if _program() else "firefox-esr"


def _program() -> str | None:
    return next(filter(None, map(shutil.which, _FIREFOX)), None)


class Refused(Exception):
    """Firefox refused a command."""


class Firefox:
    """One window. `with Firefox(...) as firefox:` closes it."""

    def __init__(self, directory: Path):
        profile = directory / "profile"
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _SETTINGS.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [_program(), "--headless", "--marionette", "--no-remote", "--profile", profile]
        self._process = Process("firefox", command, {"HOME": str(directory), "MOZ_HEADLESS": "1"}, directory)
        self._asked = 0
        try:
            written = profile / "MarionetteActivePort"
            check.until("Firefox listens", lambda: written.is_file() and written.read_text().strip())
            port = int(written.read_text())
            self._socket = socket.create_connection((LOOPBACK, port), timeout=check.PATIENCE)
            self._stream = self._socket.makefile("rb")
            self._read()
            self._tell("WebDriver:NewSession", strictFileInteractability=False)
            self._tell("WebDriver:SetWindowRect", width=1280, height=900)
        except BaseException:
            self._process.stop()
            raise

    def __enter__(self) -> "Firefox":
        return self

    def __exit__(self, *_failure: object) -> None:
        self._process.stop()

    def _read(self):
        length = bytearray()
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise check.Failed(f"Firefox hung up\n{self._process.last_lines()}")
            length += byte
        return json.loads(self._stream.read(int(length)))

    def _tell(self, command: str, **given: object):
        self._asked += 1
        message = json.dumps([0, self._asked, command, given]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            raise Refused(f"{command}: {error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def open(self, address: str) -> None:
        self._tell("WebDriver:Navigate", url=address)

    def script(self, text: str, *arguments: object):
        return self._tell("WebDriver:ExecuteScript", script=text, args=list(arguments))

    def find(self, role: str, name: str | None = None) -> list[str]:
        """Returns the visible elements of this role, by the label that screen readers are told."""
        try:
            found = [element[_ELEMENT] for element in self.script(_FOUND, _ROLES[role])]
            label = lambda element: self._tell("WebDriver:GetComputedLabel", id=element)
            return [element for element in found if name is None or label(element) == name]
        except Refused:
            # The page is changing.
            return []

    def labels(self, role: str) -> list[str]:
        """Returns the labels of all elements of a role."""
        try:
            return [self._tell("WebDriver:GetComputedLabel", id=element) for element in self.find(role)]
        except Refused:
            return []

    def see(self, role: str, name: str | None = None) -> str:
        return check.until(f"Firefox shows a {role} {name or ''}", lambda: self.find(role, name))[-1]

    def gone(self, role: str, name: str | None = None) -> None:
        check.until(f"Firefox shows no {role} {name or ''}", lambda: not self.find(role, name))

    def click(self, role: str, name: str) -> None:
        def works() -> bool:
            try:
                self._tell("WebDriver:ElementClick", id=self.see(role, name))
                return True
            except Refused:
                # The page moves.
                return False

        check.until(f"the {role} {name} can be clicked", works)

    def write(self, role: str, name: str, text: str) -> None:
        """Instead of what is there."""
        element = self.see(role, name)
        self._tell("WebDriver:ElementClear", id=element)
        self._tell("WebDriver:ElementSendKeys", id=element, text=text)

    def press_enter(self) -> None:
        enter = "\ue007"
        keys = [{"type": "keyDown", "value": enter}, {"type": "keyUp", "value": enter}]
        self._tell("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": keys}])

    def drop(self, name: str, content: str) -> None:
        """A file, as if it came from the system, onto the page."""
        self.script(
            "const dropped = new DataTransfer();"
            "dropped.items.add(new File([arguments[1]], arguments[0]));"
            "const given = { dataTransfer: dropped, bubbles: true, cancelable: true };"
            "const at = document.querySelector('main') ?? document.body;"
            "for (const what of ['dragenter', 'dragover', 'drop']) at.dispatchEvent(new DragEvent(what, given));",
            name,
            content,
        )

"""Firefox, as a person uses it."""

from __future__ import annotations

import base64
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from harness import check, marionette
from harness.browser import COUNTING, DRAWN, IDLE, VISIBLE
from harness.marionette import Marionette, Refused

# Runs a script in each page before the page's own, and keeps what is told of pages in the console, but for
# advice on how they are laid out: lists have only the rows in view, and files of people need no doctype.
_IN_EACH_PAGE = """
const [script] = arguments;
window.fileshedErrors = [];
const frameScript = (text) => `data:application/javascript,${encodeURIComponent(text)}`;
Services.mm.addMessageListener("fileshed:console", ({ data }) => window.fileshedErrors.push(data));
Services.mm.loadFrameScript(frameScript(`
    addEventListener("DOMWindowCreated", ({ target }) => {
        const page = target.defaultView;
        Cu.evalInSandbox(${JSON.stringify(script)}, Cu.Sandbox(page, { sandboxPrototype: page, wantXrays: false }));
    }, true);
    const told = ({ level, filename, arguments: words }) => {
        const isOfPage = /^(https?|blob|data):/.test(filename);
        if (isOfPage && ["error", "warn", "assert"].includes(level)) sendAsyncMessage("fileshed:console", words.map(String).join(" "));
    };
    Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage)
        .addLogEventListener(told, Cc["@mozilla.org/systemprincipal;1"].createInstance(Ci.nsIPrincipal));
`), true);
const isTold = ({ flags, sourceName, category }) =>
    !(flags & Ci.nsIScriptError.infoFlag) && /^(https?|blob|data):/.test(sourceName) && !/^(Async Pan|HTML_PARSER|Layout)/.test(category);
Services.console.registerListener({
    observe(message) {
        if (!(message instanceof Ci.nsIScriptError) || !isTold(message)) return;
        window.fileshedErrors.push(`${message.sourceName} ${message.lineNumber}: ${message.category}: ${message.errorMessage}`);
    },
});
Services.obs.addObserver((subject) => {
    const channel = subject.QueryInterface(Ci.nsIHttpChannel);
    const isOurs = channel.loadInfo.browsingContext?.top === gBrowser.selectedBrowser.browsingContext;
    if (isOurs && channel.responseStatus >= 400) window.fileshedErrors.push(`${channel.URI.spec} answers ${channel.responseStatus}`);
}, "http-on-examine-response");
// A page that keeps away from the one before it comes in a context of its own, in which nothing is set.
window.fileshedLook = {};
window.fileshedLooks = (look) => {
    Object.assign(window.fileshedLook, look);
    Object.assign(gBrowser.selectedBrowser.browsingContext, look);
};
Services.obs.addObserver((context) => {
    if (context.isContent && !context.parent) Object.assign(context, window.fileshedLook);
}, "browsing-context-attached");
"""

# The size of the page. Its window stays as it is.
_SIZE = """
const [width, height] = arguments, { style } = gBrowser.selectedBrowser;
for (const name of ["width", "min-width", "max-width"]) style.setProperty(name, `${width}px`);
for (const name of ["height", "min-height", "max-height"]) style.setProperty(name, `${height}px`);
"""

# `true` if a file with this name is downloaded; it is then forgotten.
_DOWNLOADED = """
const [path, done] = arguments;
const { Downloads } = ChromeUtils.importESModule("resource://gre/modules/Downloads.sys.mjs");
(async () => {
    const list = await Downloads.getList(Downloads.ALL);
    const found = (await list.getAll()).find((one) => one.target.path === path && one.succeeded);
    if (found) await list.remove(found);
    return Boolean(found);
})().then(done);
"""

_REFUSE = """
const [parts] = arguments;
window.fileshedRefuses = (subject) => {
    const channel = subject.QueryInterface(Ci.nsIHttpChannel);
    if (parts.some((part) => channel.URI.spec.includes(part))) channel.cancel(Cr.NS_ERROR_CONNECTION_REFUSED);
};
Services.obs.addObserver(window.fileshedRefuses, "http-on-modify-request");
"""

_WORKED = """
const [done] = arguments, { osPid } = gBrowser.selectedBrowser.browsingContext.currentWindowGlobal;
ChromeUtils.requestProcInfo().then(({ children }) => {
    const { threads } = children.find(({ pid }) => pid === osPid);
    done(threads.find(({ tid }) => tid === osPid).cpuTime);
});
"""

_CLIPBOARD = """
const copied = Cc["@mozilla.org/widget/transferable;1"].createInstance(Ci.nsITransferable), data = {};
copied.init(null);
copied.addDataFlavor("text/plain");
Services.clipboard.getData(copied, Services.clipboard.kGlobalClipboard);
copied.getTransferData("text/plain", data);
return data.value.QueryInterface(Ci.nsISupportsString).data;
"""


def missing() -> str:
    """Returns the names of missing programs."""
    return "" if marionette.program() else "firefox-esr"


class Firefox:
    """One window, which does what `Browser` does. `with Firefox(...) as firefox:` closes it."""

    name = "firefox"

    def __init__(self, directory: Path, downloads: Path):
        self.downloads = downloads
        #: For what only a part of the page needs.
        self.driver = Marionette(directory, {
            # The tree for screen readers is there from the beginning.
            "accessibility.force_disabled": -1,
            "browser.download.dir": str(downloads),
            "browser.download.folderList": 2,
            # The page may read files and folders that a test drops.
            "security.sandbox.content.read_path_whitelist": f"{tempfile.gettempdir()}/",
            "dom.filesystem.pathcheck.disabled": True,
            # A question of Firefox can be answered at once.
            "security.dialog_enable_delay": 0,
            # Boxes are where they are with the bars of Chromium.
            "widget.non-native-theme.scrollbar.size.override": 20,
        })
        #: Media features, and whether the page has them.
        self._look: dict[str, bool] = {}
        #: Errors and warnings that were not asked for yet.
        self._told: list[str] = []
        try:
            self.driver.tell("WebDriver:SetWindowRect", width=1500, height=1400)
            self.driver.outside(_IN_EACH_PAGE, COUNTING)
            self.resize(1200, 800)
        except BaseException:
            self.driver.stop()
            raise

    def __enter__(self) -> "Firefox":
        return self

    def __exit__(self, *_failure: object) -> None:
        self.driver.stop()

    def resize(self, width: int, height: int) -> None:
        """The size of the page, not of the window around it."""
        self.driver.outside(_SIZE, width, height)
        self.until(f"the page is {width} wide and {height} high",
                   lambda: self.script("return [innerWidth, innerHeight]") == [width, height])

    def touch(self, enabled: bool) -> None:
        """Makes the pointer a finger, or a mouse again."""
        self._look["(pointer: coarse)"] = enabled
        self.driver.outside("window.fileshedLooks({ touchEventsOverride: arguments[0] })", "enabled" if enabled else "none")
        self._has_its_look()

    def scheme(self, scheme: str) -> None:
        """Shows pages in light or dark; empty for what the machine prefers."""
        self._look = {query: holds for query, holds in self._look.items() if "color" not in query}
        if scheme:
            self._look["(prefers-color-scheme: dark)"] = scheme == "dark"
        self.driver.outside("window.fileshedLooks({ prefersColorSchemeOverride: arguments[0] })", scheme or "none")
        self._has_its_look()

    def _has_its_look(self) -> None:
        """Waits until the page knows of its look."""
        matches = "return arguments[0].every(([query, is]) => matchMedia(query).matches === is)"
        self.until(f"the page knows: {self._look}", lambda: self.script(matches, list(self._look.items())))

    def language(self, languages: str) -> None:
        """Makes these the languages that pages are asked for, the best first."""
        self.driver.outside("Services.prefs.setStringPref('intl.accept_languages', arguments[0])", languages)

    def clipboard(self) -> str:
        """Returns the text that was copied last."""
        return self.driver.outside(_CLIPBOARD)

    def forget(self) -> None:
        """Forgets what it has loaded."""
        self.driver.outside("Services.cache2.clear(); ChromeUtils.clearResourceCache();")

    def worked(self) -> float:
        """Returns the processor time of the thread of the page, in seconds."""
        return self.driver.outside(_WORKED, waits=True) / 1e9

    @contextmanager
    def refusing(self, *parts: str) -> Iterator[None]:
        """Requests with one of these parts in their addresses fail, as if nobody answered."""
        self.driver.outside(_REFUSE, list(parts))
        try:
            yield
        finally:
            self.driver.outside("Services.obs.removeObserver(window.fileshedRefuses, 'http-on-modify-request')")

    def errors(self, answers: bool = True) -> list[str]:
        """Errors and warnings in the console since it was last asked, also of requests that failed, unless
        `answers` do not count."""
        told, self._told = self._told + self._console(), []
        return [error for error in told if answers or not re.search(r" answers \d+$", error)]

    def _console(self) -> list[str]:
        return self.driver.outside("return window.fileshedErrors.splice(0)")

    def open(self, address: str) -> None:
        self._told += self._console()
        self.driver.tell("WebDriver:Navigate", url=address)
        # A page that is left while it loads is no fault of it.
        self._told += [error for error in self._console() if "Script Loader: Loading failed" not in error]
        self._has_its_look()

    def reload(self) -> None:
        self.driver.tell("WebDriver:Refresh")

    def script(self, text: str, *arguments: object):
        """Returns the value of a script of the page."""
        return self.driver.script(text, *arguments)

    def run(self, script: str, *arguments: object):
        """Runs a script of the page, and returns the value with which it calls its last argument."""
        return self.driver.script(script, *arguments, waits=True)

    def drawn(self) -> None:
        """Waits for two frames of the page."""
        try:
            self.run(DRAWN)
        except Refused:
            # Another page is there.
            pass

    def idle(self) -> None:
        """Waits until the page has every answer that it asked for."""
        self.until("the page has its answers", lambda: self.run(IDLE))

    def until(self, what: str, works: Callable[[], object]) -> None:
        """Waits until it works; what the page moves or replaces meanwhile is looked for again."""
        def works_now() -> object:
            try:
                return works()
            except Refused:
                return False

        check.until(what, works_now)

    def count(self, selector: str, text: str = "") -> int:
        """Returns the number of such elements that are visible now."""
        return len(self.script(VISIBLE, selector, text))

    def within(self, frame: str, selector: str) -> str:
        """The text of an element in a frame; empty where there is none yet."""
        text = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return self._in_frame(frame, lambda: self.script(text, selector))

    def frame_kind(self) -> str:
        """Returns the type of the first frame of the page; empty where there is none yet."""
        return self._in_frame("iframe", lambda: self.script("return document.contentType"))

    def _in_frame(self, frame: str, look: Callable[[], str]) -> str:
        try:
            [first, *_] = self.script(VISIBLE, frame, "")
            self.driver.tell("WebDriver:SwitchToFrame", element=first[marionette.ELEMENT])
            return look()
        except (Refused, ValueError):
            return ""
        finally:
            self.driver.tell("WebDriver:SwitchToFrame")

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.driver.tell("WebDriver:TakeScreenshot", full=False)))

    def downloaded(self, name: str) -> bytes:
        """The file, as soon as it is there. Then it is no longer there."""
        file = self.downloads / name
        check.until(f"{name} is downloaded", lambda: self.driver.outside(_DOWNLOADED, str(file), waits=True))
        content = file.read_bytes()
        file.unlink()
        return content

"""Chromium, as a person uses it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from harness import check
from harness.webui import PASSWORD, Account, OpenWebUI

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

# Elements that the page shows and a person could click, with this text in them. The innermost comes last.
VISIBLE = """
return [...document.querySelectorAll(arguments[0])].filter((element) =>
    element.checkVisibility() && element.innerText.includes(arguments[1]));
"""

# Counts the requests of a page whose answers it has not read, from before any script of the page runs.
COUNTING = """
(() => {
    "use strict";
    let pending = 0;
    const counted = (object, name) => {
        const original = object[name];
        object[name] = function (...given) {
            pending += 1;
            return original.apply(this, given).finally(() => { pending -= 1; });
        };
    };
    counted(window, "fetch");
    for (const name of ["json", "text", "blob", "arrayBuffer"]) counted(Response.prototype, name);
    window.pendingRequests = () => pending;
})();
"""

# `true` if the page waits for no answer, and has drawn all that it has.
IDLE = """
const done = arguments[0], frame = () => new Promise(requestAnimationFrame);
(async () => {
    for (let times = 0; times < 3; times += 1) {
        if (window.pendingRequests?.() > 0) return false;
        await frame();
    }
    return true;
})().then(done);
"""


def missing() -> str:
    """Returns the names of missing programs and packages."""
    needs = {
        "chromium": any(shutil.which(name) for name in _CHROMIUM),
        "chromium-driver": shutil.which("chromedriver"),
        "python3-selenium": importlib.util.find_spec("selenium"),
    }
    return ", ".join(package for package, there in needs.items() if not there)


# Calls its last argument after two frames.
DRAWN = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"


class Browser:
    """One window. `with Browser(...) as browser:` closes it."""

    #: Which browser it is.
    name = "chromium"

    def __init__(self, downloads: Path):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.downloads = downloads
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
            options.add_argument(flag)
        options.add_argument("--lang=en-US")
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        options.add_experimental_option("perfLoggingPrefs", {"enableNetwork": False, "enablePage": True})
        own_session = {"start_new_session": True}
        self._service = Service(shutil.which("chromedriver"), popen_kw=own_session)
        #: For what only a part of the page needs.
        self.driver = webdriver.Chrome(service=self._service, options=options)
        self.driver.set_page_load_timeout(check.PATIENCE)
        self.driver.set_script_timeout(check.PATIENCE)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNTING})
        self.resize(1200, 800)
        allowed = {"behavior": "allow", "downloadPath": str(downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_failure: object) -> None:
        process = self._service.process.pid
        try:
            self.driver.quit()
        finally:
            try:
                os.killpg(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def resize(self, width: int, height: int) -> None:
        """The size of the page, not of the window around it."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def touch(self, enabled: bool) -> None:
        """Makes the pointer a finger, or a mouse again."""
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": enabled, "maxTouchPoints": 1})

    def events(self, name: str) -> list[dict]:
        """Returns the browser's events of this name since the last call."""
        said = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"] for event in said if event["method"] == name]

    def errors(self, answers: bool = True) -> list[str]:
        """Errors and warnings in the console since it was last asked, also of requests that failed, unless
        `answers` do not count."""
        entries = [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return [entry["message"] for entry in entries if answers or entry["source"] != "network"]

    def scheme(self, scheme: str) -> None:
        """Shows pages in light or dark; empty for what the machine prefers."""
        features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def language(self, languages: str) -> None:
        """Makes these the languages that pages are asked for, the best first."""
        agent = self.script("return navigator.userAgent")
        self.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": languages})

    def clipboard(self) -> str:
        """Returns the text that was copied last."""
        permitted = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        self.driver.execute_cdp_cmd("Browser.grantPermissions", permitted)
        return self.run("const done = arguments[0]; navigator.clipboard.readText().then(done)")

    def forget(self) -> None:
        """Forgets what it has loaded."""
        self.driver.execute_cdp_cmd("Network.clearBrowserCache", {})

    def worked(self) -> float:
        """Returns the processor time of the thread of the page, in seconds."""
        command = self.driver.execute_cdp_cmd
        command("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = command("Performance.getMetrics", {})["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    @contextmanager
    def refusing(self, *parts: str) -> Iterator[None]:
        """Requests with one of these parts in their addresses fail, as if nobody answered."""
        command = self.driver.execute_cdp_cmd
        command("Network.enable", {})
        command("Network.setBlockedURLs", {"urls": [f"*{part}*" for part in parts]})
        try:
            yield
        finally:
            command("Network.setBlockedURLs", {"urls": []})
            command("Network.disable", {})

    def open(self, address: str) -> None:
        self.driver.get(address)

    def script(self, text: str, *arguments: object):
        """Returns the value of a script of the page."""
        return self.driver.execute_script(text, *arguments)

    def drawn(self) -> None:
        """Waits for two frames of the page."""
        self.run(DRAWN)

    def run(self, script: str, *arguments: str):
        """Runs a script of the page, and returns the value with which it calls its last argument."""
        return self.driver.execute_async_script(script, *arguments)

    def see(self, selector: str, text: str = ""):
        """The element, as soon as it shows."""
        found = check.until(
            f"the page shows {selector} {text}",
            lambda: self.driver.execute_script(VISIBLE, selector, text),
        )
        return found[-1]

    def count(self, selector: str, text: str = "") -> int:
        """Returns the number of such elements that are visible now."""
        return len(self.driver.execute_script(VISIBLE, selector, text))

    def reload(self) -> None:
        self.driver.refresh()

    def within(self, frame: str, selector: str) -> str:
        """The text of an element in a frame; empty where there is none yet."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.common.by import By

        try:
            self.driver.switch_to.frame(self.see(frame))
            return self.driver.find_element(By.CSS_SELECTOR, selector).text
        except WebDriverException:
            return ""
        finally:
            self.driver.switch_to.default_content()

    def frame_kind(self) -> str:
        """Returns the type of the first frame of the page; empty where there is none yet."""
        from selenium.common.exceptions import WebDriverException

        try:
            self.driver.switch_to.frame(0)
            return self.driver.execute_script("return document.contentType")
        except WebDriverException:
            # The viewer puts another one in its place.
            return ""
        finally:
            self.driver.switch_to.default_content()

    def until(self, what: str, works: Callable[[], bool]) -> None:
        """Waits until it works; what the page moves or replaces meanwhile is looked for again."""
        from selenium.common.exceptions import WebDriverException

        def works_now() -> bool:
            try:
                return works()
            except WebDriverException:
                return False

        check.until(what, works_now)

    def idle(self) -> None:
        """Waits until the page has every answer that it asked for: until then it may put something else in the
        place of what is clicked, or forget it."""
        self.until("the page has its answers", lambda: self.run(IDLE))

    def click_on(self, what: str, find: Callable) -> None:
        """Clicks what is found; `what` says what is waited for."""
        self.until(what, lambda: find().click() is None)

    def click(self, selector: str, text: str = "") -> None:
        self.click_on(f"{selector} {text} can be clicked", lambda: self.see(selector, text))

    def write(self, selector: str, text: str) -> None:
        self.click(selector)
        self.until(f"{selector} takes keys", lambda: self.see(selector).send_keys(text) is None)

    def press(self, selector: str, key: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self.until(f"{selector} takes keys", lambda: self.see(selector).send_keys(getattr(Keys, key)) is None)

    def find(self, selector: str):
        """The first of these elements, whether it shows or not."""
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def choose_files(self, selector: str, files: list[Path]) -> None:
        """As if they were chosen in the dialog of the system, which does not show here."""
        self.find(selector).send_keys("\n".join(map(str, files)))

    def gone(self, selector: str) -> None:
        """Waits until nothing of this shows."""
        look = lambda: not self.driver.execute_script(VISIBLE, selector, "")
        check.until(f"the page no longer shows {selector}", look)

    def picture(self, file: Path) -> None:
        self.driver.save_screenshot(str(file))

    def downloaded(self, name: str) -> bytes:
        """The file, as soon as it is there. Then it is no longer there."""
        file = self.downloads / name
        check.until(f"{name} is downloaded", file.is_file)
        content = file.read_bytes()
        file.unlink()
        return content


def log_in(browser: Browser, webui: OpenWebUI, who: Account) -> None:
    """Through the form."""
    browser.open(f"{webui.url}/auth")
    browser.write("input[type=email]", who.email)
    browser.write("input[type=password]", PASSWORD)
    browser.click("button[type=submit]")
    browser.see("#chat-input")
    browser.idle()


def choose_tool(browser: Browser, name: str) -> None:
    """In the menu beside the message."""
    browser.click("#integration-menu-button")
    browser.click("button", "Tools")
    browser.click("button", name)
    browser.press("body", "ESCAPE")


def send(browser: Browser, message: str) -> None:
    browser.idle()
    browser.write("#chat-input", message)
    browser.until("the message is written", lambda: message in browser.see("#chat-input").text)
    browser.press("#chat-input", "ENTER")


def attach(browser: Browser, message: str, files: list[Path]) -> None:
    """Sends a message with files. The page takes it only when all of them are uploaded."""
    browser.choose_files("input[type=file][multiple]", files)
    browser.write("#chat-input", message)

    def sent() -> bool:
        if message in browser.see("#chat-input").text:
            browser.press("#chat-input", "ENTER")
        return message not in browser.see("#chat-input").text

    browser.until("the message is sent", sent)

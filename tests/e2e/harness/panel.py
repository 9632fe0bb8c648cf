"""The files of a terminal beside the chat, and the shell below them, as a person uses them."""

from __future__ import annotations

from pathlib import Path

from harness import check
from harness.browser import Browser, missing
from harness.world import World

_PANEL = "[aria-label='File browser']"

# The row of an entry with exactly this name.
_ROW = """
return [...document.querySelectorAll('[data-file-row]')].find((row) =>
    [...row.querySelectorAll('span')].some((span) => span.innerText.trim() === arguments[0]));
"""

# Lets a file fall onto an element, which no driver can do.
_DROP = """
const [target, name, content] = arguments;
const carried = new DataTransfer();
carried.items.add(new File([content], name, {type: 'text/plain'}));
for (const kind of ['dragenter', 'dragover', 'drop']) {
    const event = {bubbles: true, cancelable: true, dataTransfer: carried};
    target.dispatchEvent(new DragEvent(kind, event));
}
"""

_SCREEN = """
const shown = [...document.querySelectorAll('.xterm-rows')].find((rows) => rows.checkVisibility());
return [...(shown?.children ?? [])].map((row) => row.textContent).join('\\n');
"""


def usable(world: World) -> bool:
    """Returns True if this machine and this Open WebUI meet the requirements; otherwise prints the reason."""
    if not world.version.has_terminals:
        print(f"SKIP: Open WebUI {world.version.number}: terminals are tested with later ones", flush=True)
        return False
    lacking = missing()
    if lacking:
        print(f"SKIP: Open WebUI {world.version.number}: the terminal needs {lacking}", flush=True)
    return not lacking


def choose_terminal(browser: Browser, name: str) -> None:
    """In the menu below the message."""
    browser.click("button[aria-label=Terminal]")
    browser.click("button", name)


class Panel:
    """The one of the terminal that is chosen."""

    def __init__(self, browser: Browser):
        self._browser = browser
        self._driver = browser.driver

    def choose(self, name: str) -> None:
        """In the menu below the message. The panel opens by itself."""
        choose_terminal(self._browser, name)
        self._browser.see(f"{_PANEL} button", "storage")

    def row(self, name: str):
        """The row of an entry, as soon as it shows."""
        return check.until(f"the files show {name}", lambda: self._driver.execute_script(_ROW, name))

    def has(self, name: str) -> bool:
        return bool(self._driver.execute_script(_ROW, name))

    def gone(self, name: str) -> None:
        check.until(f"the files no longer show {name}", lambda: not self.has(name))

    def open(self, name: str) -> None:
        """A folder or a file."""
        self._browser.idle()
        self._browser.click_on(f"{name} can be opened", lambda: self._part(name, "button[draggable]"))

    def go(self, crumb: str) -> None:
        """To one of the folders above."""
        self._browser.idle()
        self._browser.click(f"{_PANEL} button", crumb)

    def refresh(self) -> None:
        """Looks at the folder anew. The ports below have such a button, too."""
        self._browser.idle()
        self._browser.click_on("the files can be read again", lambda: self._browser.find(f"{_PANEL} button[aria-label=Refresh]"))

    def act(self, item: str) -> None:
        """Chooses an item of the folder's menu."""
        self._menu(lambda: self._browser.see("button[aria-label=Actions]"), item)

    def act_on(self, name: str, item: str) -> None:
        """Chooses an item of an entry's menu."""
        self._menu(lambda: self._part(name, "button[aria-label=More]"), item)

    def can(self, item: str) -> bool:
        """Returns True if the item of the folder's menu is enabled."""
        self._browser.idle()
        self._browser.click("button[aria-label=Actions]")
        enabled = self._browser.see("button", item).is_enabled()
        self._browser.press("body", "ESCAPE")
        check.until("the menu closes", lambda: not self._browser.count("button", item))
        return enabled

    def make_folder(self, name: str) -> None:
        self.act("New Folder")
        self._browser.see("input[aria-label='Folder name']").send_keys(f"{name}\n")
        self.row(name)

    def upload(self, *files: Path) -> None:
        """As if they were chosen in the dialog of the system."""
        self._browser.idle()
        self._browser.choose_files(f"{_PANEL} input[type=file]", list(files))

    def drop(self, name: str, content: str) -> None:
        self._browser.idle()
        self._driver.execute_script(_DROP, self._browser.see(_PANEL), name, content)

    def append(self, text: str) -> None:
        """To the file that is open."""
        self._browser.idle()
        self._browser.click("button[aria-label=Edit]")
        self._browser.see(f"{_PANEL} textarea").send_keys(text)
        self._browser.click("button[aria-label=Save]")
        self._browser.see("button[aria-label=Edit]")

    def rename(self, name: str, other: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self.act_on(name, "Rename")
        field = self._browser.see("[data-file-row] input")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(f"{other}\n")
        self.row(other)

    def delete(self, name: str) -> None:
        self.act_on(name, "Delete")
        self._browser.click("button", "Confirm")
        self.gone(name)

    def open_shell(self) -> None:
        """Opens the shell and waits for its prompt, because earlier input is lost."""
        self._browser.click("button[title='Expand terminal']")
        check.until("the shell asks for a line", lambda: self.screen().strip())

    def type(self, line: str) -> None:
        self._browser.find(".xterm-helper-textarea").send_keys(f"{line}\n")

    def screen(self) -> str:
        """Returns the text that the shell or a process shows."""
        return self._driver.execute_script(_SCREEN).replace("\xa0", " ")

    def shows(self, text: str) -> None:
        check.until(f"the shell shows {text}", lambda: text in self.screen())

    def _part(self, name: str, selector: str):
        from selenium.webdriver.common.by import By

        return self.row(name).find_element(By.CSS_SELECTOR, selector)

    def _menu(self, button, item: str) -> None:
        self._browser.idle()
        self._browser.click_on(f"a menu with {item} opens", button)
        self._browser.click("button", item)

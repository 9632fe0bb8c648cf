"""Elements of a page as people find them: by role and label, as the browser tells screen readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import check

if TYPE_CHECKING:
    from harness.browser import Browser
    from harness.firefox import Firefox

#: Role and label of a part of the page.
Place = tuple[str, str]

#: Keys without a character, as WebDriver writes them.
KEYS = {
    "ARROW_DOWN": "\ue015", "BACKSPACE": "\ue003", "CONTROL": "\ue009", "DELETE": "\ue017", "END": "\ue010", "ENTER": "\ue007",
    "ESCAPE": "\ue00c", "F2": "\ue032", "HOME": "\ue011", "SHIFT": "\ue008",
}


@dataclass(frozen=True)
class Node:
    """Something on the page that people can find."""

    #: The browser's reference of the element.
    element: object
    name: str
    value: str
    #: States that hold, such as `checked`.
    states: frozenset[str]


class Accessible(ABC):
    """The page in a window. A class for each browser finds, reaches and uses its elements."""

    def __init__(self, window: Browser | Firefox):
        self.window = window
        #: Whether a finger clicks, not a mouse.
        self.touches = False

    @abstractmethod
    def _nodes(self, role: str, name: str | None, inside: Place | None = None) -> list[Node]:
        """Returns the elements of a role, in the order of the page; none while the page changes."""

    @abstractmethod
    def _ask(self, node: Node, function: str, *arguments: object) -> object:
        """Returns the result of a function of the page for an element; None if the element is gone."""

    @abstractmethod
    def _middle(self, node: Node) -> tuple[float, float] | None:
        """Scrolls an element into view, and returns its middle; None if the element is gone."""

    @abstractmethod
    def _press(self, x: float, y: float) -> None:
        """Clicks there, with the mouse or a finger."""

    @abstractmethod
    def _type(self, text: str) -> None:
        """Writes a text at once where the keys go."""

    @abstractmethod
    def drop(self, role: str, name: str | None, files: list[Path]) -> None:
        """Lets files or folders of the machine go over something."""

    @abstractmethod
    def keys(self, *keys: str) -> None:
        """Keys by their names, together, or characters; what is held is let go in the end."""

    @abstractmethod
    def choose_files(self, role: str, name: str, files: list[Path]) -> None:
        """Clicks what opens the system's choice of files, which does not show here, and chooses these;
        or a folder, where the system is asked for one."""

    def count(self, role: str, name: str | None = None) -> int:
        return len(self._nodes(role, name))

    def names(self, role: str) -> list[str]:
        """Returns the labels of all elements of a role, in the order of the page."""
        return [node.name for node in self._nodes(role, None)]

    def see(self, role: str, name: str | None = None, inside: Place | None = None) -> Node:
        """Waits for an element with this role and label, and returns it."""
        found = check.until(
            lambda: f"there is a {role} {name or ''}; there are {self.names(role)[:40]}",
            lambda: self._nodes(role, name, inside),
        )
        return found[-1]

    def gone(self, role: str, name: str | None = None) -> None:
        check.until(f"there is no {role} {name or ''}", lambda: not self._nodes(role, name))

    def has_state(self, role: str, name: str, which: str) -> bool:
        """Returns True if it is, for example, `checked`."""
        return which in self.see(role, name).states

    def names_where(self, role: str, which: str) -> list[str]:
        """Returns the labels of all elements of a role that are in a state, such as `checked`."""
        return [node.name for node in self._nodes(role, None) if which in node.states]

    def value(self, role: str, name: str) -> str:
        """Returns the value of a field or of a progress bar."""
        return self.see(role, name).value

    def says(self, text: str) -> bool:
        """Returns True if this text can be read somewhere, by itself."""
        return bool(self._nodes("StaticText", text))

    def text(self, role: str, name: str | None = None) -> str:
        """Returns the text inside an element; empty if there is no such element."""
        nodes = self._nodes(role, name)
        return self._ask(nodes[-1], "function () { return this.innerText; }") or "" if nodes else ""

    def ask(self, role: str, name: str | None, function: str) -> object:
        """Returns the result of a function for an element that people see, for example whether a picture was
        decoded, which is no state of it."""
        return self._ask(self.see(role, name), function)

    def _still(self, role: str, name: str | None, inside: Place | None) -> tuple[float, float] | None:
        """Its middle, unless it moves or something lies over it, such as a dialog that has just opened."""
        nodes = self._nodes(role, name, inside)
        if not nodes:
            return None
        node = nodes[-1]
        before = self._middle(node)
        self.window.drawn()
        return before if before and before == self._middle(node) and self._is_on_top(node, before) else None

    def _is_on_top(self, node: Node, point: tuple[float, float]) -> bool:
        contains = "function (x, y) { return this.contains(document.elementFromPoint(x, y)); }"
        return bool(self._ask(node, contains, *point))

    def click(self, role: str, name: str | None = None, inside: Place | None = None) -> None:
        """With the mouse, or a finger, in its middle; in another part of the page, where that is given."""
        self.see(role, name, inside)
        what = f"the {role} {name or ''} stands still with nothing over it"
        check.until(what, lambda: self.could_click(role, name, inside))

    def could_click(self, role: str, name: str | None = None, inside: Place | None = None) -> bool:
        """The same at once; false where it is not there, or moves."""
        middle = self._still(role, name, inside)
        if not middle:
            return False
        self._press(*middle)
        return True

    def follow(self, role: str, name: str) -> None:
        """Clicks what leads to another page, and waits for that: Chromium never answers what is asked
        about a page that goes meanwhile."""
        self.window.script("window.isBefore = true")
        self.click(role, name)
        loaded = "return !window.isBefore && document.readyState === 'complete'"
        self.window.until("another page is there", lambda: self.window.script(loaded))

    def write(self, role: str, name: str, text: str) -> None:
        """Instead of what is there."""
        self.focus(role, name)
        self.keys("CONTROL", "a")
        self._type(text)

    def choose(self, role: str, name: str, option: str) -> None:
        """One of several, by typing what it is called."""
        self.focus(role, name)
        self.keys(option)

    def focus(self, role: str, name: str) -> None:
        self._ask(self.see(role, name), "function () { this.focus(); }")

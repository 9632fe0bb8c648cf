"""Elements of a page as people find them: by role and label, as the browser tells screen readers."""

from __future__ import annotations

from pathlib import Path

from harness import check
from harness.browser import Browser


#: Role and label of a part of the page.
Place = tuple[str, str]


class Accessible:
    """The page in a window."""

    def __init__(self, browser: Browser):
        self.browser = browser
        #: Whether a finger clicks, not a mouse.
        self.touches = False
        self._driver = browser.driver
        self._tell("Accessibility.enable")

    def _tell(self, command: str, **given: object) -> dict:
        return self._driver.execute_cdp_cmd(command, given)

    def _nodes(self, role: str, name: str | None, inside: Place | None = None) -> list[dict]:
        from selenium.common.exceptions import WebDriverException

        try:
            root = self._tell("DOM.getDocument", depth=0)["root"]["backendNodeId"]
            if inside:
                around = self._nodes(*inside)
                if not around:
                    return []
                root = around[-1]["backendDOMNodeId"]
            asked = {"backendNodeId": root, "role": role}
            if name is not None:
                asked["accessibleName"] = name
            nodes = self._tell("Accessibility.queryAXTree", **asked)["nodes"]
        except WebDriverException:
            # The page is changing.
            return []
        return [node for node in nodes if not node["ignored"] and "backendDOMNodeId" in node]

    def count(self, role: str, name: str | None = None) -> int:
        return len(self._nodes(role, name))

    def names(self, role: str) -> list[str]:
        """Returns the labels of all elements of a role, in the order of the page."""
        return [node["name"]["value"] for node in self._nodes(role, None)]

    def see(self, role: str, name: str | None = None, inside: Place | None = None) -> dict:
        """Waits for an element with this role and label, and returns it."""
        found = check.until(
            lambda: f"there is a {role} {name or ''}; there are {self.names(role)[:40]}",
            lambda: self._nodes(role, name, inside),
        )
        return found[-1]

    def gone(self, role: str, name: str | None = None) -> None:
        check.until(f"there is no {role} {name or ''}", lambda: not self._nodes(role, name))

    def state(self, role: str, name: str, which: str) -> object:
        """One of its states, such as `selected`."""
        return _states(self.see(role, name)).get(which)

    def names_where(self, role: str, which: str) -> list[str]:
        """Returns the labels of all elements of a role that are in a state, such as `checked`."""
        is_so = lambda node: _states(node).get(which) in (True, "true")
        return [node["name"]["value"] for node in self._nodes(role, None) if is_so(node)]

    def value(self, role: str, name: str) -> str:
        """Returns the value of a field or of a progress bar."""
        return self.see(role, name)["value"]["value"]

    def says(self, text: str) -> bool:
        """Returns True if this text can be read somewhere, by itself."""
        return bool(self._nodes("StaticText", text))

    def text(self, role: str, name: str | None = None) -> str:
        """Returns the text inside an element; empty if there is no such element."""
        nodes = self._nodes(role, name)
        return self._ask(nodes[-1], "function () { return this.innerText; }") or "" if nodes else ""

    def _ask(self, node: dict, function: str, *arguments: object) -> object:
        """Returns the result of a function of the page for an element; None if the element is gone."""
        from selenium.common.exceptions import WebDriverException

        try:
            it = self._tell("DOM.resolveNode", backendNodeId=node["backendDOMNodeId"])["object"]["objectId"]
            found = self._tell(
                "Runtime.callFunctionOn",
                objectId=it,
                functionDeclaration=function,
                arguments=[{"value": argument} for argument in arguments],
                returnByValue=True,
            )
        except WebDriverException:
            return None
        return found["result"].get("value")

    def ask(self, role: str, name: str | None, function: str) -> object:
        """Returns the result of a function for an element that people see, for example whether a picture was
        decoded, which is no state of it."""
        return self._ask(self.see(role, name), function)

    def _middle(self, node: dict) -> tuple[float, float] | None:
        from selenium.common.exceptions import WebDriverException

        which = {"backendNodeId": node["backendDOMNodeId"]}
        try:
            self._tell("DOM.scrollIntoViewIfNeeded", **which)
            corners = self._tell("DOM.getBoxModel", **which)["model"]["border"]
        except WebDriverException:
            return None
        return sum(corners[0::2]) / 4, sum(corners[1::2]) / 4

    def _still(self, role: str, name: str | None, inside: Place | None) -> tuple[float, float] | None:
        """Its middle, unless it moves or something lies over it, such as a dialog that has just opened."""
        nodes = self._nodes(role, name, inside)
        if not nodes:
            return None
        node = nodes[-1]
        before = self._middle(node)
        self._driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        return before if before and before == self._middle(node) and self._is_on_top(node, before) else None

    def _is_on_top(self, node: dict, point: tuple[float, float]) -> bool:
        from selenium.common.exceptions import WebDriverException

        contains = "function (x, y) { return this.contains(document.elementFromPoint(x, y)); }"
        try:
            return bool(self._ask(node, contains, *point))
        except WebDriverException:
            # It has gone.
            return False

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
        if self.touches:
            self._tell("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": middle[0], "y": middle[1]}])
            self._tell("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return True
        where = {"x": middle[0], "y": middle[1], "button": "left", "clickCount": 1}
        self._tell("Input.dispatchMouseEvent", type="mouseMoved", x=middle[0], y=middle[1])
        self._tell("Input.dispatchMouseEvent", type="mousePressed", **where)
        self._tell("Input.dispatchMouseEvent", type="mouseReleased", **where)
        return True

    def follow(self, role: str, name: str) -> None:
        """Clicks what leads to another page, and waits for that: Chromium never answers what is asked
        about a page that goes meanwhile."""
        self._driver.execute_script("window.isBefore = true")
        self.click(role, name)
        loaded = "return !window.isBefore && document.readyState === 'complete'"
        check.until("another page is there", lambda: self._driver.execute_script(loaded))

    def write(self, role: str, name: str, text: str) -> None:
        """Instead of what is there."""
        node = self.see(role, name)
        self._tell("DOM.focus", backendNodeId=node["backendDOMNodeId"])
        self.keys("CONTROL", "a")
        self._tell("Input.insertText", text=text)

    def choose(self, role: str, name: str, option: str) -> None:
        """One of several, by typing what it is called."""
        self.focus(role, name)
        self.keys(option)

    def drop(self, role: str, name: str | None, files: list[Path]) -> None:
        """Lets files or folders of the machine go over something."""
        middle = self._middle(self.see(role, name))
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for event in ("dragEnter", "dragOver", "drop"):
            self._tell("Input.dispatchDragEvent", type=event, x=middle[0], y=middle[1], data=data)

    def focus(self, role: str, name: str) -> None:
        self._tell("DOM.focus", backendNodeId=self.see(role, name)["backendDOMNodeId"])

    def keys(self, *keys: str) -> None:
        """Keys by their names, together, or characters; what is held is let go in the end."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        *held, last = [getattr(Keys, key, key) for key in keys]
        chain = ActionChains(self._driver)
        for key in held:
            chain.key_down(key)
        chain.send_keys(last)
        for key in held:
            chain.key_up(key)
        chain.perform()

    def choose_files(self, role: str, name: str, files: list[Path]) -> None:
        """Clicks what opens the system's choice of files, which does not show here, and chooses these;
        or a folder, where the system is asked for one."""
        self._tell("Page.setInterceptFileChooserDialog", enabled=True)
        self.browser.events("Page.fileChooserOpened")
        self.click(role, name)
        opened = check.until("there is a choice of files", lambda: self.browser.events("Page.fileChooserOpened"))
        chosen = [str(file) for file in files]
        self._tell("DOM.setFileInputFiles", files=chosen, backendNodeId=opened[-1]["backendNodeId"])


def _states(node: dict) -> dict[str, object]:
    return {state["name"]: state["value"].get("value") for state in node.get("properties", [])}

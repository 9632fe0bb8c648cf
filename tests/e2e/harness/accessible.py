"""What is on a page as people find it: by role and label, as the browser tells screen readers."""

from __future__ import annotations

from pathlib import Path

from harness import check
from harness.browser import Browser


class Accessible:
    """The page in a window."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self._driver = browser.driver
        self._tell("Accessibility.enable")

    def _tell(self, command: str, **given: object) -> dict:
        return self._driver.execute_cdp_cmd(command, given)

    def _nodes(self, role: str, name: str | None) -> list[dict]:
        from selenium.common.exceptions import WebDriverException

        try:
            root = self._tell("DOM.getDocument", depth=0)["root"]["backendNodeId"]
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
        """What the page calls everything of a role, in its order."""
        return [node["name"]["value"] for node in self._nodes(role, None)]

    def see(self, role: str, name: str | None = None) -> dict:
        """What has this role and label, as soon as it is there."""
        found = check.until(
            lambda: f"there is a {role} {name or ''}; there are {self.names(role)[:40]}",
            lambda: self._nodes(role, name),
        )
        return found[-1]

    def gone(self, role: str, name: str | None = None) -> None:
        check.until(f"there is no {role} {name or ''}", lambda: not self._nodes(role, name))

    def state(self, role: str, name: str, which: str) -> object:
        """One of its states, such as `selected`."""
        node = self.see(role, name)
        states = {state["name"]: state["value"].get("value") for state in node.get("properties", [])}
        return states.get(which)

    def _middle(self, node: dict) -> tuple[float, float] | None:
        from selenium.common.exceptions import WebDriverException

        which = {"backendNodeId": node["backendDOMNodeId"]}
        try:
            self._tell("DOM.scrollIntoViewIfNeeded", **which)
            corners = self._tell("DOM.getBoxModel", **which)["model"]["border"]
        except WebDriverException:
            return None
        return sum(corners[0::2]) / 4, sum(corners[1::2]) / 4

    def _still(self, role: str, name: str | None) -> tuple[float, float] | None:
        """Its middle, unless it moves or something lies over it, such as a dialog that has just opened."""
        node = self.see(role, name)
        before = self._middle(node)
        self._driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        return before if before and before == self._middle(node) and self._is_on_top(node, before) else None

    def _is_on_top(self, node: dict, point: tuple[float, float]) -> bool:
        from selenium.common.exceptions import WebDriverException

        try:
            it = self._tell("DOM.resolveNode", backendNodeId=node["backendDOMNodeId"])["object"]["objectId"]
            found = self._tell(
                "Runtime.callFunctionOn",
                objectId=it,
                functionDeclaration="function (x, y) { return this.contains(document.elementFromPoint(x, y)); }",
                arguments=[{"value": place} for place in point],
                returnByValue=True,
            )
        except WebDriverException:
            return False
        return found["result"]["value"]

    def click(self, role: str, name: str | None = None, button: str = "left", count: int = 1) -> None:
        """With the mouse, in its middle."""
        middle = check.until(f"the {role} {name or ''} stands still with nothing over it", lambda: self._still(role, name))
        where = {"x": middle[0], "y": middle[1], "button": button, "clickCount": count}
        self._tell("Input.dispatchMouseEvent", type="mouseMoved", x=middle[0], y=middle[1])
        self._tell("Input.dispatchMouseEvent", type="mousePressed", **where)
        self._tell("Input.dispatchMouseEvent", type="mouseReleased", **where)

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
        """Clicks what opens the system's choice of files, which does not show here."""
        self._tell("Page.setInterceptFileChooserDialog", enabled=True)
        self.click(role, name)
        check.until("there is a choice of files", lambda: self._inputs())
        self.browser.choose_files("input[type=file]", files)

    def _inputs(self) -> int:
        return self._driver.execute_script("return document.querySelectorAll('input[type=file]').length")

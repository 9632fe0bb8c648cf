"""The page in Chromium, by its debugging protocol."""

from __future__ import annotations

from pathlib import Path

from harness import check
from harness.accessible import KEYS, Accessible, Node, Place
from harness.browser import Browser


class ChromiumPage(Accessible):
    def __init__(self, window: Browser):
        super().__init__(window)
        self._driver = window.driver
        self._tell("Accessibility.enable")

    def _tell(self, command: str, **given: object) -> dict:
        return self._driver.execute_cdp_cmd(command, given)

    def _nodes(self, role: str, name: str | None, inside: Place | None = None) -> list[Node]:
        from selenium.common.exceptions import WebDriverException

        try:
            root = self._tell("DOM.getDocument", depth=0)["root"]["backendNodeId"]
            if inside:
                around = self._nodes(*inside)
                if not around:
                    return []
                root = around[-1].element
            asked = {"backendNodeId": root, "role": role}
            if name is not None:
                asked["accessibleName"] = name
            nodes = self._tell("Accessibility.queryAXTree", **asked)["nodes"]
        except WebDriverException:
            # The page is changing.
            return []
        return [_node(node) for node in nodes if not node["ignored"] and "backendDOMNodeId" in node]

    def _ask(self, node: Node, function: str, *arguments: object) -> object:
        from selenium.common.exceptions import WebDriverException

        try:
            it = self._tell("DOM.resolveNode", backendNodeId=node.element)["object"]["objectId"]
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

    def _middle(self, node: Node) -> tuple[float, float] | None:
        from selenium.common.exceptions import WebDriverException

        try:
            self._tell("DOM.scrollIntoViewIfNeeded", backendNodeId=node.element)
            corners = self._tell("DOM.getBoxModel", backendNodeId=node.element)["model"]["border"]
        except WebDriverException:
            return None
        return sum(corners[0::2]) / 4, sum(corners[1::2]) / 4

    def _press(self, x: float, y: float) -> None:
        if self.touches:
            self._tell("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self._tell("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        where = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self._tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self._tell("Input.dispatchMouseEvent", type="mousePressed", **where)
        self._tell("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def _type(self, text: str) -> None:
        self._tell("Input.insertText", text=text)

    def focus(self, role: str, name: str) -> None:
        self._tell("DOM.focus", backendNodeId=self.see(role, name).element)

    def drop(self, role: str, name: str | None, files: list[Path]) -> None:
        middle = self._middle(self.see(role, name))
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for event in ("dragEnter", "dragOver", "drop"):
            self._tell("Input.dispatchDragEvent", type=event, x=middle[0], y=middle[1], data=data)

    def keys(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        *held, last = [KEYS.get(key, key) for key in keys]
        chain = ActionChains(self._driver)
        for key in held:
            chain.key_down(key)
        chain.send_keys(last)
        for key in held:
            chain.key_up(key)
        chain.perform()

    def choose_files(self, role: str, name: str, files: list[Path]) -> None:
        self._tell("Page.setInterceptFileChooserDialog", enabled=True)
        self.window.events("Page.fileChooserOpened")
        self.click(role, name)
        opened = check.until("there is a choice of files", lambda: self.window.events("Page.fileChooserOpened"))
        chosen = [str(file) for file in files]
        self._tell("DOM.setFileInputFiles", files=chosen, backendNodeId=opened[-1]["backendNodeId"])


def _node(node: dict) -> Node:
    states = {state["name"] for state in node.get("properties", []) if state["value"].get("value") in (True, "true")}
    told = lambda which: str(node.get(which, {}).get("value", ""))
    return Node(node["backendDOMNodeId"], told("name"), told("value"), frozenset(states))

"""The page in Firefox, by its own tree for screen readers."""

from __future__ import annotations

from pathlib import Path

from harness.accessible import KEYS, Accessible, Node, Place
from harness.firefox import Firefox
from harness.marionette import Refused

# Returns the element, label, value and states of everything with a role and, if it is given, a label;
# below an element, if that is given. A role is called as Chromium calls it.
_FOUND = """
const [role, name, around] = arguments;
const { nsIAccessibilityService, nsIAccessibleRole, nsIAccessibleStates, nsIAccessibleText, nsIAccessibleValue } = Components.interfaces;
const service = Components.classes["@mozilla.org/accessibilityService;1"].getService(nsIAccessibilityService);
const OWN = { audio: "Audio", iframe: "Iframe", video: "Video" };
const STATES = {
    busy: nsIAccessibleStates.STATE_BUSY, checked: nsIAccessibleStates.STATE_CHECKED, disabled: nsIAccessibleStates.STATE_UNAVAILABLE,
    pressed: nsIAccessibleStates.STATE_PRESSED, selected: nsIAccessibleStates.STATE_SELECTED,
};
const roleOf = (one) => {
    if (one.role === nsIAccessibleRole.ROLE_TEXT_LEAF || one.role === nsIAccessibleRole.ROLE_STATICTEXT) return "StaticText";
    if (one.role === nsIAccessibleRole.ROLE_PASSWORD_TEXT) return "textbox";
    return OWN[one.DOMNode?.localName] ?? one.computedARIARole;
};
const labelOf = (one) => (one.name ?? "").replace(/\\s+/g, " ").trim();
const valueOf = (one) => {
    if (one.role === nsIAccessibleRole.ROLE_METER || one.role === nsIAccessibleRole.ROLE_PROGRESSBAR) {
        return String(one.QueryInterface(nsIAccessibleValue).currentValue);
    }
    return one.value;
};
const statesOf = (one) => {
    const states = {};
    one.getState(states, {});
    return Object.keys(STATES).filter((name) => states.value & STATES[name]);
};
const found = [];
const look = (one) => {
    if (roleOf(one) === role && (name === null || labelOf(one) === name)) {
        const element = one.DOMNode?.nodeType === 1 ? one.DOMNode : null;
        found.push([element, labelOf(one), valueOf(one), statesOf(one)]);
    }
    for (let child = one.firstChild; child; child = child.nextSibling) look(child);
};
const root = service.getAccessibleFor(around ?? document);
if (root) look(root);
return found;
"""

# Scrolls an element into view, if it is not, and returns its middle.
_MIDDLE = """
function () {
    const middle = () => {
        const { x, y, width, height } = this.getBoundingClientRect();
        return [x + width / 2, y + height / 2].map(Math.round);
    };
    const scroll = (where) => this.scrollIntoView({ block: where, inline: where, behavior: "instant" });
    scroll("nearest");
    if (!this.contains(document.elementFromPoint(...middle()))) scroll("center");
    return middle();
}
"""

# Takes the place of the system's choice of files: it chooses what it is told to.
_CHOICE = """
window.fileshedChosen = arguments[0];
const registrar = Components.manager.QueryInterface(Ci.nsIComponentRegistrar);
const fileAt = (path) => {
    const file = Cc["@mozilla.org/file/local;1"].createInstance(Ci.nsIFile);
    file.initWithPath(path);
    return file;
};
const createInstance = (id) => ({
    QueryInterface: ChromeUtils.generateQI(["nsIFilePicker"]),
    init(_around, _title, mode) { this.mode = mode; },
    appendFilter() {},
    appendFilters() {},
    appendRawFilter() {},
    get file() { return fileAt(window.fileshedChosen[0]); },
    get files() {
        const files = window.fileshedChosen.map(fileAt);
        return {
            QueryInterface: ChromeUtils.generateQI(["nsISimpleEnumerator"]),
            hasMoreElements: () => files.length > 0,
            getNext: () => files.shift(),
            [Symbol.iterator]: () => files[Symbol.iterator](),
        };
    },
    open(asked) { Services.tm.dispatchToMainThread(() => asked.done(Ci.nsIFilePicker.returnOK)); },
}).QueryInterface(id);
window.fileshedChoice ??= { QueryInterface: ChromeUtils.generateQI(["nsIFactory"]), createInstance };
if (!window.fileshedIsChoosing) {
    registrar.registerFactory(Services.uuid.generateUUID(), "", "@mozilla.org/filepicker;1", window.fileshedChoice);
    window.fileshedIsChoosing = true;
}
"""

# Gives the page files and folders of the machine, as it gets them from the system.
_FILES = """
const [paths] = arguments, given = new window.wrappedJSObject.Array();
for (const path of paths) {
    const file = Components.classes["@mozilla.org/file/local;1"].createInstance(Components.interfaces.nsIFile);
    file.initWithPath(path);
    const data = new window.DataTransfer();
    data.mozSetDataAt("application/x-moz-file", file, 0);
    given.push(data.items[0].getAsFile());
}
window.wrappedJSObject.givenFiles = given;
"""
_DROP = """
function () {
    const dataTransfer = new DataTransfer();
    for (const file of window.givenFiles) dataTransfer.items.add(file);
    delete window.givenFiles;
    for (const type of ["dragenter", "dragover", "drop"]) {
        this.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
}
"""


class FirefoxPage(Accessible):
    def __init__(self, window: Firefox):
        super().__init__(window)
        self._driver = window.driver

    def _nodes(self, role: str, name: str | None, inside: Place | None = None) -> list[Node]:
        try:
            around = self._nodes(*inside)[-1:] if inside else []
            if inside and not around:
                return []
            found = self._driver.inside(_FOUND, role, name, around[0].element if around else None)
        except Refused:
            # The page is changing.
            return []
        return [Node(element, label, value, frozenset(states)) for element, label, value, states in found]

    def _ask(self, node: Node, function: str, *arguments: object) -> object:
        try:
            return self._driver.script(f"return ({function}).call(...arguments)", node.element, *arguments)
        except Refused:
            return None

    def _middle(self, node: Node) -> tuple[float, float] | None:
        middle = self._ask(node, _MIDDLE)
        return middle and tuple(middle)

    def _press(self, x: float, y: float) -> None:
        kind = "touch" if self.touches else "mouse"
        presses = [
            {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": presses})

    def _act(self, actions: dict) -> None:
        self._driver.tell("WebDriver:PerformActions", actions=[actions])

    def _type(self, text: str) -> None:
        self._driver.inside("window.windowUtils.sendContentCommandEvent('insertText', null, arguments[0])", text)

    def keys(self, *keys: str) -> None:
        *held, last = [KEYS.get(key, key) for key in keys]
        press = lambda key: [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        actions = [{"type": "keyDown", "value": key} for key in held]
        for key in last:
            actions += press(key)
        actions += [{"type": "keyUp", "value": key} for key in reversed(held)]
        self._act({"type": "key", "id": "keys", "actions": actions})

    def drop(self, role: str, name: str | None, files: list[Path]) -> None:
        node = self.see(role, name)
        self._driver.inside(_FILES, [str(file) for file in files])
        self._ask(node, _DROP)

    def choose_files(self, role: str, name: str, files: list[Path]) -> None:
        self._driver.outside(_CHOICE, [str(file) for file in files])
        self.click(role, name)
        if files[0].is_dir():
            # Firefox asks whether the page may have all of it.
            self.window.until("Firefox asks", lambda: self._driver.tell("WebDriver:AcceptAlert") is None)

"""The boxes of what the page shows: whether everything fits, and whether the frame is where it was."""

from __future__ import annotations

import json
from pathlib import Path

from harness import check
from people.world import World

_FAULTS = Path(__file__).with_name("boxes.js").read_text()

#: Boxes of the frame that do not depend on a font, by the name of a view.
EXPECTED = Path(__file__).with_name("boxes.json")

#: Pixels that a box may be off, since lines are as high as the font wants.
SLACK = 2

# Elements whose position comes from the style sheet alone. Of several, the first is measured.
_FRAME = """
const boxes = {};
for (const selector of arguments[0]) {
    const found = document.querySelector(selector);
    if (!found?.checkVisibility({ visibilityProperty: true })) continue;
    const { x, y, width, height } = found.getBoundingClientRect();
    boxes[selector] = [x, y, width, height].map(Math.round);
}
return boxes;
"""

_SELECTORS = (
    ".sidebar", ".top", ".search input", "main", ".selection", ".list", ".rows .row", ".rows .box", ".rows .entry-icon", ".rows .cell-name",
    ".rows .cell-size", ".rows .cell-modified", ".rows .row-menu", "dialog.preview", ".preview header",
    ".preview header .entry-icon", ".preview .shown", ".preview .picture", ".preview .document", ".preview .text-content",
    ".preview .markdown", ".preview .scroll",
)


def fit(world: World, where: str) -> None:
    """Every element stays within its row and the window, and no icon is larger than its line."""
    world.settle()
    faults = world.script(f"return ({_FAULTS})()")
    check.that(f"everything fits: {where}", not faults, "\n    ".join(faults[:12]))


def same(world: World, view: str) -> None:
    """The frame is laid out as it was when somebody looked at it and accepted it."""
    world.settle()
    seen = world.script(_FRAME, list(_SELECTORS))
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.is_file() else {}
    if world.accepts:
        expected[view] = seen
        lines = [f"  {json.dumps(name)}: {{\n" + ",\n".join(
            f"    {json.dumps(selector)}: {json.dumps(box)}" for selector, box in boxes.items()) + "\n  }"
            for name, boxes in sorted(expected.items())]
        EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    check.that(f"{view} is in {EXPECTED.name}", view in expected)
    check.equal(f"the parts of {view}", sorted(seen), sorted(expected[view]))
    moved = {
        selector: (box, expected[view][selector]) for selector, box in seen.items()
        if any(abs(one - other) > SLACK for one, other in zip(box, expected[view][selector]))
    }
    check.equal(f"the boxes of {view} (seen, expected)", moved, {})

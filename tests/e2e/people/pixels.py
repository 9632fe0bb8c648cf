"""Pictures of the page, compared with committed ones, in a font that the machine is known to have."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

from harness import check, install
from people.world import World

COMMITTED = Path(__file__).with_name("pixels")

#: The font of the committed pictures, and the package that brings it.
FONT = "DejaVu Sans"
PACKAGE = "fonts-dejavu-core"

#: Thousandths of a picture that may differ: edges of letters move with versions of Chromium.
MAX_DIFFERENT = 2

# Sets every text in one font; a policy of the page forbids style elements, and not this.
_IN_FONT = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(`:root, body, button, input, select { font-family: "${arguments[0]}", sans-serif !important; }`);
document.adoptedStyleSheets = [sheet];
"""

# Thousandths of two pictures that differ visibly; all of it if their sizes differ.
_COMPARED = """
const [one, other, done] = arguments;
(async () => {
    const read = async (data) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
        pen.drawImage(image, 0, 0);
        return pen.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await read(one), await read(other)];
    if (a.width !== b.width || a.height !== b.height) return 1000;
    let different = 0;
    for (let at = 0; at < a.data.length; at += 4) {
        const most = Math.max(...[0, 1, 2].map((part) => Math.abs(a.data[at + part] - b.data[at + part])));
        if (most > 32) different += 1;
    }
    return different * 4000 / a.data.length;
})().then(done);
"""


def same(world: World, view: str) -> None:
    """The view looks like the picture of it that somebody has accepted."""
    if not world.compares_pixels:
        return
    if world.window.name != "chromium":
        print(f"SKIP: the page, pixels in {world.window.name}: the committed pictures are of Chromium", flush=True)
        return
    found = subprocess.run([install.program("fc-match"), FONT], capture_output=True, text=True).stdout
    if FONT not in found:
        raise install.Missing(f"{PACKAGE} is not installed")
    world.script(_IN_FONT, FONT)
    world.settle()
    driver, file = world.window.driver, COMMITTED / f"{view}.png"
    seen = driver.get_screenshot_as_png()
    if world.accepts:
        COMMITTED.mkdir(exist_ok=True)
        file.write_bytes(seen)
        return
    check.that(f"there is a picture of {view}", file.is_file(), file)
    page = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        pictures = [base64.b64encode(picture).decode() for picture in (seen, file.read_bytes())]
        different = world.window.run(_COMPARED, *pictures)
    finally:
        driver.close()
        driver.switch_to.window(page)
    if different > MAX_DIFFERENT and world.pictures:
        world.pictures.mkdir(parents=True, exist_ok=True)
        (world.pictures / f"different-{view}.png").write_bytes(seen)
    check.that(f"{view} looks as it did: {different:.1f} thousandths differ", different <= MAX_DIFFERENT)

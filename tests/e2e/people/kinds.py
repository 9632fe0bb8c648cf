"""A folder with one file of every type: its list and a preview of each file, at a desk and on a phone."""

from __future__ import annotations

import os
from urllib.parse import quote

from harness import check
from people import boxes, pixels, samples
from people.world import World

#: The day that the list shows for every file.
DAY = 1_767_355_200

# The preview of a file, as soon as it is all there: in which way it is shown, whether that worked, and the
# text that can be read. `null` until then.
_SHOWN = """
const [name] = arguments;
const dialog = document.querySelector("dialog.preview[open]");
if (dialog?.querySelector("h2")?.textContent !== name) return null;
const shown = dialog.querySelector(".shown");
const found = (selector) => shown.querySelector(selector);
const nothing = found(".nothing:not([role=status])");
if (nothing) return { way: "nothing", works: true, text: nothing.innerText };
const status = found("[role=status]");
if (status) return status.textContent.startsWith("Loading") ? null : { way: "failure", works: false, text: status.textContent };
const image = found("img:not(.markdown img)"), media = found("video, audio"), editor = found(".text-content"), frame = found("iframe");
if (image) return image.complete ? { way: "picture", works: image.naturalWidth > 0, text: "" } : null;
if (media) {
    const waits = media.readyState === 0 && !media.error;
    return waits ? null : { way: media.localName, works: media.duration > 0, text: "" };
}
if (frame) return { way: frame.hasAttribute("sandbox") ? "page" : "document", works: true, text: "" };
if (editor) {
    const content = editor.shadowRoot?.querySelector(".cm-content");
    return content ? { way: "text", works: true, text: content.innerText } : null;
}
for (const [way, selector] of [["laid out", ".laid-out"], ["notebook", ".notebook"], ["markdown", ".markdown"], ["table", "table"]]) {
    if (!found(selector)) continue;
    if (["markdown", "notebook"].includes(way) && name !== "empty.md" && !found(`${selector} :is(h1, p)`)) return null;
    return { way, works: true, text: found(selector).innerText };
}
return null;
"""

# Sizes that the visible rows show, by name.
_SIZES = """
const rows = [...document.querySelectorAll("[role=grid] .row")];
const text = (row, selector) => row.querySelector(selector)?.textContent;
return Object.fromEntries(rows.filter((row) => text(row, ".entry-name")).map((row) => [text(row, ".entry-name"), text(row, ".cell-size")]));
"""

#: In which way the files of an extension are shown, where that is not as text.
_WAYS = {
    "picture": "png jpg jpeg gif webp svg bmp ico avif",
    "video": "mp4 webm mov mkv avi m4v ogv",
    "audio": "mp3 wav ogg oga flac m4a opus aac",
    "document": "pdf",
    "table": "csv tsv zip sqlite sqlite3 db xlsx xlsm xlsb xls ods",
    "laid out": "docx pptx odt odp epub rtf eml",
    "notebook": "ipynb",
    "page": "html htm",
    "markdown": "md markdown",
    "nothing": "doc tif tiff tar gz tgz xz bz2 7z zst xyz bin",
}

#: Files that are not what their names say.
_ODD = {
    "empty.bin": "nothing", "empty.csv": "nothing", "broken.png": "picture",
}

#: Films and sounds that every browser plays.
_PLAYED = ("mp4", "webm", "mp3", "wav")

#: Files of which somebody has looked at the boxes of the preview.
_MEASURED = ("sample.png", "sample.pdf", "sample.py", "sample.md", "sample.csv", "sample.mp4")

#: Those of which the pixels are compared, too.
_PICTURED = ("sample.png", "sample.md")


def kinds(world: World) -> None:
    """Every file and folder has its row, and every file a preview, in which nothing sticks out and nothing
    fails. A symbolic link has none."""
    files = samples.every_type()
    _lay_out(world, files)
    view = "phone" if world.is_phone else "desk"
    for scheme in ("light", "dark"):
        world.in_scheme(scheme)
        world.errors()
        world.open("storage/kinds")
        _list(world, files, f"{view}, {scheme}")
        world.picture(f"kinds-{view}-{scheme}")
        pixels.same(world, f"list-{view}-{scheme}")
    boxes.same(world, f"list-{view}")
    # Colours move nothing, so each size has the previews in one of both.
    world.in_scheme("dark" if world.is_phone else "light")
    for name in files:
        _preview(world, name, view)
    world.in_scheme("")
    check.equal("the page reports no error", world.errors(), [])


def _lay_out(world: World, files: dict[str, bytes]) -> None:
    """Puts the files into the storage past the server, which makes no links and keeps no times."""
    world.call("shed_exec", zone="storage", cmd="mkdir", args=["kinds"])
    place = world.server.directory / "data" / "shared" / "Storage" / "data" / "kinds"
    (place / "a folder").mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    (place / samples.LINK).symlink_to("sample.txt")
    for file in place.iterdir():
        os.utime(file, (DAY, DAY), follow_symlinks=False)


def _list(world: World, files: dict[str, bytes], where: str) -> None:
    """Every row fits and has the size of its file; the page has those that can be seen, so it is scrolled
    through."""
    page = world.page
    count = len(files) + 1
    rows = lambda: page.ask("grid", "Files", "function () { return this.ariaRowCount; }")
    check.until(lambda: f"{count} entries and the header are counted; there are {rows()}", lambda: rows() == str(count + 1))
    scroll = """
        const done = arguments[1], list = document.querySelector("[role=grid]");
        list.scrollTop = arguments[0] * list.clientHeight;
        requestAnimationFrame(() => requestAnimationFrame(() => done(list.scrollTop + list.clientHeight >= list.scrollHeight - 1)));
    """
    sizes: dict[str, str] = {}
    for step in range(count):
        is_end = world.window.run(scroll, step)
        boxes.fit(world, f"the list, {where}, screen {step + 1}")
        sizes |= world.script(_SIZES)
        if is_end:
            break
    world.window.run(scroll, 0)
    expected = {name: _size(len(content)) for name, content in files.items()}
    check.equal(f"the list has the sizes, {where}", sizes, expected | {"a folder": ""})


def _size(count: int) -> str:
    """A number of bytes below a million, as people read it."""
    if count < 1024:
        return f"{count:,} B"
    return f"{count / 1024:.{1 if count < 10_240 else 0}f} KB".replace(".0 ", " ")


def _preview(world: World, name: str, view: str) -> None:
    address = f"#/storage/kinds?open={quote(name)}"
    world.script("location.hash = arguments[0]", address)
    shown = check.until(f"{name} is shown", lambda: world.script(_SHOWN, name))
    extension = name.rpartition(".")[2]
    ways = [way for way, extensions in _WAYS.items() if extension in extensions.split()]
    expected = _ODD.get(name, ways[0] if ways else "text")
    check.equal(f"{name} is shown as: {shown['text'][:200]}", shown["way"], expected)
    if expected not in ("video", "audio") or extension in _PLAYED:
        check.equal(f"{name} can be shown", shown["works"], name != "broken.png")
    has_word = expected in ("text", "table", "laid out", "notebook", "markdown") and not name.startswith(("empty", "sample.zip"))
    if has_word:
        check.that(f"{name} has its text", samples.WORD in shown["text"], shown["text"][:300])
    if name in ("utf-16.txt", "latin-1.txt"):
        check.that(f"{name} is decoded", "größer" in shown["text"], shown["text"][:300])
    boxes.fit(world, f"the preview of {name}, {view}")
    if name in _MEASURED:
        boxes.same(world, f"{name}-{view}")
        world.picture(f"preview-{name}-{view}")
        if name in _PICTURED:
            pixels.same(world, f"{name}-{view}")
    told = world.errors()
    if world.window.name == "firefox" and expected in ("video", "audio") and extension not in _PLAYED:
        # Firefox reports what it does not play.
        told = [error for error in told if "Load of media resource" not in error and "is not supported" not in error]
    check.equal(f"no error with {name}", told, [])

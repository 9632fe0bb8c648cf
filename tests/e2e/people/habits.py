"""Habits from any file manager: look in one's own way, copy, paste and drag, come back to where one was."""

from __future__ import annotations

from harness import check
from people import samples
from people.world import World

#: Drags what the first label selects onto what the second names.
DRAG = """
    const [from, to] = [...arguments], data = new DataTransfer();
    const at = (label) => document.querySelector(`[aria-label="Select ${label}"]`)?.closest("[role=row]")
        ?? [...document.querySelectorAll("a")].find((one) => one.textContent.trim() === label);
    const tell = (element, type) => element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
    const [source, target] = [at(from), at(to)];
    tell(source, "dragstart");
    tell(target, "dragover");
    const isTaken = target.classList.contains("dropping");
    if (isTaken) tell(target, "drop");
    tell(source, "dragend");
    return isTaken;
"""


def arranged(world: World) -> None:
    """The order of a list, its tiles and its hidden files are as they were the next time."""
    page = world.page
    for name, content in (("b.txt", b"1"), ("a.txt", b"22"), (".secret", b"")):
        world.store("storage", f"arranged/{name}", content)
    world.store("storage", "arranged/drawing.svg", b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')
    world.open("storage/arranged")
    world.row("a.txt")
    check.equal("hidden files are not shown", page.count("checkbox", "Select .secret"), 0)
    page.click("button", "Tiles")
    page.click("button", "Size")
    page.click("button", "More actions")
    page.click("menuitem", "Show hidden files")
    world.row(".secret")
    world.open("storage/arranged")
    world.row(".secret")
    check.equal("the smallest first", world.listed(), [".secret", "b.txt", "a.txt", "drawing.svg"])
    check.that("tiles", page.has_state("button", "Tiles", "pressed"))
    world.store("storage", "arranged/photo.png", samples.photo())
    world.open("storage/arranged")
    small = "return [...document.querySelectorAll('.tile img')].some((one) => one.src.includes('page/thumbnail') && one.naturalWidth === 256)"
    check.until("a large picture is shown by a small one", lambda: world.script(small))
    for scheme in ("dark", "light"):
        world.in_scheme(scheme)
        world.clean(f"tiles, {scheme}")
    world.in_scheme("")
    world.picture("tiles")
    world.fits()
    page.click("button", "Name")
    page.click("button", "Tiles")
    page.click("button", "More actions")
    page.click("menuitem", "Hide hidden files")
    page.gone("checkbox", "Select .secret")


def carried(world: World) -> None:
    """Entries that are copied, cut or dragged arrive in another folder and in another zone, and come back."""
    page = world.page
    for name in ("one.txt", "two.txt", "inner/three.txt"):
        world.store("storage", f"carried/{name}", name.encode())
    world.open("storage/carried")
    world.choose("one.txt")
    page.focus("grid", "Files")
    page.keys("CONTROL", "c")
    page.keys("CONTROL", "v")
    world.row("one (2).txt")
    page.keys("CONTROL", "x")
    world.open("storage/carried")
    world.menu("one.txt", "Copy")
    world.go("Documents")
    page.click("button", "More actions")
    page.click("menuitem", "Paste")
    world.row("one.txt")
    check.equal("a copy in another zone", world.content("documents", "one.txt"), b"one.txt")
    page.click("button", "Undo")
    page.gone("checkbox", "Select one.txt")
    check.equal("the copy is taken back", world.content("documents", "one.txt"), None)
    world.open("storage/carried")
    world.row("two.txt")
    check.that("a folder takes it", world.script(DRAG, "two.txt", "inner"))
    page.gone("checkbox", "Select two.txt")
    check.equal("it was moved", world.content("storage", "carried/inner/two.txt"), b"two.txt")
    check.that("a folder does not take itself", not world.script(DRAG, "inner", "inner"))
    check.that("another zone takes it", world.script(DRAG, "inner", "Documents"))
    check.until("a copy of the folder is there", lambda: world.content("documents", "inner/three.txt") is not None)
    world.row("inner")
    world.store("documents", "inner/three.txt", b"changed")
    check.that("a name that is taken is asked about", world.script(DRAG, "one.txt", "inner"))
    page.gone("checkbox", "Select one.txt")
    world.store("storage", "carried/one.txt", b"another")
    world.open("storage/carried")
    world.row("one.txt")
    check.that("once more", world.script(DRAG, "one.txt", "inner"))
    page.click("button", "Keep both")
    page.gone("checkbox", "Select one.txt")
    check.equal("both are there", world.content("storage", "carried/inner/one (2).txt"), b"another")


def returning(world: World) -> None:
    """After a preview the list, and after a search its results, are where they were."""
    page = world.page
    for number in range(60):
        world.store("storage", f"returning/file {number:02}.txt", b"needle")
    world.open("storage/returning")
    world.row("file 00.txt")
    page.focus("grid", "Files")
    page.keys("END")
    page.keys("ENTER")
    page.see("dialog", "file 59.txt")
    page.click("button", "Close")
    page.gone("dialog", "file 59.txt")
    world.has_chosen(["file 59.txt"])
    page.write("searchbox", "Search names and contents", "needle")
    page.see("heading", "Results for “needle”")
    page.click("link", "file 07.txt /storage/returning")
    page.see("dialog", "file 07.txt")
    page.click("button", "Close")
    page.see("heading", "Results for “needle”")
    page.click("link", "Recent")
    check.until("the last file is there", lambda: any(name.startswith("file 59.txt") for name in page.names("link")))
    world.clean("recent files")
    world.open("storage")
    world.menu("returning", "Details")
    page.see("dialog", "Details: returning")
    check.until("its files are counted", lambda: "60 files" in page.text("dialog", "Details: returning"))
    world.clean("details")
    page.keys("ESCAPE")
    page.gone("dialog", "Details: returning")
    page.focus("grid", "Files")
    page.keys("?")
    page.see("dialog", "Keys")
    world.clean("keys")


def drafts(world: World) -> None:
    """Unsaved text comes back after a reload; a person who left an editor does not block the file."""
    page = world.page
    world.store("documents", "drafts/note.md", b"before\n")
    world.open("documents/drafts?open=note.md")
    page.click("button", "Edit")
    page.see("button", "Save")
    page.write("textbox", "note.md", "typed and not saved\n")
    kept = "return Object.keys(localStorage).filter((name) => name.startsWith('fileshed.draft')).length"
    check.until("the draft is kept", lambda: world.script(kept) == 1)
    world.window.reload()
    page.see("button", "Save")
    check.until("the draft is back", lambda: "typed and not saved" in page.value("textbox", "note.md"))
    change = {"zone": "documents", "path": "drafts/note.md", "content": "of another\n", "overwrite": True}
    held = world.server.call("shed_patch_text", change)
    check.equal("the file is held", held.json()["error"]["code"], "FILE_LOCKED")
    world.window.open("about:blank")
    check.until("the file is given back", lambda: world.server.call("shed_patch_text", change).status == 200)
    world.open("documents/drafts?open=note.md")
    page.click("button", "Save")
    page.see("button", "Edit")
    check.equal("the draft is saved", world.content("documents", "drafts/note.md"), b"typed and not saved\n")
    check.equal("no draft is left", world.script(kept), 0)

"""The list of changes, by answers, and their undo."""

from __future__ import annotations

from harness import check
from people import samples
from people.world import World


def _answer(world: World, answer: str, operation: str, **given: object) -> None:
    """A call of a model that writes this answer in a chat."""
    headers = {"X-OpenWebUI-Chat-Id": "chat-77", "X-OpenWebUI-Message-Id": answer}
    done = world.server.call(operation, given, headers=headers)
    check.equal(f"{operation}: {done.text}", done.status, 200)


def changes(world: World) -> None:
    """An answer of a model is one entry, with its files; it is undone, and so is one change of it."""
    with world.another(api_keys="") as here:
        page = here.page
        here.use_phone(world.is_phone)
        here.store("documents", "plan.md", b"one\n")
        here.store("storage", "old.txt", b"old")
        _answer(here, "m-1", "shed_patch_text", zone="documents", path="plan.md", content="two\n", overwrite=True)
        _answer(here, "m-1", "shed_create_file", zone="storage", path="new.txt", content="new")
        _answer(here, "m-1", "shed_delete", zone="storage", path="old.txt")
        here.open("documents")
        here.go("Changes")
        [undo] = [name for name in check.until("an answer", lambda: [
            name for name in page.names("button") if name.startswith("Undo: Assistant") and "3 files changed" in name])]
        page.see("heading", "Today")
        here.clean("the changes")
        here.picture("changes-phone" if here.is_phone else "changes", 0 if here.is_phone else 520)
        page.click("button", undo)
        check.until("it says so", lambda: "Undone" in here.told_by_page())
        check.equal("what was there is there", here.content("documents", "plan.md"), b"one\n")
        check.equal("what was deleted is back", here.content("storage", "old.txt"), b"old")
        check.equal("what was new is gone", here.content("storage", "new.txt"), None)
        page.click("button", "Redo")
        check.until("it is done again", lambda: here.content("documents", "plan.md") == b"two\n")
        check.until("all of it", lambda: here.content("storage", "new.txt") == b"new")
        # One answer, opened at its address.
        here.window.open("about:blank")
        here.window.open(f"{here.server.url}/#/changes/m-1")
        page.see("link", "All changes")
        here.fits()
        here.clean("one answer")
        here.picture("answer-phone" if here.is_phone else "answer")
        page.click("button", "Undo: old.txt")
        check.until("one of them is back", lambda: here.content("storage", "old.txt") == b"old")
        check.equal("the others stay", here.content("storage", "new.txt"), b"new")
        page.click("button", "History: plan.md")
        page.see("dialog", "History: plan.md")
        page.click("button", "Close")
        page.click("link", "Documents/plan.md")
        page.see("dialog", "plan.md")
        _compared(here)
        _one_file(here)


def _compared(here: World) -> None:
    """Each file of a change shows both sides: texts and documents beside each other, tables by cells."""
    page = here.page
    here.store("storage", "sums.csv", b"item,sum\npen,1\n")
    _answer(here, "m-2", "shed_patch_text", zone="storage", path="sums.csv", content="item,sum\npen,2\n", overwrite=True)
    here.store("storage", "letter.docx", samples.letter())
    _answer(here, "m-2", "shed_copy", **{"from": "storage/letter.docx", "to": "documents/letter.docx"})
    _answer(here, "m-2", "shed_exec", zone="storage", cmd="cp", args=["new.txt", "more.txt"])
    here.store("storage", "dot.png", bytes(range(256)))
    _answer(here, "m-2", "shed_delete", zone="storage", path="dot.png")
    here.window.open("about:blank")
    here.window.open(f"{here.server.url}/#/changes/m-2")
    page.click("button", "Difference: sums.csv")
    page.see("region", "sums.csv")
    cells = "return [...document.querySelectorAll('.beside td.differs')].map((cell) => cell.textContent)"
    check.until("the cells are beside each other", lambda: here.script(cells) == ["1", "2"])
    page.click("button", "Difference: letter.docx")
    check.until("a document has its text", lambda: "It was a good year." in page.text("textbox", "letter.docx (2)"))
    page.click("button", "Difference: dot.png")
    check.until("what has no text says so", lambda: "There is nothing to compare" in page.text("main"))
    here.errors()
    page.click("button", "Difference: more.txt")
    check.until("a text has both sides", lambda: page.text("textbox", "more.txt (2)").strip() == "new")
    here.fits()
    here.clean("the differences of an answer")
    here.picture("differences-phone" if here.is_phone else "differences")
    page.click("button", "Difference: more.txt")
    page.gone("textbox", "more.txt (2)")


def _one_file(here: World) -> None:
    """One of the files of a change comes back by itself, also while later changes stay."""
    page = here.page
    for name in ("a.txt", "b.txt"):
        here.store("storage", name, name.encode())
        here.store("documents", name, name.encode())
    for zone in ("storage", "documents"):
        _answer(here, "m-3", "shed_exec", zone=zone, cmd="rm", args=["a.txt", "b.txt"])
        here.store(zone, "b.txt", b"later")
    here.window.open("about:blank")
    here.window.open(f"{here.server.url}/#/changes/m-3")
    page.see("button", "Undo: 2 files changed")
    for zone, left in (("documents", 1), ("storage", 0)):
        page.see("button", "Undo: a.txt")
        here.script("document.querySelector('[aria-label=\"Undo: a.txt\"]').click()")
        check.until("one is back", lambda: here.content(zone, "a.txt") == b"a.txt")
        check.until("its button is gone", lambda: page.names("button").count("Undo: a.txt") == left)
        check.equal("the other stays", here.content(zone, "b.txt"), b"later")
    here.picture("one-file-phone" if here.is_phone else "one-file")


def undone(world: World) -> None:
    """A person's own changes on the page are undone at once: what is new, a rename, a move, an upload and a save."""
    with world.another(api_keys="") as here:
        page = here.page
        for name in ("a.txt", "b.txt"):
            here.store("storage", f"work/{name}", name.encode())
        here.store("storage", "work/sub/s.txt", b"s")
        for zone in ("storage", "documents"):
            here.open(zone)
            page.click("button", "New folder")
            page.write("textbox", "Name", "made")
            page.keys("ENTER")
            here.row("made")
            page.click("button", "Undo")
            page.gone("checkbox", "Select made")
            here.dismiss()
            page.click("button", "More actions")
            page.click("menuitem", "New text file")
            page.write("textbox", "Name", "made.md")
            page.keys("ENTER")
            page.see("dialog", "made.md")
            page.see("button", "Undo")
            here.settle()
            is_above = """
                const note = document.querySelector('.preview .note'), { x, y } = note.getBoundingClientRect();
                return note.contains(document.elementFromPoint(x + 20, y + 20));
            """
            check.that("the note lies over the file", here.script(is_above))
            page.click("button", "Undo")
            page.gone("dialog", "made.md")
            check.equal("it is gone", here.content(zone, "made.md"), None)
            here.dismiss()
            here.drop("sent.txt", b"sent")
            page.click("button", "Undo")
            page.gone("checkbox", "Select sent.txt")
            page.click("button", "Redo")
            here.row("sent.txt")
            here.dismiss()
        here.open("storage/work")
        here.menu("a.txt", "Rename")
        page.write("textbox", "Name", "c.txt")
        page.keys("ENTER")
        here.row("c.txt")
        page.click("button", "Undo")
        here.row("a.txt")
        here.dismiss()
        here.choose("a.txt", "b.txt")
        page.click("button", "Move or copy")
        page.see("dialog", "Move or copy: 2 items")
        page.click("button", "sub")
        page.click("button", "Move here")
        page.gone("checkbox", "Select b.txt")
        page.click("button", "Undo")
        here.row("a.txt")
        here.row("b.txt")
        check.equal("nothing is there", here.content("storage", "work/sub/a.txt"), None)
        here.dismiss()
        here.menu("a.txt", "Open")
        page.click("button", "Edit")
        page.see("button", "Save")
        page.write("textbox", "a.txt", "newer")
        page.click("button", "Save")
        check.until("it is saved", lambda: here.content("storage", "work/a.txt") != b"a.txt")
        page.click("button", "Undo")
        check.until("it is as it was", lambda: here.content("storage", "work/a.txt") == b"a.txt")

"""What was deleted."""

from __future__ import annotations

from harness import check
from people.world import World


def bin(world: World) -> None:
    """What is deleted in the storage comes back: at once, or out of the bin."""
    with world.another(api_keys="", bin_days="30") as here:
        page = here.page
        for name in ("a.txt", "b.txt", "c.txt"):
            here.store("storage", f"notes/{name}", name.encode())
        here.open("storage/notes")
        here.menu("a.txt", "Delete")
        page.gone("checkbox", "Select a.txt")
        check.equal("nobody was asked", page.count("dialog"), 0)
        page.click("button", "Undo")
        here.row("a.txt")
        check.equal("it is back", here.content("storage", "notes/a.txt"), b"a.txt")
        here.choose("a.txt", "b.txt")
        page.click("button", "Delete")
        page.gone("checkbox", "Select b.txt")
        here.menu("c.txt", "Delete")
        page.gone("checkbox", "Select c.txt")
        here.go("Bin")
        page.see("button", "Restore: c.txt")
        here.clean("the bin")
        here.dismiss()
        here.picture("bin", 520)
        page.click("button", "Restore: a.txt")
        page.gone("button", "Restore: a.txt")
        check.equal("it came back", here.content("storage", "notes/a.txt"), b"a.txt")
        page.click("button", "Delete for good: b.txt")
        page.see("dialog", "Delete “b.txt”?")
        page.click("button", "Delete for good")
        page.gone("button", "Restore: b.txt")
        page.see("button", "Restore: c.txt")
        page.click("button", "Empty bin")
        page.see("dialog", "Empty bin?")
        page.click("button", "Cancel")
        page.see("button", "Restore: c.txt")
        here.open("storage/notes")
        here.row("a.txt")
        check.equal("only that one is there", page.count("button", "More actions: c.txt"), 0)

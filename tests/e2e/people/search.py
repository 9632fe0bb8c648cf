"""The search and its results."""

from __future__ import annotations

from harness import check
from people.world import World


def search(world: World) -> None:
    """Names and contents are found."""
    page = world.page
    world.store("documents", "find/quarterly.md", b"nothing else\n")
    world.store("storage", "find/other.txt", b"a line\nabout quarterly figures\n")
    world.open("documents")
    page.write("searchbox", "Search names and contents", "quarterly")
    page.keys("ENTER")
    page.see("heading", "Results for “quarterly”")
    found = check.until("both are found", lambda: [name for name in page.names("link") if "find" in name])
    check.equal("by name and by content", len(found), 2)
    world.picture("search")
    page.click("link", found[0])
    page.see("dialog")

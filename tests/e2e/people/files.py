"""Folders and files."""

from __future__ import annotations

from urllib.parse import urlencode

from harness import check, web
from people.world import World


def files(world: World) -> None:
    """Folders and files are made, renamed, moved, deleted and brought back."""
    page = world.page
    world.open("documents")
    page.click("button", "New folder")
    page.write("textbox", "Name", "Ideas")
    page.keys("ENTER")
    world.row("Ideas")
    world.store("documents", "first.txt", b"one\n")
    world.store("documents", "second.txt", b"two\n")
    world.open("documents")
    world.choose("first.txt")
    page.click("button", "Rename")
    page.write("textbox", "Name", "renamed.txt")
    page.keys("ENTER")
    world.row("renamed.txt")
    check.equal("it has its content", world.content("documents", "renamed.txt"), b"one\n")
    # The renamed file is still chosen.
    world.choose("second.txt")
    page.click("button", "Move or copy")
    page.see("dialog", "Move or copy: 2 items")
    page.click("button", "Ideas")
    page.click("button", "Move here")
    page.gone("checkbox", "Select second.txt")
    check.equal("it moved", world.content("documents", "Ideas/second.txt"), b"two\n")
    world.open("documents/Ideas")
    world.menu("second.txt", "Delete")
    page.gone("checkbox", "Select second.txt")
    check.equal("it is gone", world.content("documents", "Ideas/second.txt"), None)
    page.click("button", "Undo")
    world.row("second.txt")
    check.equal("it is back", world.content("documents", "Ideas/second.txt"), b"two\n")
    world.menu("second.txt", "Move or copy")
    page.click("button", "Storage")
    page.click("button", "Move here")
    page.gone("checkbox", "Select second.txt")
    world.open("storage")
    world.menu("second.txt", "Delete")
    page.gone("checkbox", "Select second.txt")
    check.equal("it is gone", world.content("storage", "second.txt"), None)


def keyboard(world: World) -> None:
    """Without a mouse."""
    page = world.page
    for name in ("a.txt", "b.txt", "c.txt"):
        world.store("storage", f"keys/{name}", name.encode())
    world.open("storage/keys")
    world.row("a.txt")
    page.focus("grid", "Files")
    page.keys("ARROW_DOWN")
    world.has_chosen(["a.txt"])
    page.keys("SHIFT", "END")
    world.has_chosen(["a.txt", "b.txt", "c.txt"])
    page.keys("ESCAPE")
    world.has_chosen([])
    page.keys("c")
    world.has_chosen(["c.txt"])
    page.keys("F2")
    page.write("textbox", "Name", "d.txt")
    page.keys("ENTER")
    world.row("d.txt")
    page.focus("grid", "Files")
    page.keys("HOME")
    page.keys("ENTER")
    page.see("dialog", "a.txt")
    page.keys("ESCAPE")
    page.gone("dialog", "a.txt")
    page.focus("grid", "Files")
    page.keys("BACKSPACE")
    world.row("keys")


def order(world: World) -> None:
    """A list is sorted by its headers, the path above it leads back, and the space that is used is shown."""
    with world.another(api_keys="", quota_per_user_mb="10", max_file_size_mb="9") as here:
        page = here.page
        for name, size in (("b.bin", 3), ("a.bin", 5 * 2**20), ("c.bin", 40)):
            here.store("storage", f"one/two/{name}", bytes(size))
        here.open("storage")
        here.row("one")
        used = float(page.value("meter", "used"))
        check.that("half of the space is used", 49 < used < 52, used)
        check.that("in words, too", "5 MB of 10 MB used" in page.text("navigation", "Places"))

        here.open("storage/one/two")
        here.row("a.bin")
        check.equal("by name", here.listed(), ["a.bin", "b.bin", "c.bin"])
        for header, falls, expected in (
            ("Name", "descending", ["c.bin", "b.bin", "a.bin"]),
            ("Size", "ascending", ["b.bin", "c.bin", "a.bin"]),
            ("Size", "descending", ["a.bin", "c.bin", "b.bin"]),
            ("Modified", "ascending", ["b.bin", "a.bin", "c.bin"]),
        ):
            page.click("button", header)
            check.until(f"{header} {falls}: {here.listed()}", lambda: here.listed() == expected)
            said = page.ask("columnheader", header, "function () { return this.ariaSort; }")
            check.equal(f"{header} says so", said, falls)

        check.equal("the path", page.text("navigation", "Path").split("\n"), ["Storage", "one", "two"])
        page.click("link", "one", inside=("navigation", "Path"))
        here.row("two")
        page.click("button", "More actions: two")
        page.click("menuitem", "Open")
        here.row("a.bin")
        page.click("link", "Storage", inside=("navigation", "Path"))
        here.row("one")


def moves(world: World) -> None:
    """From zone to zone: what moves, and what is copied; and a deletion in a group is undone."""
    with world.another(groups="local") as here:
        page = here.page
        token = here.told("token", "create", "--user", "ada")
        here.told("group", "create", "--name", "Team", "--members", "ada,bob")

        def has(zone: str, path: str, **more: str) -> bool:
            query = urlencode({"zone": zone, "path": path, **more})
            return web.request("GET", f"{here.server.url}/files/content?{query}", token=token).status == 200

        for number in (1, 2):
            query = urlencode({"zone": "uploads", "path": f"{number}.txt", "chat": "trip"})
            address = f"{here.server.url}/files/content?{query}"
            check.equal("brought", web.request("PUT", address, token=token, raw=b"x").status, 201)
        here.window.open(f"{here.server.url}/#/uploads/trip")
        here.sign_in(token)
        here.row("1.txt")

        def carry(name: str, place: str, way: str) -> None:
            here.menu(name, "Move or copy")
            page.see("dialog", f"Move or copy: {name}")
            page.click("button", place)
            page.click("button", way)
            page.gone("dialog")

        carry("1.txt", "Storage", "Move here")
        page.gone("checkbox", "Select 1.txt")
        check.that("uploads to storage", has("storage", "1.txt") and not has("uploads", "1.txt", chat="trip"))
        carry("2.txt", "Documents", "Move here")
        page.gone("checkbox", "Select 2.txt")
        check.that("uploads to documents", has("documents", "2.txt") and not has("uploads", "2.txt", chat="trip"))
        here.go("Storage")
        here.row("1.txt")
        carry("1.txt", "Documents", "Copy here")
        check.until("storage to documents", lambda: has("documents", "1.txt"))
        check.that("as a copy", has("storage", "1.txt"))
        page.click("button", "Clear selection")
        page.click("button", "New folder")
        page.write("textbox", "Name", "Copies")
        page.keys("ENTER")
        here.row("Copies")
        here.menu("1.txt", "Move or copy")
        page.see("dialog", "Move or copy: 1.txt")
        page.click("button", "Copies")
        page.click("button", "Copy here")
        page.gone("dialog")
        check.until("inside a zone", lambda: has("storage", "Copies/1.txt"))
        check.that("as a copy", has("storage", "1.txt"))
        carry("1.txt", "Team", "Copy here")
        check.until("storage to a group", lambda: has("group", "1.txt", group="Team"))

        here.go("Team")
        here.menu("1.txt", "Delete")
        page.gone("checkbox", "Select 1.txt")
        check.that("it is gone", not has("group", "1.txt", group="Team"))
        page.click("button", "Undo")
        here.row("1.txt")
        check.that("it is back", has("group", "1.txt", group="Team"))


#: Scrolls a list, a step a frame, from its top again after its end.
SCROLL = """
    const done = arguments[0], list = document.querySelector("[role=grid]");
    const end = list.scrollHeight - list.clientHeight;
    let steps = 0;
    requestAnimationFrame(function step() {
        list.scrollTop = (steps * 900) % end;
        steps++ < 120 ? requestAnimationFrame(step) : done(null);
    });
"""


def many(world: World) -> None:
    """Ten thousand entries are a list like another."""
    page = world.page
    names = [f"f{number:05}.txt" for number in range(10_000)]
    for directory, count in ("some", 200), ("many", len(names)):
        world.call("shed_exec", zone="storage", cmd="mkdir", args=[directory])
        for first in range(0, count, 2500):
            paths = [f"{directory}/{name}" for name in names[first : min(first + 2500, count)]]
            world.call("shed_exec", zone="storage", cmd="touch", args=paths)
    of_some = _scroll(world, "some")
    of_many = _scroll(world, "many")
    rows = page.ask("grid", "Files", "function () { return this.ariaRowCount; }")
    check.equal("all are counted", rows, "10001")
    check.that("few are in the page", page.count("row") < 100)
    page.focus("grid", "Files")
    page.keys("END")
    world.row("f09999.txt")
    ratio = of_many / of_some
    print(f"scrolling: {of_some:.2f} s of the page's thread for 200 entries, {ratio:.2f} times as much for 10000")
    check.that("it scrolls like a short list", ratio < 2, (of_some, of_many))


def _scroll(world: World, directory: str) -> float:
    """Processor time in seconds that the page takes to scroll a list; the least of some."""
    world.open(f"storage/{directory}")
    world.row("f00000.txt")
    times = []
    for _ in range(3):
        before = world.window.worked()
        world.window.run(SCROLL)
        times.append(world.window.worked() - before)
    return min(times)

"""The look of the page, its language, and its speed."""

from __future__ import annotations

from harness import check, web
from people.content import ways, written_in_chat
from people.world import World

#: Milliseconds until something is to be seen, as it should be and as it may be at best on a machine that
#: others use too; bytes of what the page loads for a list.
FIRST_PAINT = 100
FIRST_PAINT_MAX = 1000
ASSETS_AT_FIRST = 60_000


def shown(world: World) -> None:
    """The look of a directory that has been used for a while."""
    world.store("storage", "Project/Reports/2026.md", b"# 2026\n")
    world.store("storage", "Project/Photos/one.jpg", b"x")
    for name, size in (("Budget 2026.csv", 1200), ("Contract.pdf", 182_000), ("analysis.py", 3400), ("customers.sqlite", 90_000),
                       ("Interview.mp3", 2_400_000), ("Offer.docx", 24_000), ("Plan.md", 2100), ("site.zip", 480_000)):
        world.store("storage", f"Project/{name}", bytes(size))
    world.open("storage/Project")
    world.row("site.zip")
    world.picture("people")
    world.choose("Contract.pdf", "Plan.md")
    world.has_chosen(["Contract.pdf", "Plan.md"])
    world.picture("people-selection")


def phone(world: World) -> None:
    """Everything is there on a small screen."""
    page = world.page
    world.use_phone(True)
    try:
        world.store("documents", "small/a file with quite a long name that does not fit.txt", b"x")
        world.open("documents/small")
        world.fits()
        world.clean("a phone")
        world.picture("phone")
        page.click("button", "Menu")
        page.see("navigation", "Places")
        world.clean("the places on a phone")
        page.click("link", "Storage")
        check.until("it shows the place", lambda: "storage" in world.script("return location.hash"))
        page.gone("navigation", "Places")
        world.open("documents/small?open=a%20file%20with%20quite%20a%20long%20name%20that%20does%20not%20fit.txt")
        page.see("button", "Edit")
        world.fits()
        world.clean("a file on a phone")
    finally:
        world.use_phone(False)


def german(world: World) -> None:
    """The language is the browser's."""
    world.window.language("de-DE,de")
    try:
        written_in_chat(world, "plan.md", "text\n")
        world.window.open("about:blank")
        world.window.open(f"{world.server.url}/#/documents")
        world.page.see("button", "Neuer Ordner")
        check.equal("it says so", world.script("return document.documentElement.lang"), "de")
        names = world.script("return performance.getEntriesByType('resource').map((one) => one.name)")
        words = {name.rsplit("/", 1)[1] for name in names if "/words/" in name}
        check.equal("no other language is loaded", words, {"de.js"})
        world.page.click("button", "Weitere Aktionen: plan.md")
        world.page.click("menuitem", "Verlauf")
        check.until("the history is, too", lambda: ways(world)[:1] == ["durch das Modell, Chat chat-77"])
        world.window.open("about:blank")
        world.window.open(f"{world.server.url}/#/documents?open=plan.md")
        world.page.click("button", "Bearbeiten")
        world.page.see("button", "Speichern")
        world.page.focus("textbox", "plan.md")
        world.page.keys("CONTROL", "f")
        world.page.see("textbox", "Suchen")
        world.page.see("button", "alle ersetzen")
    finally:
        world.window.language("en-US,en")


def contrast(world: World) -> None:
    """axe-core finds nothing, in light and dark."""
    world.store("documents", "axe/page.md", b"line\n" * 40)
    world.store("documents", "axe/page.md", b"# A title\n\ntext\n" + b"line\n" * 40)
    world.store("documents", "axe/code.py", b"print(1)  # one\n")
    world.store("documents", "axe/table.csv", b"a,b\n1,2\n")
    page = world.page
    for scheme in ("light", "dark"):
        world.in_scheme(scheme)
        for where in ("documents/axe", "uploads", "documents/axe?open=page.md", "documents/axe?open=code.py", "documents/axe?open=table.csv", "documents?search=title", "links"):
            world.window.open("about:blank")
            world.window.open(f"{world.server.url}/#/{where}")
            page.see("dialog") if "open=" in where else page.see("navigation", "Places")
            world.clean(f"{where}, {scheme}")
        world.open("documents/axe")
        world.choose("page.md")
        world.clean(f"selection, {scheme}")
        page.click("button", "Move or copy")
        page.see("dialog")
        world.clean(f"a dialog, {scheme}")
        page.click("button", "Cancel")
        page.click("button", "More actions")
        page.click("menuitem", "History")
        check.until("most lines are left out", lambda: "unchanged lines" in page.text("textbox", "axe/page.md (2)"))
        world.clean(f"the history, {scheme}")
        page.click("button", "Close")
        world.open("documents/axe?open=code.py")
        page.click("button", "Edit")
        page.see("button", "Save")
        page.focus("textbox", "code.py")
        page.keys("CONTROL", "f")
        page.write("textbox", "Find", "print")
        world.clean(f"a search in a text, {scheme}")
        page.click("button", "Cancel")
        world.open("documents/axe")
        page.click("button", "More actions: code.py")
        page.see("menu")
        world.clean(f"a menu, {scheme}")
    world.in_scheme("")


def quick(world: World) -> None:
    """Something is to be seen at once, and little is loaded for it."""
    world.open("documents")
    paints = []
    for _ in range(5):
        world.window.open("about:blank")
        world.window.forget()
        world.window.open(f"{world.server.url}/#/documents")
        paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        paints.append(check.until("something is painted", lambda: world.script(paint)))
    best, median = min(paints), sorted(paints)[2]
    print(f"first contentful paint: {median:.0f} ms, at best {best:.0f} ms, {FIRST_PAINT} are the aim")
    check.that("something is to be seen soon", best < FIRST_PAINT_MAX, paints)
    world.page.see("grid")
    names = world.script("return performance.getEntriesByType('resource').map((one) => one.name)")
    at_first = sum(_packed(name) for name in {name for name in names if "/page/assets/" in name})
    print(f"before the list shows: {at_first} bytes")
    check.that("little is loaded for the list", at_first <= ASSETS_AT_FIRST, at_first)


def _packed(address: str) -> int:
    """Bytes of something that the page loads, as they are sent."""
    answer = web.request("GET", address, headers={"Accept-Encoding": "gzip"})
    check.equal(f"{address} is there", answer.status, 200)
    return len(answer.body)

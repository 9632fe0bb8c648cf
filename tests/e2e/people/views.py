"""Views over a list or in its place: everything fits, at a desk and on a phone."""

from __future__ import annotations

from people import boxes
from people.world import World

#: A name that is longer than a phone is wide.
LONG = f"{'A name of many words that goes on ' * 4}.txt"


def views(world: World) -> None:
    """Menus, dialogs, the selection, links, results and chats stay inside the window."""
    page = world.page
    view = "phone" if world.is_phone else "desk"
    for name in (LONG, "a picture.png", "sheet.xlsx"):
        world.store("storage", f"views/{name}", b"quarterly\n" * 200)
    world.open("storage/views")
    page.click("button", f"More actions: {LONG}")
    page.see("menu")
    boxes.fit(world, "a menu")
    page.click("menuitem", "Share link")
    page.see("dialog", f"Share link: {LONG}")
    boxes.fit(world, "a link")
    world.picture(f"link-{view}")
    page.click("button", "Close")
    page.gone("dialog")
    boxes.fit(world, "a selection")
    boxes.same(world, f"selection-{view}")
    page.click("button", "Move or copy")
    page.see("dialog", f"Move or copy: {LONG}")
    boxes.fit(world, "where to move it")
    page.click("button", "Cancel")
    page.gone("dialog")
    for place, sign in (("links", ("button", f"End link: {LONG}")), ("documents?search=quarterly", ("heading", "Results for “quarterly”")),
                        ("uploads", ("link", "Without a chat")), ("storage/views/none", ("button", "Try again"))):
        world.window.open(f"{world.server.url}/#/{place}")
        page.see(*sign)
        world.window.idle()
        boxes.fit(world, place)
        world.picture(f"{place.partition('?')[0].replace('/', '-')}-{view}")

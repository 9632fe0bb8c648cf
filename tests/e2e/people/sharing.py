"""Access for others: links, groups, tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from harness import check, web
from people.world import World


def links(world: World) -> None:
    """Links are made, copied, listed, and ended; and one that takes files."""
    page = world.page
    world.store("storage", "share/paper.txt", b"shared")
    world.open("storage/share")
    world.menu("paper.txt", "Share link")
    page.see("dialog", "Share link: paper.txt")
    address = page.value("textbox", "Address")
    check.that("it says when it ends", "Ends: " in page.text("dialog", "Share link: paper.txt"))
    world.clean("a link")
    check.equal("it works for anybody", web.request("GET", address).body, b"shared")
    page.click("button", "Copy")
    check.until("it says so", lambda: "Copied" in world.told_by_page())
    check.equal("it is copied", world.window.clipboard(), address)
    # While it is typed, the hour is chosen in passing.
    page.choose("combobox", "Ends after", "1 day")
    hours = lambda link: (datetime.fromisoformat(link["expires_at"]) - datetime.now(UTC)) / timedelta(hours=1)
    check.until("it ends sooner", lambda: next(
        (link for link in world.call("shed_link_list")["files"]
         if link["download_url"] == address and 2 < hours(link) < 25), None))
    check.equal("its address stays", page.value("textbox", "Address"), address)
    check.equal("it works", web.request("GET", address).body, b"shared")
    page.click("button", "Close")
    page.gone("dialog")

    page.click("button", "Clear selection")
    page.click("button", "More actions")
    page.click("menuitem", "Link to receive files")
    page.see("dialog", "Link to receive files")
    receives = page.value("textbox", "Address")
    page.click("button", "Close")
    brought = web.request("POST", receives, file=("brought.txt", b"from outside", "text/plain"))
    check.equal(f"it takes a file: {brought.text}", brought.status, 200)
    check.equal("where it was made", world.content("storage", "share/brought.txt"), b"from outside")

    world.go("Links")
    page.click("button", "End link: paper.txt")
    page.gone("button", "End link: paper.txt")
    check.equal("it has ended", web.request("GET", address).status, 404)
    page.click("button", "End link: share")
    page.gone("button", "End link: share")
    refused = web.request("POST", receives, file=("late.txt", b"x", "text/plain"))
    check.equal("this one, too", refused.status, 404)
    _without_address(world)


def guarded(world: World) -> None:
    """A folder behind a password, with a file that is a page; a file that is fetched once; a page to send to."""
    page, window = world.page, world.window
    world.store("storage", "trip/plan.txt", b"to the sea")
    world.store("storage", "trip/days/first.html", b"<h1>First day</h1><script>document.body.append('ran')</script>")
    world.open("storage")
    world.menu("trip", "Share link")
    page.see("dialog", "Share link: trip")
    address = page.value("textbox", "Address")
    # Typed, and not confirmed in any way.
    page.write("textbox", "Password", "correct horse")
    page.click("button", "Copy")
    page.see("button", "Remove the password")
    page.choose("combobox", "Downloads", "2")
    check.until("it says so", lambda: "2 of 2 downloads left." in page.text("dialog", "Share link: trip"))
    world.clean("the terms of a link")
    world.fits()
    world.picture("link_dialog")
    page.click("button", "Close")
    page.gone("dialog")
    check.equal("nobody else", web.request("GET", address).status, 401)
    world.go("Links")
    page.click("button", "Change link: trip.zip")
    page.see("dialog", "Change link: trip.zip")
    ends = world.script("return [...document.querySelector('dialog select').options].slice(1).map((one) => Number(one.value))")
    check.equal("the hours that the server allows", ends, [1, 24, 168])
    page.click("button", "Close")
    page.gone("dialog")

    window.open(address)
    page.see("heading", "This link needs a password")
    check.that("no name shows", "trip" not in page.text("main"))
    _looks(world, "link_password")
    page.write("textbox", "Password", "wrong horse")
    page.follow("button", "Open")
    page.see("alert", None)
    page.write("textbox", "Password", "correct horse")
    page.follow("button", "Open")
    page.see("heading", "trip")
    page.see("link", "plan.txt")
    check.that("it says how often", "2 downloads left" in page.text("main"))
    _looks(world, "link_folder")
    page.follow("link", "days")
    page.see("link", "trip", inside=("navigation", "Folders"))
    page.follow("link", "first.html")
    page.see("heading", "first.html")
    check.that("it waits for a click", not window.count("iframe"))
    page.click("link", "Download (62 B)")
    check.equal("it is saved", window.downloaded("first.html")[:13], b"<h1>First day")
    # This browser has fetched it.
    window.reload()
    shown = check.until("it shows in a frame", lambda: window.within("iframe", "body"))
    check.that("and runs there", "First day" in shown and "ran" in shown, shown)
    _looks(world, "link_html")
    left = [link["downloads_left"] for link in world.call("shed_link_list")["files"] if link["filename"] == "trip.zip"]
    check.equal("it counts once", left, [1])
    world.errors()

    once = world.call("shed_link_create", zone="storage", path="trip/plan.txt", downloads=1)["download_url"]
    window.open(once)
    page.see("heading", "plan.txt")
    _looks(world, "link_once")
    check.equal("somebody else is first", web.request("GET", once).body, b"to the sea")
    page.follow("link", "Download (10 B)")
    page.see("heading", "This link is used up")
    _looks(world, "link_used_up")
    window.open(world.call("shed_link_create", upload=True)["download_url"])
    page.see("heading", "Send files")
    _looks(world, "link_upload")
    window.open(f"{world.server.url}/links/unknown")
    page.see("heading", "This link does not work")
    _looks(world, "link_unknown")
    # The answers that are no success are what was asked for.
    world.errors()

    world.open("storage")
    world.go("Links")
    page.click("button", "Change link: trip.zip")
    page.see("dialog", "Change link: trip.zip")
    page.click("button", "Remove the password")
    page.gone("button", "Remove the password")
    page.click("button", "Close")
    page.gone("dialog")
    check.equal("it opens", web.request("GET", f"{address}/list").status, 200)
    page.click("button", "End link: trip.zip")
    page.gone("button", "End link: trip.zip")
    check.equal("it has ended", web.request("GET", address).status, 404)


def _looks(world: World, name: str) -> None:
    """A page of a link, in light and dark, as it is kept in pictures."""
    for scheme in ("light", "dark"):
        world.in_scheme(scheme)
        world.clean(f"{name} {scheme}")
        world.fits()
        world.picture(f"{name}_{scheme}_{'phone' if world.is_phone else 'desk'}")
    world.in_scheme("")


def _without_address(world: World) -> None:
    """A server that does not know its own address is where the page is."""
    with world.another(public_url="", bind="0.0.0.0") as here:
        page = here.page
        made = here.of("ada", "shed_create_file", zone="storage", path="paper.txt", content="shared")
        check.equal("a file", made.status, 200)
        here.window.open(f"{here.server.url}/#/storage")
        here.sign_in(here.told("token", "create", "--user", "ada"))
        here.menu("paper.txt", "Share link")
        address = page.value("textbox", "Address")
        check.that("the address is whole", address.startswith(f"{here.server.url}/links/"), address)
        check.equal("and works for anybody", web.request("GET", address).body, b"shared")


def together(world: World) -> None:
    """Two people and their group, each with what is theirs: by token, by link, and out again."""
    with world.another(groups="local") as here:
        page, window = here.page, here.window
        token = here.told("token", "create", "--user", "ada")
        here.told("group", "create", "--name", "Team", "--members", "ada,bob")
        written = here.of("ada", "shed_create_file", zone="documents", path="diary.md", content="mine")
        check.equal("a diary", written.status, 200)

        window.open(f"{here.server.url}/")
        page.see("textbox", "Personal token")
        here.clean("signing in")
        here.sign_in("wrong")
        check.until("the page says so", here.told_by_page)
        here.sign_in(token)
        here.go("Documents")
        here.row("diary.md")
        here.go("Team")
        page.click("button", "New folder")
        page.write("textbox", "Name", "Plans")
        page.keys("ENTER")
        here.row("Plans")
        given = {"zone": "group", "group": "Team", "path": "rules.md", "content": "ours"}
        check.equal("a file", here.of("ada", "shed_create_file", **given).status, 200)
        window.reload()
        here.menu("rules.md", "Owner and rights")
        page.click("radio", "Only the owner may change it")
        page.click("button", "Save")
        page.gone("dialog")
        here.picture("group")
        here.sign_out()
        check.equal("nothing of hers stays", page.count("checkbox"), 0)

        link = here.told("login-link", "--user", "bob")
        window.open(link)
        page.follow("button", "Open the files")
        here.go("Team")
        here.row("Plans")
        here.row("rules.md")
        page.click("button", "More actions: rules.md")
        page.see("menuitem", "Open")
        check.equal("he may not remove it", page.count("menuitem", "Delete"), 0)
        page.keys("ESCAPE")
        here.go("Documents")
        page.gone("checkbox", "Select diary.md")
        here.sign_out()
        window.open(link)
        page.gone("button", "Open the files")


def ownership(world: World) -> None:
    """The owners of a group's files, its members, and a file that is given away."""
    with world.another(groups="local") as here:
        page, window = here.page, here.window
        here.told("group", "create", "--name", "Team", "--members", "ada,bob")
        for user, path in (("ada", "hers.md"), ("bob", "his.md")):
            given = {"zone": "group", "group": "Team", "path": path, "content": "text", "mode": "owner"}
            check.equal("a file", here.of(user, "shed_create_file", **given).status, 200)
        window.open(here.told("login-link", "--user", "ada"))
        page.follow("button", "Open the files")
        here.go("Team")
        here.row("hers.md")
        if not here.is_phone:
            owners = [name for name in page.names("gridcell") if name in ("you", "bob")]
            check.equal("whose each is", owners, ["you", "bob"])
        page.click("button", "More actions")
        page.click("menuitem", "Members and files")
        page.see("dialog", "Team")
        check.until("both are in it", lambda: ["ada", "bob"] == page.text("list", "Members").split())
        files = page.text("region", "Files")
        check.that("with their files", "hers.md" in files and "his.md" in files, files)
        here.clean("the members")
        page.click("button", "Close")
        page.gone("dialog")

        here.menu("hers.md", "Owner and rights")
        page.see("dialog", "Owner and rights: hers.md")
        check.that("as it is now", page.has_state("radio", "Only the owner may change it", "checked"))
        here.clean("the rights")
        page.choose("combobox", "Give to", "bob")
        page.click("button", "Save")
        page.gone("dialog")
        his = check.until(
            "it is his", lambda: [file for file in _files(here) if file["path"] == "hers.md" and file["owner"] == "bob"]
        )
        check.equal("with its mode", his[0]["mode"], "owner")
        # The list may yet show what was.
        here.window.reload()
        page.click("button", "More actions: hers.md")
        page.see("menuitem", "Open")
        check.equal("she may not remove it any more", page.count("menuitem", "Delete"), 0)


def _files(world: World) -> list[dict]:
    return world.of("bob", "shed_group_info", group="Team").json()["data"]["files"]


def tokens(world: World) -> None:
    """A token for a program: made, used, and ended."""
    with world.another() as here:
        page, server = here.page, here.server
        here.window.open(here.told("login-link", "--user", "ada"))
        page.follow("button", "Open the files")
        here.go("Personal tokens")
        page.click("button", "New token")
        page.see("dialog", "New token")
        here.clean("a new token")
        page.write("textbox", "Purpose", "backup")
        page.click("checkbox", "May only read")
        page.click("button", "Create")
        page.see("dialog", "Personal token")
        secret = page.value("textbox", "Personal token")
        page.click("button", "Close")
        page.see("button", "End token: backup")
        here.clean("the tokens")
        here.picture("tokens")
        check.equal("it reads", server.call("shed_stats", {}, secret).status, 200)
        note = {"zone": "storage", "path": "a.md", "content": "x"}
        check.equal("and no more", server.call("shed_create_file", note, secret).status, 403)
        page.click("button", "End token: backup")
        page.gone("button", "End token: backup")
        check.equal("it has ended", server.call("shed_stats", {}, secret).status, 401)


def departure(world: World) -> None:
    """A user who signs in after somebody else sees none of that person's data, even while the server does not
    answer."""
    with world.another() as here:
        page = here.page
        here.told("token", "create", "--user", "ada", "--label", "backup")
        tokens = {user: here.told("token", "create", "--user", user) for user in ("ada", "bob")}
        for user in tokens:
            # Both have the same name.
            named = {"X-OpenWebUI-User-Id": user, "X-OpenWebUI-User-Name": "Alex%20Kim"}
            here.server.call("shed_stats", {}, here.server.key, named)
        for path in ("one.md", "two.md"):
            made = here.of("ada", "shed_create_file", zone="storage", path=path, content="needle")
            check.equal("a file", made.status, 200)
            check.equal("a link", here.of("ada", "shed_link_create", zone="storage", path=path).status, 200)
        here.window.open(f"{here.server.url}/#/storage")
        here.sign_in(tokens["ada"])
        here.row("one.md")
        here.go("Links")
        page.see("button", "End link: one.md")
        here.go("Personal tokens")
        page.see("button", "End token: backup")
        here.open("storage?open=one.md")
        page.click("button", "Edit")
        page.see("button", "Save")
        page.write("textbox", "one.md", "typed and not saved\n")
        # Of somebody else in this browser, whose id begins like hers.
        other = "fileshed.draft.ada.smith.#/storage?open=two.md"
        here.script("localStorage.setItem(arguments[0], '{}')", other)
        kept = "return Object.keys(localStorage).filter((name) => name.startsWith('fileshed.draft'))"
        check.until("the draft is kept", lambda: len(here.script(kept)) == 2)
        here.open("storage")
        here.sign_out()
        check.equal("no draft of hers is left", here.script(kept), [other])
        with here.window.refusing("/shed_link_list", "/page/tokens", "/page/list"):
            here.sign_in(tokens["bob"])
            for place, hers in (("Links", "End link: one.md"), ("Personal tokens", "End token: backup")):
                here.go(place)
                check.until("the page says that nobody answers", lambda: "cannot be reached" in here.told_by_page())
                check.equal(f"nothing of hers: {place}", page.count("button", hers), 0)
                here.dismiss()
            here.go("Storage")
            page.see("button", "Try again")
            check.equal("nothing of hers: files", here.listed(), [])

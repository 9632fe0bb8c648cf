"""Actions of an administrator."""

from __future__ import annotations

import threading

from harness import check, web
from people.world import World


def admin(world: World) -> None:
    """An administrator looks after users, groups, links and locks, and never sees what a file is called."""
    with world.another(groups="local") as here:
        _oversee(here)
        _end(here)


def _oversee(here: World) -> None:
    page, window = here.page, here.window
    here.told("group", "create", "--id", "team", "--name", "Team", "--members", "ada,bob")
    place = {"zone": "documents", "path": "canary.md"}
    for user in ("ada", "bob"):
        check.equal("a file", here.of(user, "shed_create_file", **place, content="canary").status, 200)
        check.equal("a lock", here.of(user, "shed_lockedit_open", **place).status, 200)
        check.equal("a link", here.of(user, "shed_link_create", **place).status, 200)
    shared = {"zone": "group", "group": "Team", "path": "canary.md", "content": "canary"}
    check.equal("a file of the group", here.of("ada", "shed_create_file", **shared).status, 200)

    # A user who is no administrator sees none of it.
    window.open(f"{here.server.url}/")
    here.sign_in(here.told("token", "create", "--user", "ada"))
    page.see("link", "Documents")
    check.equal("no way there", page.count("link", "Administration"), 0)
    window.open(f"{here.server.url}/admin")
    page.see("alert")
    check.that("the page says why", not page.says("Loading"))
    here.clean("administration for others")
    here.sign_out()

    window.open(f"{here.server.url}/admin")
    here.sign_in(here.told("token", "create", "--user", "keeper", "--scope", "admin"))
    page.see("button", "Suspend: bob")
    page.see("rowheader", "Team team")
    for scheme in ("dark", "light"):
        here.in_scheme(scheme)
        for name, sign in (
            ("Running", "Refresh"), ("Links", "End: Download, bob"), ("Locks", "Release: Documents, bob"),
            ("Server", "Refresh"), ("Users and groups", "Suspend: bob"),
        ):
            page.click("button", name)
            page.see("button", sign)
            here.clean(f"administration, {name}, {scheme}")
            shown = here.script("return document.body.innerText")
            check.that(f"no name of a file: {name}", "canary" not in shown, shown)
    here.in_scheme("")
    here.picture("admin", 580)


def _end(here: World) -> None:
    page = here.page
    page.click("button", "Suspend: bob")
    page.see("dialog", "Suspend bob?")
    here.clean("a suspension")
    page.click("button", "Suspend")
    page.see("button", "End suspension: bob")
    check.equal("he does nothing", here.of("bob", "shed_stats").status, 403)
    page.click("button", "End suspension: bob")
    page.see("button", "Suspend: bob")
    check.equal("he goes on", here.of("bob", "shed_stats").status, 200)

    page.click("button", "Quota: bob")
    page.write("spinbutton", "Space in MiB", "7")
    page.click("button", "Save")
    page.gone("dialog")
    quota = lambda: here.of("bob", "shed_stats").json()["data"]["total"]["quota_mb"]
    check.until("it counts", lambda: quota() == 7)

    page.click("button", "Locks")
    page.click("button", "Release: Documents, bob")
    page.gone("button", "Release: Documents, bob")
    page.click("button", "Links")
    page.click("button", "End: Download, ada")
    page.gone("button", "End: Download, ada")

    _stopped(here)

    page.click("button", "Users and groups")
    page.click("button", "Delete: bob")
    page.see("dialog", "Permanently remove bob?")
    check.that("not yet", page.has_state("button", "Delete", "disabled"))
    page.write("textbox", "Type bob to confirm", "bob")
    here.clean("a deletion")
    page.click("button", "Delete")
    page.gone("button", "Delete: bob")
    page.see("button", "Delete: ada")

    here.use_phone(True)
    try:
        here.fits()
        page.see("button", "Delete: ada")
        here.picture("admin-phone")
    finally:
        here.use_phone(False)


def _stopped(here: World) -> None:
    """A command that runs is shown, by its program alone, and ended."""
    page = here.page
    answers: list[web.Response] = []
    given = {"zone": "storage", "cmd": "tail", "args": ["-f", "canary.log"]}
    check.equal("a file", here.of("ada", "shed_create_file", zone="storage", path="canary.log", content="x").status, 200)
    running = threading.Thread(target=lambda: answers.append(here.of("ada", "shed_exec", **given)))
    running.start()

    def is_shown() -> bool:
        page.click("button", "Refresh")
        return "tail" in here.script("return document.body.innerText")

    page.click("button", "Running")
    check.until("it is shown", is_shown)
    shown = here.script("return document.body.innerText")
    check.that("without what it works on", "canary" not in shown, shown)
    here.clean("what runs")
    [end] = [name for name in page.names("button") if name.startswith("End: ")]
    page.click("button", end)

    def is_gone() -> bool:
        page.click("button", "Refresh")
        return not page.count("button", end)

    check.until("it is shown no more", is_gone)
    running.join(check.PATIENCE)
    check.that("it has ended", answers and answers[0].status != 200, answers and answers[0].text)

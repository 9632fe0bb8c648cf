"""The page in Firefox."""

from __future__ import annotations

from urllib.parse import urlencode

from harness import check, install, web
from harness import firefox as firefoxes
from people.world import World


def firefox(world: World) -> None:
    """The page works in Firefox: what a person does first."""
    missing = firefoxes.missing()
    if missing:
        raise install.Missing(f"there is no {missing}")
    with world.another(bin_days="30") as here, firefoxes.Firefox(here.server.directory) as page:
        token = here.told("token", "create", "--user", "ada")

        def content(path: str) -> bytes | None:
            place = urlencode({"zone": "documents", "path": path})
            answer = web.request("GET", f"{here.server.url}/files/content?{place}", token=token)
            return answer.body if answer.status == 200 else None

        page.open(f"{here.server.url}/")
        page.write("textbox", "Personal token", token)
        page.click("button", "Sign in")
        page.click("link", "Documents")
        page.see("grid", "Files")

        page.drop("first.md", "# A heading")
        page.see("checkbox", "Select first.md")
        check.equal("it is uploaded", content("first.md"), b"# A heading")
        page.click("button", "More actions: first.md")
        page.click("menuitem", "Open")
        page.see("dialog", "first.md")
        page.see("heading", "A heading")
        page.click("button", "Close")
        page.gone("dialog")

        page.click("button", "More actions: first.md")
        page.click("menuitem", "Rename")
        page.write("textbox", "Name", "second.md")
        page.press_enter()
        page.see("checkbox", "Select second.md")
        check.equal("it has the other name", content("second.md"), b"# A heading")

        page.click("button", "More actions: second.md")
        page.click("menuitem", "History")
        page.see("dialog", "History: second.md")
        page.see("button", "A second.md")
        check.until("it says who", lambda: any("by you on the page" in label for label in page.labels("heading")))
        page.click("button", "Close")
        page.gone("dialog")

        page.click("button", "More actions: second.md")
        page.click("menuitem", "Delete")
        page.gone("checkbox", "Select second.md")
        check.equal("it is gone", content("second.md"), None)
        page.click("button", "Undo")
        page.see("checkbox", "Select second.md")
        check.equal("it is back", content("second.md"), b"# A heading")

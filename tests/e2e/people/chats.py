"""The uploads of chats."""

from __future__ import annotations

import io
import zipfile
from urllib.parse import urlencode

from harness import check, web
from people.world import World


def uploads(world: World) -> None:
    """The uploads of each chat are found, read, kept and deleted, in that chat."""
    with world.another(api_keys="", uploads_retention_days="5", bin_days="30") as here:
        page = here.page
        for chat, name in (("trip", "ticket.txt"), ("trip", "old.txt"), ("trip", "sub/map.txt"), ("a/b: étude", "odd.txt")):
            _bring(here, chat, name, f"{name} of {chat}".encode())
        _open(here)
        page.see("link", "Without a chat")
        row = here.page.text("list", "Chats")
        check.that("how much it is", "3 files · " in row and "1 file · " in row, row)
        check.that("and until when", row.count("removed on ") == 2, row)
        here.clean("the chats")
        here.picture("chats")

        page.click("link", "trip")
        here.row("ticket.txt")
        check.until("it is said that it ends", lambda: "These files are removed on" in page.text("note"))
        page.click("button", "More actions: ticket.txt")
        page.click("menuitem", "Open")
        page.see("dialog", "ticket.txt")
        check.until("it shows", lambda: page.text("textbox", "ticket.txt") == "ticket.txt of trip")
        page.click("button", "Close")
        page.gone("dialog")
        here.menu("ticket.txt", "Download")
        check.equal("it is downloaded", here.window.downloaded("ticket.txt"), b"ticket.txt of trip")

        here.menu("ticket.txt", "Move or copy")
        page.see("dialog", "Move or copy: ticket.txt")
        page.click("button", "Storage")
        page.click("button", "Move here")
        page.gone("checkbox", "Select ticket.txt")
        check.equal("it moved", here.content("storage", "ticket.txt"), b"ticket.txt of trip")
        here.menu("old.txt", "Share link")
        shared = page.value("textbox", "Address")
        check.equal("a link to it works", web.request("GET", shared).body, b"old.txt of trip")
        page.click("button", "Close")
        page.gone("dialog")
        here.choose("sub")
        page.click("button", "Download")
        packed = zipfile.ZipFile(io.BytesIO(here.window.downloaded("download.zip")))
        check.equal("several at once", {"old.txt", "sub/map.txt"} & set(packed.namelist()), {"old.txt", "sub/map.txt"})
        page.click("button", "Clear selection")

        here.menu("old.txt", "Delete")
        page.gone("checkbox", "Select old.txt")
        page.click("button", "Undo")
        here.row("old.txt")
        here.choose("old.txt")
        page.click("button", "Delete")
        page.gone("checkbox", "Select old.txt")
        check.equal("it is gone there", _content(here, "trip", "old.txt"), None)

        here.drop("new.txt", b"dropped")
        check.equal("it is in this chat", _content(here, "trip", "new.txt"), b"dropped")
        page.click("button", "More actions: sub")
        page.click("menuitem", "Open")
        here.row("map.txt")
        check.equal("the way back", _path(here), ["Uploads", "trip", "sub"])
        page.click("link", "trip", inside=("navigation", "Path"))
        here.row("new.txt")

        page.write("searchbox", "Search names and contents", "odd")
        page.keys("ENTER")
        found = check.until("what another chat has", lambda: [name for name in page.names("link") if "odd.txt" in name])
        page.click("link", found[0])
        page.see("dialog", "odd.txt")
        check.until("it shows", lambda: page.text("textbox", "odd.txt") == "odd.txt of a/b: étude")
        page.click("button", "Close")
        page.gone("dialog")
        here.go("Uploads")
        page.click("link", "Without a chat")
        page.see("heading", "Nothing is here yet")


def _open(here: World) -> None:
    here.window.open(f"{here.server.url}/#/storage")
    here.page.see("grid", "Files")
    here.go("Uploads")
    here.page.see("link", "trip")


def _address(here: World, chat: str, path: str) -> str:
    return f"{here.server.url}/files/content?{urlencode({'zone': 'uploads', 'path': path, 'chat': chat})}"


def _bring(here: World, chat: str, path: str, content: bytes) -> None:
    answer = web.request("PUT", _address(here, chat, path), raw=content)
    check.equal(f"{path} is brought: {answer.text}", answer.status, 201)


def _content(here: World, chat: str, path: str) -> bytes | None:
    answer = web.request("GET", _address(here, chat, path))
    return answer.body if answer.status == 200 else None


def _path(here: World) -> list[str]:
    """Returns the path that the page shows."""
    return here.page.text("navigation", "Path").split("\n")

"""Data that the page for people gets from Open WebUI: sessions, titles of chats, and chats that are gone."""

from __future__ import annotations

from pathlib import Path

from harness import check, web
from harness.chat import attachment
from harness.fileshed import Fileshed
from harness.webui import Account
from harness.world import World

#: The headers of every request of the page.
PAGE = {"X-Fileshed-Page": "1"}


def run(world: World) -> None:
    webui = world.webui
    with world.connected(
        "session", openwebui_api_url=webui.url, openwebui_admin_key=webui.admin.key
    ) as fileshed:
        _session(fileshed, webui.ada, webui.bob)
        chats = {title: _chat(world, title) for title in ("Plans for spring", "Over soon")}
        _titles(world, fileshed, chats)
        _gone(world, fileshed, chats)


def _session(fileshed: Fileshed, ada: Account, bob: Account) -> None:
    """The page is at the address of Open WebUI, so the browser sends its cookie."""
    for who in (ada, bob):
        state = _asked(fileshed, "/page/session", who).json()
        check.equal("the session of Open WebUI is the page's", state["signed_in"], True)
        answer = _called(fileshed, "shed_create_file", who, zone="storage", path="me.md", content=who.id)
        check.equal("and may write", answer.status, 200)
    for who in (ada, bob):
        read = _called(fileshed, "shed_read", who, zone="storage", path="me.md")
        check.that("each has their own", who.id in read.text, read.text)
    linked = _called(fileshed, "shed_link_create", ada, zone="storage", path="me.md").json()["data"]
    opened = web.request("GET", linked["download_url"])
    check.equal("a link that is made there works for anybody", opened.text, ada.id)
    # A page of another site makes the browser send the cookie, and not this header.
    alone = web.request("POST", f"{fileshed.url}/shed_stats", headers=_cookie(ada.token), document={})
    check.equal("the cookie alone is nothing", alone.status, 401)
    made_up = {**PAGE, **_cookie(f"{ada.token[:-9]}AAAAAAAAA")}
    answer = web.request("POST", f"{fileshed.url}/shed_stats", headers=made_up, document={})
    check.equal("nor is one that nobody gave out", answer.status, 401)


def _chat(world: World, title: str) -> str:
    """A chat to which a file is attached, called so by its user."""
    ada = world.webui.ada
    attached = attachment(world.webui.upload(ada, "a.txt", title.encode()))
    chat = world.ask(ada, [[("shed_tree", {"zone": "uploads"})]], files=[attached]).chat
    world.webui.ask("POST", f"/api/v1/chats/{chat}", ada.token, document={"chat": {"title": title}})
    return chat


def _titles(world: World, fileshed: Fileshed, chats: dict[str, str]) -> None:
    listed = _asked(fileshed, "/page/uploads", world.webui.ada).json()["chats"]
    shown = {one.get("title"): one["chat"] for one in listed}
    check.equal("chats are called what Open WebUI calls them", shown, chats)
    others = _asked(fileshed, "/page/uploads", world.webui.bob).json()["chats"]
    check.equal("and are their user's alone", others, [])


def _gone(world: World, fileshed: Fileshed, chats: dict[str, str]) -> None:
    webui = world.webui
    library = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
    if library is None:
        print("SKIP: chats that are gone: libfaketime is not installed", flush=True)
        return
    webui.ask("DELETE", f"/api/v1/chats/{chats['Over soon']}", webui.ada.token)
    # Only what nothing was done to for a day is asked about.
    later = {"LD_PRELOAD": str(library), "FAKETIME": "+2d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with fileshed.with_environment(later):
        cleaned = fileshed.call("shed_maintenance", {"all": True}, webui.admin.token)
        # The server itself may have been there before.
        check.equal("an administrator cleans up", cleaned.status, 200)
    listed = _asked(fileshed, "/page/uploads", webui.ada).json()["chats"]
    check.equal("one chat has uploads", [one["chat"] for one in listed], [chats["Plans for spring"]])


def _cookie(token: str) -> dict[str, str]:
    return {"Cookie": f"token={token}"}


def _asked(fileshed: Fileshed, path: str, who: Account) -> web.Response:
    return web.request("GET", fileshed.url + path, headers={**PAGE, **_cookie(who.token)})


def _called(fileshed: Fileshed, operation: str, who: Account, **arguments) -> web.Response:
    headers = {**PAGE, **_cookie(who.token)}
    return web.request("POST", f"{fileshed.url}/{operation}", headers=headers, document=arguments)

"""Has a person use the page in Chromium, and for a while in Firefox: with the mouse and by key, at a desk
and on a phone.

people.py [SCENARIO …] [--pictures DIRECTORY]

Everything is found by its role and label, as screen readers find it. What comes from a registry that
cannot be reached, and a browser that is not there, is skipped by a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path
from typing import Callable
from urllib.parse import urlencode

from harness import browser, check, fileshed, firefox as firefoxes, install, npm, proxy, web
from harness.accessible import Accessible

AXE = "axe-core@4.14.1"

#: Milliseconds until something is to be seen; bytes of what the page loads for a list, and of everything
#: that it has.
FIRST_PAINT = 100
ASSETS_AT_FIRST = 60_000
ASSETS = 400_000

#: Bytes of an upload that is cut off, and how many of it pass in a second.
LARGE = 1024 * 1024 * 1024
RATE = 80 * 1024 * 1024

#: A picture of one red point.
POINT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)

#: What sets `window.canary` wherever a page lets it run.
CANARY = "window.top.canary=1"
ATTACKS = {
    "attack.md": (
        f"# Attack\n\n<script>{CANARY}</script>\n<img src=x onerror='{CANARY}'>\n"
        f"<a href='javascript:{CANARY}'>here</a> [there](javascript:{CANARY})\n"
        f"<svg onload='{CANARY}'></svg><iframe srcdoc='<script>{CANARY}</script>'></iframe>\n"
        f"<details open ontoggle='{CANARY}'>x</details><math><mtext><img src=x onerror='{CANARY}'></mtext></math>\n"
    ).encode(),
    "attack.svg": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{CANARY}'><script>{CANARY}</script></svg>".encode(),
    "attack.html": f"<!doctype html><script>{CANARY}</script><body onload='{CANARY}'>".encode(),
    "attack.csv": f"name,value\n<img src=x onerror={CANARY}>,=cmd()\n".encode(),
    "attack.pdf": f"<!doctype html><script>{CANARY}</script>".encode(),
}


class World:
    """A server for one person, and a window on it."""

    def __init__(self, server: fileshed.Fileshed, window: browser.Browser, pictures: Path | None):
        self.server = server
        self.window = window
        self.page = Accessible(window)
        self.pictures = pictures

    def open(self, where: str) -> None:
        """Shows a place as if its address was typed in."""
        self.window.open("about:blank")
        self.window.open(f"{self.server.url}/#/{where}")
        self.page.see("dialog" if "open=" in where else "grid")

    def call(self, operation: str, **given: object) -> dict:
        answer = self.server.call(operation, given)
        check.equal(f"{operation}: {answer.text}", answer.status, 200)
        return answer.json()["data"]

    def store(self, zone: str, path: str, content: bytes) -> None:
        address = f"{self.server.url}/files/content?{urlencode({'zone': zone, 'path': path})}"
        answer = web.request("PUT", address, raw=content)
        check.that(f"{path} is stored: {answer.text}", answer.status in (200, 201))

    def content(self, zone: str, path: str) -> bytes | None:
        address = f"{self.server.url}/files/content?{urlencode({'zone': zone, 'path': path})}"
        answer = web.request("GET", address)
        return answer.body if answer.status == 200 else None

    def script(self, text: str):
        return self.window.driver.execute_script(text)

    def picture(self, name: str, height: int = 0) -> None:
        """Keeps a picture, of a window that is so high, unless it is to stay as it is."""
        if not self.pictures:
            return
        self.pictures.mkdir(parents=True, exist_ok=True)
        if height:
            self.window.resize(1280, height)
        self.window.picture(self.pictures / f"{name}.png")
        if height:
            self.window.resize(1280, 800)

    def row(self, name: str) -> None:
        self.page.see("checkbox", f"Select {name}")

    def choose(self, *names: str) -> None:
        for name in names:
            self.page.click("checkbox", f"Select {name}")

    def menu(self, name: str, action: str) -> None:
        """An action of one entry, by its button."""
        self.page.click("button", f"More actions: {name}")
        self.page.click("menuitem", action)


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
    # What was renamed is still chosen.
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
    page.see("dialog", "Delete “second.txt”?")
    page.click("button", "Cancel")
    world.row("second.txt")
    world.menu("second.txt", "Delete")
    page.see("dialog", "Delete “second.txt”?")
    page.click("button", "Delete")
    page.gone("checkbox", "Select second.txt")
    check.equal("it is gone for good", world.content("storage", "second.txt"), None)


def keyboard(world: World) -> None:
    """Without a mouse."""
    page = world.page
    for name in ("a.txt", "b.txt", "c.txt"):
        world.store("storage", f"keys/{name}", name.encode())
    world.open("storage/keys")
    page.focus("grid", "Files")
    page.keys("ARROW_DOWN")
    check.equal("one is selected", _selected(world), ["a.txt"])
    page.keys("SHIFT", "END")
    check.equal("all are", _selected(world), ["a.txt", "b.txt", "c.txt"])
    page.keys("ESCAPE")
    check.equal("none is", _selected(world), [])
    page.keys("c")
    check.equal("the name that was typed", _selected(world), ["c.txt"])
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


def _selected(world: World) -> list[str]:
    return world.script(
        "return [...document.querySelectorAll('[role=row][aria-selected=true] .entry-name')].map((name) => name.textContent)"
    )


def upload(world: World) -> None:
    """Files are sent by button and by drop, with their folders."""
    page = world.page
    with tempfile.TemporaryDirectory() as directory:
        sent = [Path(directory) / name for name in ("one.bin", "ünï.txt")]
        sent[0].write_bytes(bytes(range(256)) * 4096)
        sent[1].write_bytes(b"text")
        world.open("documents")
        page.choose_files("button", "Upload files", sent)
        for file in sent:
            world.row(file.name)
            check.equal("to the last byte", world.content("documents", file.name), file.read_bytes())
        sent[1].write_bytes(b"newer")
        page.choose_files("button", "Upload files", [sent[1]])
        page.see("dialog", "“ünï.txt” already exists")
        page.click("button", "Replace")
        check.until("it is replaced", lambda: world.content("documents", "ünï.txt") == b"newer")
    world.script("""
        const given = new DataTransfer();
        given.items.add(new File(["dropped"], "dropped.txt"));
        const where = document.querySelector("main");
        for (const type of ["dragover", "drop"]) {
            where.dispatchEvent(new DragEvent(type, { dataTransfer: given, bubbles: true, cancelable: true }));
        }
    """)
    world.row("dropped.txt")
    check.equal("what was dropped", world.content("documents", "dropped.txt"), b"dropped")


def resumable(world: World) -> None:
    """A large upload goes on after a lost connection and a killed server, is paused, and is given up."""
    settings = {
        "FILESHED_API_KEYS": "", "FILESHED_PUBLIC_URL": "", "FILESHED_LOG_LEVEL": "warn",
        "FILESHED_QUOTA_PER_USER_MB": "3000", "FILESHED_MAX_FILE_SIZE_MB": "2000",
    }
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        sent = Path(directory) / "large.bin"
        with sent.open("wb") as file:
            file.truncate(LARGE)
            for number in range(64):
                file.seek(number * (LARGE // 64) + number)
                file.write(f"piece {number}".encode())
        arriving = Path(directory) / "data" / "shared" / "arriving"
        with fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server:
            with proxy.Proxy(server.port, RATE) as connection:
                _interrupted(world, server, connection, sent, arriving)


def _interrupted(
    world: World, server: fileshed.Fileshed, connection: proxy.Proxy, sent: Path, arriving: Path
) -> None:
    page = world.page

    def arrived() -> int:
        return sum(file.stat().st_size for file in arriving.glob("*"))

    def shows(text: str) -> bool:
        return text in world.script("return document.querySelector('.transfers')?.textContent ?? ''")

    world.window.open(f"{connection.url}/#/storage")
    page.see("grid", "Files")
    begun = time.monotonic()
    page.choose_files("button", "Upload files", [sent])
    check.until("much has arrived", lambda: arrived() > LARGE // 10)
    connection.cut()
    before = arrived()
    check.until("the page says so", lambda: shows("Connection lost"))
    check.that("what arrived stays", arrived() >= before)
    connection.mend()
    check.until("it goes on by itself", lambda: arrived() > max(before, LARGE // 3))
    page.click("button", "Pause: large.bin")
    check.until("the page says so", lambda: shows("Paused"))
    page.see("progressbar", "large.bin")
    world.picture("paused")
    before = check.until("nothing more comes", lambda: _still(arrived))
    page.click("button", "Resume: large.bin")
    check.until("it goes on", lambda: arrived() > max(before, LARGE // 2))
    server.kill()
    before = arrived()
    server.start()
    check.until("it goes on after a restart", lambda: arrived() > before)
    world.row("large.bin")
    print(f"{LARGE // 2**20} MiB, interrupted three times: {time.monotonic() - begun:.1f} s")
    stored = server.directory / "data" / "shared" / "Storage" / "data" / "large.bin"
    check.equal("to the last byte", _digest(stored), _digest(sent))
    check.equal("nothing is left of it", arrived(), 0)

    page.choose_files("button", "Upload files", [sent])
    page.see("dialog", "“large.bin” already exists")
    page.click("button", "Keep both")
    check.until("some has arrived", lambda: arrived() > LARGE // 50)
    page.click("button", "Give up: large.bin")
    check.until("nothing of it stays", lambda: not list(arriving.glob("*")))
    check.equal("nothing is stored", page.count("checkbox", "Select large (2).bin"), 0)


def _still(number: Callable[[], int]) -> int:
    """The number, if it does not change for half a second."""
    before = number()
    time.sleep(0.5)
    return before if number() == before else 0


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def download(world: World) -> None:
    """One file as it is, several as an archive."""
    page = world.page
    for name in ("x.txt", "y.txt", "z/deep.txt"):
        world.store("storage", f"bundle/{name}", name.encode())
    world.open("storage/bundle")
    world.menu("x.txt", "Download")
    check.equal("one", world.window.downloaded("x.txt"), b"x.txt")
    page.click("button", "Clear selection")
    world.choose("y.txt", "z")
    page.click("button", "Download")
    packed = zipfile.ZipFile(io.BytesIO(world.window.downloaded("bundle.zip")))
    check.equal("several", sorted(name for name in packed.namelist() if not name.endswith("/")), ["y.txt", "z/deep.txt"])


def preview(world: World) -> None:
    """Files are shown as what they are."""
    page = world.page
    world.store("storage", "show/page.md", b"# A title\n\nand *text*, [a link](notes.txt)\n")
    world.store("storage", "show/notes.txt", b"plain text\n")
    world.store("storage", "show/table.csv", b"name;sum\n\"Ada; L.\";3\n")
    world.store("storage", "show/point.png", POINT)
    world.call("shed_sqlite", zone="storage", path="show/data.sqlite", query="CREATE TABLE people (name TEXT)")
    world.call("shed_sqlite", zone="storage", path="show/data.sqlite", query="INSERT INTO people VALUES ('Grace')")
    world.call("shed_zip", zone="storage", src="show/notes.txt", dest="show/notes.zip")
    for name, role, label in (
        ("page.md", "heading", "A title"),
        ("notes.txt", "textbox", "notes.txt"),
        ("table.csv", "cell", "Ada; L."),
        ("point.png", "image", "point.png"),
        ("data.sqlite", "cell", "Grace"),
        ("notes.zip", "cell", "notes.txt"),
    ):
        world.open(f"storage/show?open={name}")
        page.see("dialog", name)
        page.see(role, label)
        world.picture(f"preview-{name}")
    page.click("button", "Next")
    page.see("dialog", "page.md")
    page.click("link", "a link")
    page.see("dialog", "notes.txt")


def edit(world: World) -> None:
    """Text is edited under a lock, and somebody else's lock is respected."""
    page = world.page
    world.store("documents", "editing/note.md", b"before\n")
    world.open("documents/editing?open=note.md")
    page.click("button", "Edit")
    page.write("textbox", "note.md", "after\n")
    refused = world.server.call(
        "shed_patch_text",
        {"zone": "documents", "path": "editing/note.md", "content": "x"},
        headers={"X-OpenWebUI-Chat-Id": "another"},
    )
    check.equal("nobody else may change it meanwhile", refused.json()["error"]["code"], "FILE_LOCKED")
    page.click("button", "Save")
    page.see("button", "Edit")
    check.equal("it is saved", world.content("documents", "editing/note.md"), b"after\n")
    page.click("button", "Close")
    other = {"X-OpenWebUI-Chat-Id": "another"}
    locked = world.server.call("shed_lockedit_open", {"zone": "documents", "path": "editing/note.md"}, headers=other)
    check.equal("somebody else has it", locked.status, 200)
    world.open("documents/editing?open=note.md")
    page.click("button", "Edit")
    check.until("the page says so", lambda: any("lock" in text for text in _notes(world)))
    check.equal("it is not edited", page.count("button", "Save"), 0)


def _notes(world: World) -> list[str]:
    return world.script("return [...document.querySelectorAll('.note')].map((note) => note.textContent)")


def _ways(world: World) -> list[str]:
    """Who changed what the history shows, and how, the latest first."""
    lines = world.script("return [...document.querySelectorAll('.version span')].map((line) => line.textContent)")
    return [" · ".join(line.split(" · ")[1:]) for line in lines]


def _written_in_chat(world: World, path: str, content: str) -> None:
    """As a model writes it, in a conversation."""
    arguments = {"zone": "documents", "path": path, "content": content}
    answer = world.server.call("shed_create_file", arguments, headers={"X-OpenWebUI-Chat-Id": "chat-77"})
    check.equal(f"{path}: {answer.text}", answer.status, 200)


def history(world: World) -> None:
    """What a file was is shown, with who changed it and how, and brought back."""
    page = world.page
    world.store("documents", "past/plan.md", b"first\n")
    _written_in_chat(world, "past/plan.md", "second\n")
    world.open("documents/past")
    world.menu("plan.md", "History")
    page.see("dialog", "History: plan.md")
    page.see("textbox", "past/plan.md (1)")
    page.see("textbox", "past/plan.md (2)")
    world.picture("history")
    versions = [name for name in page.names("button") if name.endswith("past/plan.md")]
    check.equal("there are two versions", versions, ["M past/plan.md", "A past/plan.md"])
    ways = ["by model, chat chat-77", "by you with a program"]
    check.equal("it says who changed it", _ways(world), ways)
    page.click("button", "A past/plan.md")
    page.click("button", "Restore this version")
    check.until("the first is back", lambda: world.content("documents", "past/plan.md") == b"first\n")
    check.until("it says who brought it back", lambda: _ways(world) == ["by you on the page", *ways])
    world.open("documents")
    page.click("button", "More actions")
    page.click("menuitem", "History of this place")
    page.see("dialog", "History: Documents")
    check.until("the place says so too", lambda: "by model, chat chat-77" in _ways(world))


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


def links(world: World) -> None:
    """Links are made, listed, and ended."""
    page = world.page
    world.store("storage", "share/paper.txt", b"shared")
    world.open("storage/share")
    world.menu("paper.txt", "Share link")
    page.see("dialog", "Share link: paper.txt")
    address = world.script("return document.querySelector('dialog input').value")
    check.equal("it works for anybody", web.request("GET", address).body, b"shared")
    page.click("button", "Close")
    page.click("link", "Links")
    page.click("button", "End link: paper.txt")
    page.gone("button", "End link: paper.txt")
    check.equal("it has ended", web.request("GET", address).status, 404)


def together(world: World) -> None:
    """Two people and their group, each with what is theirs: by token, by link, and out again."""
    page, window = world.page, world.window
    settings = {"FILESHED_GROUPS": "local", "FILESHED_LOG_LEVEL": "warn"}
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        with fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server:

            def told(*arguments: str) -> str:
                done = server.run(*arguments)
                check.equal(f"{arguments}: {done.stderr}", done.returncode, 0)
                return done.stdout.strip()

            token = told("token", "create", "--user", "ada")
            told("group", "create", "--name", "Team", "--members", "ada,bob")

            def call(user: str, operation: str, **given: object) -> web.Response:
                headers = {"X-OpenWebUI-User-Id": user}
                return server.call(operation, given, server.key, headers)

            written = call("ada", "shed_create_file", zone="documents", path="diary.md", content="mine")
            check.equal("a diary", written.status, 200)

            window.open(f"{server.url}/")
            page.write("textbox", "Personal token", "wrong")
            page.click("button", "Sign in")
            page.see("button", "Close")
            page.write("textbox", "Personal token", token)
            page.click("button", "Sign in")
            page.click("link", "Documents")
            world.row("diary.md")
            page.click("link", "Team")
            page.click("button", "New folder")
            page.write("textbox", "Name", "Plans")
            page.keys("ENTER")
            world.row("Plans")
            given = {"zone": "group", "group": "Team", "path": "rules.md", "content": "ours"}
            check.equal("a file", call("ada", "shed_create_file", **given).status, 200)
            window.reload()
            world.menu("rules.md", "Owner and rights")
            page.click("radio", "Only the owner may change it")
            page.click("button", "Save")
            page.gone("dialog")
            world.picture("group")
            page.click("button", "Sign out")
            page.see("textbox", "Personal token")
            check.equal("nothing of hers stays", page.count("checkbox"), 0)

            link = told("login-link", "--user", "bob")
            window.open(link)
            page.follow("button", "Open the files")
            page.click("link", "Team")
            world.row("Plans")
            world.row("rules.md")
            page.click("button", "More actions: rules.md")
            page.see("menuitem", "Open")
            check.equal("he may not remove it", page.count("menuitem", "Delete"), 0)
            page.keys("ESCAPE")
            page.click("link", "Documents")
            page.gone("checkbox", "Select diary.md")
            page.click("button", "Sign out")
            page.see("textbox", "Personal token")
            window.open(link)
            page.gone("button", "Open the files")
            window.open("about:blank")


def tokens(world: World) -> None:
    """A token for a program: made, used, and ended."""
    page, window = world.page, world.window
    axe = npm.package(AXE, fileshed.target() / "e2e").modules / "axe-core" / "axe.min.js"
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        with fileshed.Fileshed(fileshed.binary(), Path(directory), {"FILESHED_LOG_LEVEL": "warn"}) as server:
            window.open(server.run("login-link", "--user", "ada").stdout.strip())
            page.follow("button", "Open the files")
            page.click("link", "Personal tokens")
            page.click("button", "New token")
            page.see("dialog", "New token")
            _clean(world, axe, "a new token")
            page.write("textbox", "What it is for", "backup")
            page.click("checkbox", "May only read")
            page.click("button", "Create")
            page.see("dialog", "Personal token")
            secret = page.see("textbox", "Personal token")["value"]["value"]
            page.click("button", "Close")
            page.see("button", "End token: backup")
            _clean(world, axe, "the tokens")
            world.picture("tokens")
            check.equal("it reads", server.call("shed_stats", {}, secret).status, 200)
            note = {"zone": "storage", "path": "a.md", "content": "x"}
            check.equal("and no more", server.call("shed_create_file", note, secret).status, 403)
            page.click("button", "End token: backup")
            page.gone("button", "End token: backup")
            check.equal("it has ended", server.call("shed_stats", {}, secret).status, 401)
            window.open("about:blank")


def admin(world: World) -> None:
    """An administrator looks after users, groups, links and locks, and never sees what a file is called."""
    page, window = world.page, world.window
    axe = npm.package(AXE, fileshed.target() / "e2e").modules / "axe-core" / "axe.min.js"
    settings = {"FILESHED_GROUPS": "local", "FILESHED_LOG_LEVEL": "warn"}
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        with fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server:

            def told(*arguments: str) -> str:
                done = server.run(*arguments)
                check.equal(f"{arguments}: {done.stderr}", done.returncode, 0)
                return done.stdout.strip()

            def call(user: str, operation: str, **given: object) -> web.Response:
                return server.call(operation, given, server.key, {"X-OpenWebUI-User-Id": user})

            told("group", "create", "--id", "team", "--name", "Team", "--members", "ada,bob")
            place = {"zone": "documents", "path": "canary.md"}
            for user in ("ada", "bob"):
                check.equal("a file", call(user, "shed_create_file", **place, content="canary").status, 200)
                check.equal("a lock", call(user, "shed_lockedit_open", **place).status, 200)
                check.equal("a link", call(user, "shed_link_create", **place).status, 200)
            shared = {"zone": "group", "group": "Team", "path": "canary.md", "content": "canary"}
            check.equal("a file of the group", call("ada", "shed_create_file", **shared).status, 200)

            # Who is no administrator is shown none of it.
            window.open(f"{server.url}/")
            page.write("textbox", "Personal token", told("token", "create", "--user", "ada"))
            page.click("button", "Sign in")
            page.see("link", "Documents")
            check.equal("no way there", page.count("link", "Administration"), 0)
            page.click("button", "Sign out")

            page.see("textbox", "Personal token")
            window.open(f"{server.url}/admin")
            page.write("textbox", "Personal token", told("token", "create", "--user", "keeper", "--scope", "admin"))
            page.click("button", "Sign in")
            page.see("button", "Suspend: bob")
            page.see("rowheader", "Team team")
            for scheme in ("dark", "light"):
                feature = {"name": "prefers-color-scheme", "value": scheme}
                window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
                for name, sign in (
                    ("Running", "Refresh"), ("Links", "End: Download, bob"), ("Locks", "Release: Documents, bob"),
                    ("Server", "Refresh"), ("Users and groups", "Suspend: bob"),
                ):
                    page.click("button", name)
                    page.see("button", sign)
                    _clean(world, axe, f"administration, {name}, {scheme}")
                    shown = world.script("return document.body.innerText")
                    check.that(f"no name of a file: {name}", "canary" not in shown, shown)
            world.picture("admin", 520)

            page.click("button", "Suspend: bob")
            page.see("dialog", "Suspend bob?")
            _clean(world, axe, "a suspension")
            page.click("button", "Suspend")
            page.see("button", "End suspension: bob")
            check.equal("he does nothing", call("bob", "shed_stats").status, 403)
            page.click("button", "End suspension: bob")
            page.see("button", "Suspend: bob")
            check.equal("he goes on", call("bob", "shed_stats").status, 200)

            page.click("button", "Quota: bob")
            page.write("spinbutton", "Space in MiB", "7")
            page.click("button", "Save")
            page.gone("dialog")
            check.until(
                "it counts",
                lambda: call("bob", "shed_stats").json()["data"]["total"]["quota_mb"] == 7,
            )

            page.click("button", "Locks")
            page.click("button", "Release: Documents, bob")
            page.gone("button", "Release: Documents, bob")
            page.click("button", "Links")
            page.click("button", "End: Download, ada")
            page.gone("button", "End: Download, ada")

            page.click("button", "Users and groups")
            page.click("button", "Delete: bob")
            page.see("dialog", "Remove bob for good?")
            check.equal("not yet", page.state("button", "Delete", "disabled"), True)
            page.write("textbox", "Type bob to confirm", "bob")
            _clean(world, axe, "a deletion")
            page.click("button", "Delete")
            page.gone("button", "Delete: bob")
            page.see("button", "Delete: ada")

            window.resize(390, 844)
            try:
                check.that(
                    "nothing is wider than the screen",
                    world.script("return document.documentElement.scrollWidth <= innerWidth"),
                )
                page.see("button", "Delete: ada")
                world.picture("admin-phone")
            finally:
                window.resize(1280, 800)
            window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def bin(world: World) -> None:
    """What is deleted in the storage comes back: at once, or out of the bin."""
    page, window = world.page, world.window
    axe = npm.package(AXE, fileshed.target() / "e2e").modules / "axe-core" / "axe.min.js"
    settings = {"FILESHED_API_KEYS": "", "FILESHED_LOG_LEVEL": "warn", "FILESHED_BIN_DAYS": "30"}
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        with fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server:
            here = World(server, window, world.pictures)
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
            page.click("link", "Bin")
            page.see("button", "Restore: c.txt")
            _clean(here, axe, "the bin")
            while page.count("button", "Close"):
                page.click("button", "Close")
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
            window.open("about:blank")


def firefox(world: World) -> None:
    """The page works in Firefox: what a person does first."""
    missing = firefoxes.missing()
    if missing:
        raise install.Missing(f"there is no {missing}")
    settings = {"FILESHED_LOG_LEVEL": "warn", "FILESHED_BIN_DAYS": "30"}
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        home = Path(directory)
        with fileshed.Fileshed(fileshed.binary(), home, settings) as server, firefoxes.Firefox(home) as page:
            token = server.run("token", "create", "--user", "ada").stdout.strip()

            def content(path: str) -> bytes | None:
                place = urlencode({"zone": "documents", "path": path})
                answer = web.request("GET", f"{server.url}/files/content?{place}", token=token)
                return answer.body if answer.status == 200 else None

            page.open(f"{server.url}/")
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
            shown = "return document.querySelector('dialog').innerText.includes('A heading')"
            check.until("it is shown", lambda: page.script(shown))
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
            said = "return document.querySelector('.version').textContent"
            check.until("it says who", lambda: "by you on the page" in page.script(said))
            page.click("button", "Close")
            page.gone("dialog")

            page.click("button", "More actions: second.md")
            page.click("menuitem", "Delete")
            page.gone("checkbox", "Select second.md")
            check.equal("it is gone", content("second.md"), None)
            page.click("button", "Undo")
            page.see("checkbox", "Select second.md")
            check.equal("it is back", content("second.md"), b"# A heading")


def attacks(world: World) -> None:
    """Nothing of a file runs in the page, whatever it and its name hold."""
    for name, content in ATTACKS.items():
        world.store("storage", f"attack/{name}", content)
    # No operation makes such a name, but an administrator's copy may bring it.
    named = f"<img src=x onerror={CANARY}>.txt"
    zone = world.server.directory / "data" / "shared" / "Storage" / "data"
    (zone / "attack" / named).write_bytes(b"only a name")
    page = world.page
    for name in (named, *ATTACKS):
        world.open(f"storage/attack?{urlencode({'open': name})}")
        page.see("dialog", name)
        check.until("it is shown", lambda: page.count("status", "Loading") == 0)
        # What would run, runs once everything has loaded.
        check.until("all has loaded", lambda: world.script("return document.readyState") == "complete")
        time.sleep(0.3)
        check.equal(f"{name} runs nothing", world.script("return window.canary ?? null"), None)
    world.window.open(f"{world.server.url}/#/storage/attack?search=%3Cimg%20src%3Dx%20onerror%3D{CANARY}%3E")
    page.see("heading")
    check.equal("nor what is looked for", world.script("return window.canary ?? null"), None)
    world.window.open(f"{world.server.url}/files/content?zone=storage&path=attack/attack.html&inline=true")
    check.equal("nor at its own address", world.script("return window.canary ?? null"), None)


def many(world: World) -> None:
    """Ten thousand entries are a list like another."""
    page = world.page
    names = " ".join(f"f{number:05}.txt" for number in range(10_000)).split()
    for first in range(0, len(names), 2500):
        some = [f"many/{name}" for name in names[first : first + 2500]]
        if first == 0:
            world.call("shed_exec", zone="storage", cmd="mkdir", args=["many"])
        world.call("shed_exec", zone="storage", cmd="touch", args=some)
    begun = time.monotonic()
    world.open("storage/many")
    world.row("f00000.txt")
    shown = time.monotonic() - begun
    check.equal("all are counted", world.script("return document.querySelector('[role=grid]').ariaRowCount"), "10001")
    check.that("few are in the page", page.count("row") < 100)
    page.focus("grid", "Files")
    page.keys("END")
    world.row("f09999.txt")
    frames = world.window.run("""
        const done = arguments[0], list = document.querySelector("[role=grid]"), times = [];
        let place = 0, last = performance.now();
        requestAnimationFrame(function step(now) {
            times.push(now - last);
            last = now;
            list.scrollTop = place += 900;
            times.length < 120 ? requestAnimationFrame(step) : done(times.slice(1).sort((a, b) => a - b));
        });
    """)
    print(f"10000 entries: shown after {shown:.2f} s; a frame takes {frames[len(frames) // 2]:.0f} ms, the slowest of twenty {frames[-6]:.0f} ms")
    check.that("it scrolls smoothly", frames[len(frames) // 2] < 34, frames)


def shown(world: World) -> None:
    """What a place looks like that has been used for a while."""
    world.store("storage", "Project/Reports/2026.md", b"# 2026\n")
    world.store("storage", "Project/Photos/one.jpg", b"x")
    for name, size in (("Budget 2026.csv", 1200), ("Contract.pdf", 182_000), ("analysis.py", 3400), ("customers.sqlite", 90_000),
                       ("Interview.mp3", 2_400_000), ("Offer.docx", 24_000), ("Plan.md", 2100), ("site.zip", 480_000)):
        world.store("storage", f"Project/{name}", bytes(size))
    world.open("storage/Project")
    world.row("site.zip")
    world.picture("people")
    world.choose("Contract.pdf", "Plan.md")
    check.equal("both are chosen", _selected(world), ["Contract.pdf", "Plan.md"])
    world.picture("people-selection")


def phone(world: World) -> None:
    """Everything is there on a small screen."""
    world.window.resize(390, 844)
    try:
        page = world.page
        world.store("documents", "small/a file with quite a long name that does not fit.txt", b"x")
        world.open("documents/small")
        check.that(
            "nothing is wider than the screen",
            world.script("return document.documentElement.scrollWidth <= innerWidth"),
        )
        page.click("button", "Menu")
        page.click("link", "Storage")
        check.until("it shows the place", lambda: "storage" in world.script("return location.hash"))
        page.gone("navigation", "Places")
        page.click("button", "New folder")
        page.write("textbox", "Name", "From a phone")
        page.click("button", "Create")
        world.row("From a phone")
        world.open("documents/small")
        world.picture("phone")
    finally:
        world.window.resize(1280, 800)


def german(world: World) -> None:
    """The language is the browser's."""
    driver = world.window.driver
    driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {
        "userAgent": driver.execute_script("return navigator.userAgent"), "acceptLanguage": "de-DE,de",
    })
    try:
        _written_in_chat(world, "plan.md", "text\n")
        world.window.open("about:blank")
        world.window.open(f"{world.server.url}/#/documents")
        world.page.see("button", "Neuer Ordner")
        check.equal("it says so", world.script("return document.documentElement.lang"), "de")
        world.page.click("button", "Weitere Aktionen: plan.md")
        world.page.click("menuitem", "Verlauf")
        check.until("the history is, too", lambda: _ways(world)[:1] == ["durch das Modell, Chat chat-77"])
    finally:
        driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {
            "userAgent": driver.execute_script("return navigator.userAgent"), "acceptLanguage": "en-US,en",
        })


def contrast(world: World) -> None:
    """axe-core finds nothing, in light and dark."""
    axe = npm.package(AXE, fileshed.target() / "e2e").modules / "axe-core" / "axe.min.js"
    world.store("documents", "axe/page.md", b"# A title\n\ntext\n")
    world.store("documents", "axe/code.py", b"print(1)  # one\n")
    world.store("documents", "axe/table.csv", b"a,b\n1,2\n")
    page = world.page
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        world.window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        for where in ("documents/axe", "uploads", "documents/axe?open=page.md", "documents/axe?open=code.py", "documents/axe?open=table.csv", "documents?search=title", "links"):
            world.window.open("about:blank")
            world.window.open(f"{world.server.url}/#/{where}")
            page.see("dialog") if "open=" in where else page.see("navigation", "Places")
            _clean(world, axe, f"{where}, {scheme}")
        world.open("documents/axe")
        world.choose("page.md")
        _clean(world, axe, f"selection, {scheme}")
        page.click("button", "Move or copy")
        page.see("dialog")
        _clean(world, axe, f"a dialog, {scheme}")
        page.click("button", "Cancel")
        page.click("button", "History")
        page.see("textbox", "axe/page.md (2)")
        _clean(world, axe, f"the history, {scheme}")
        page.click("button", "Close")
        world.open("documents/axe")
        page.click("button", "More actions: code.py")
        page.see("menu")
        _clean(world, axe, f"a menu, {scheme}")


def _clean(world: World, axe: Path, where: str) -> None:
    # Pictures that move have no colours of their own yet.
    check.until("it has loaded", lambda: not world.script("return document.querySelector('.spinner')"))
    world.script(axe.read_text())
    found = world.window.run(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations.map(({ id, nodes }) => "
        "`${id}: ${nodes.map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary).join(' | ')}`)));"
    )
    check.equal(f"axe finds nothing: {where}", found, [])


def quick(world: World) -> None:
    """Something is to be seen at once, and little is loaded for it."""
    world.open("documents")
    paints = []
    for _ in range(5):
        world.window.open("about:blank")
        world.window.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        world.window.open(f"{world.server.url}/#/documents")
        paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        paints.append(check.until("something is painted", lambda: world.script(paint)))
    # Others may use the machine meanwhile: it is told, and fails nothing.
    print(f"first contentful paint: {sorted(paints)[2]:.0f} ms, {FIRST_PAINT} are the aim")
    world.page.see("grid")
    names = world.script("return performance.getEntriesByType('resource').map((one) => one.name)")
    at_first = sum(_packed(name) for name in {name for name in names if "/page/assets/" in name})
    print(f"before the list shows: {at_first} bytes")
    check.that("little is loaded for the list", at_first < ASSETS_AT_FIRST, at_first)
    version = next(name for name in names if "/page/assets/" in name).split("/page/assets/")[1].split("/")[0]
    total = 0
    web_directory = fileshed.REPOSITORY / "src" / "http" / "page" / "web"
    for file in sorted(web_directory.rglob("*.*")):
        if file.name in ("index.html", "licences.txt"):
            continue
        name = file.relative_to(web_directory)
        address = f"{world.server.url}/page/assets/{version}/{name}"
        total += _packed(address)
    print(f"all assets: {total} bytes")
    check.that("they are small", total < ASSETS, total)


def _packed(address: str) -> int:
    """Bytes of something that the page loads, as they are sent."""
    answer = web.request("GET", address, headers={"Accept-Encoding": "gzip"})
    check.equal(f"{address} is there", answer.status, 200)
    return len(answer.body)


SCENARIOS: dict[str, Callable[[World], None]] = {
    scenario.__name__: scenario
    for scenario in (
        files, keyboard, upload, resumable, download, preview, edit, history, search, links, together, tokens, bin, admin, attacks, many, shown, phone, german, contrast, quick, firefox,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="people.py", description="Use the page as a person does.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--pictures", metavar="DIRECTORY", type=Path, help="keep pictures of the page (PNG) there")
    arguments = parser.parse_args()
    missing = browser.missing()
    if missing:
        print(f"SKIP: the page: there is no {missing}")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fileshed-people-") as directory:
        downloads = Path(directory) / "downloads"
        downloads.mkdir()
        # Nobody is asked who they are: one person on their own machine.
        settings = {"FILESHED_API_KEYS": "", "FILESHED_LOG_LEVEL": "warn"}
        with (
            fileshed.Fileshed(fileshed.binary(), Path(directory), settings) as server,
            browser.Browser(downloads) as window,
        ):
            window.resize(1280, 800)
            world = World(server, window, arguments.pictures)
            for name in arguments.scenarios or SCENARIOS:
                failed += not _holds(world, name)
    return 1 if failed else 0


def _holds(world: World, name: str) -> bool:
    begun = time.monotonic()
    try:
        SCENARIOS[name](world)
    except install.Missing as missing:
        print(f"SKIP: the page, {name}: {missing}", flush=True)
        return True
    except Exception as failure:
        print(f"FAILED the page: {name}", flush=True)
        print(failure if isinstance(failure, check.Failed) else traceback.format_exc(), flush=True)
        return False
    print(f"ok     the page: {name} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())

"""Files on their way in and out."""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
import zipfile
from pathlib import Path

from harness import check, fileshed, proxy
from people.world import World

#: Bytes of an upload that is cut off, and how many of it pass in a second.
LARGE = 1024 * 1024 * 1024
RATE = 40 * 1024 * 1024

#: Bytes of a file that the page sends in pieces.
IN_PIECES = 33 * 1024 * 1024


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
    world.drop("dropped.txt", b"dropped")
    check.equal("what was dropped", world.content("documents", "dropped.txt"), b"dropped")


def folders(world: World) -> None:
    """A folder is sent with everything in it: chosen by button, and dropped."""
    page = world.page
    with tempfile.TemporaryDirectory() as directory:
        for name in ("Chosen", "Dropped"):
            for path in ("a.txt", "deep/b.txt", "deep/er/c.txt"):
                file = Path(directory) / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{name}/{path}")
        # With little in it: the middle of a longer list would be another folder.
        world.store("storage", "sent/first.txt", b"first")
        world.open("storage/sent")
        page.click("button", "More actions")
        page.choose_files("menuitem", "Upload folder", [Path(directory) / "Chosen"])
        world.row("Chosen")
        page.drop("main", None, [Path(directory) / "Dropped"])
        world.row("Dropped")
        for name in ("Chosen", "Dropped"):
            for path in ("a.txt", "deep/b.txt", "deep/er/c.txt"):
                whole = f"{name}/{path}"
                check.until(f"{whole} is there", lambda: world.content("storage", f"sent/{whole}") == whole.encode())


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
        return text in page.text("region", "Transfers")

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
    world.clean("transfers")
    world.picture("paused")
    before = arrived()
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

    unusual = sent.with_name("who?.bin")
    unusual.write_bytes(bytes(IN_PIECES))
    page.choose_files("button", "Upload files", [unusual])
    renamed = "“who?.bin” was renamed to “who_.bin”"
    check.until("the page tells its other name", lambda: renamed in world.told_by_page())


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

"""The browser of files beside the chat: a person makes, brings, edits, looks at and removes files."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from harness import check
from harness.browser import Browser, log_in, send
from harness.panel import Panel, usable
from harness.world import World

#: A white dot.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415478da63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
)

#: Where a list ends up.
PLANETS = "/storage/work/planets.md"

PAGE = b"BT /F1 24 Tf 20 40 Td (Hello) Tj ET"

#: One page with one word.
PAPER = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R"
    b"/Resources<</Font<</F1 5 0 R>>>>>>endobj 4 0 obj<</Length 35>>stream\n" + PAGE + b"\nendstream endobj "
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)


def run(world: World) -> None:
    if not usable(world):
        return
    for auth in ("bearer", "session"):
        with world.computer(auth), tempfile.TemporaryDirectory(dir=world.directory) as name:
            _prove(world, Path(name))


def _prove(world: World, directory: Path) -> None:
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.ada)
        panel = Panel(browser)
        panel.choose("Computer")
        _make(panel)
        _bring(panel, directory)
        edit(browser, panel)
        _look(browser, panel)
        _keep(browser, panel)
        _attach(world, browser)
        _zones(world, browser, panel)
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.bob)
        panel = Panel(browser)
        panel.choose("Computer")
        panel.make_folder("of bob")
        check.that("another user sees none of it", not panel.has("work"), "work")


def _make(panel: Panel) -> None:
    panel.make_folder("work")
    panel.open("work")
    check.until("the folder is empty", lambda: not panel.has("work"))


def _bring(panel: Panel, directory: Path) -> None:
    files = {"dot.png": PICTURE, "paper.pdf": PAPER, "readme.md": b"# Planets\n\n- Mars\n"}
    for name, content in files.items():
        (directory / name).write_bytes(content)
    panel.upload(*[directory / name for name in files])
    for name in files:
        panel.row(name)
    panel.drop("dropped.txt", "fell from above\n")
    panel.row("dropped.txt")


def edit(browser: Browser, panel: Panel) -> None:
    """Edits `dropped.txt` of the folder `work`, and downloads it as it is then."""
    panel.open("dropped.txt")
    panel.append("and was edited")
    panel.go("work")
    panel.act_on("dropped.txt", "Download")
    content = browser.downloaded("dropped.txt").decode()
    check.equal("the edit is kept", content, "fell from above\nand was edited")


def _look(browser: Browser, panel: Panel) -> None:
    for name, selector, text in [
        ("dot.png", "img[alt='dot.png']", ""),
        ("paper.pdf", "canvas", ""),
        ("readme.md", "h1", "Planets"),
    ]:
        panel.open(name)
        browser.see(f"[aria-label='File browser'] {selector}", text)
        panel.go("work")
        panel.row("readme.md")


def _keep(browser: Browser, panel: Panel) -> None:
    panel.rename("readme.md", "planets.md")
    panel.gone("readme.md")
    panel.act("Download")
    with zipfile.ZipFile(io.BytesIO(browser.downloaded("work.zip"))) as archive:
        names = sorted(name.rpartition("/")[2] for name in archive.namelist() if not name.endswith("/"))
    check.equal("all of it is packed", names, ["dot.png", "dropped.txt", "paper.pdf", "planets.md"])
    panel.delete("dropped.txt")
    panel.row("planets.md")


def _attach(world: World, browser: Browser) -> None:
    """A file that is there already, to a message."""
    question = "Which planets are these?"
    script = world.model.script(question, [[("read_file", {"path": PLANETS})]], "There is only Mars.")
    browser.write("#chat-input", "@planets")
    browser.see("button.selected-command-option-button", "planets.md")
    browser.press("#chat-input", "ENTER")
    check.until("the file is attached", lambda: "planets" not in browser.see("#chat-input").text)
    send(browser, question)
    browser.see("p", "There is only Mars.")
    check.that("the model is told where it is", PLANETS in script.prompt(), script.prompt())


def _zones(world: World, browser: Browser, panel: Panel) -> None:
    """The folders at the top are everybody's, and nobody changes them; two of them take files."""
    panel.go("/")
    for zone in ("documents", "groups", "logs", "storage", "uploads"):
        takes_files = zone in ("documents", "storage")
        check.equal(f"{zone} takes files", "Read-only" not in panel.row(zone).text, takes_files)
    check.that("nothing can be made there", not panel.can("New Folder"), "/")
    world.picture(browser, "files")
    panel.open("documents")
    check.until("a zone can be written", lambda: panel.can("New Folder"))
    panel.make_folder("notes")

"""The file browser beside the chat shows a page with its picture and style, and an archive; and a rename by
the Enter key, which the page sends twice, shows no error."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from harness import check
from harness.browser import Browser, log_in
from harness.panel import Panel, usable
from harness.world import World
from scenarios.terminal_files import PICTURE

#: Its script says what there is of the picture and of the style.
PAGE = (
    "<!doctype html><meta charset=utf-8><link rel=stylesheet href='stil%20ü.css'>"
    "<img src='点.png'><p id=p>Größe</p><script src='titel.js'></script>"
)

FILES = {
    "Übersicht.html": PAGE.encode(),
    "stil ü.css": b"#p { text-transform: uppercase }",
    "titel.js": b"onload = () => p.append(' ' + document.images[0].naturalWidth)",
}

#: Names in an archive.
PACKED = ["Übersicht März.csv", "報告書 2026年.md", "ガイド.txt"]


def run(world: World) -> None:
    if not usable(world):
        return
    with world.computer("session"), tempfile.TemporaryDirectory(dir=world.directory) as name:
        directory = Path(name)
        with Browser(directory) as browser:
            log_in(browser, world.webui, world.webui.ada)
            panel = Panel(browser)
            panel.choose("Computer")
            panel.make_folder("Ordner ß")
            panel.open("Ordner ß")
            check.until("the folder is empty", lambda: not panel.has("Ordner ß"))
            _bring(panel, directory)
            _page(world, browser, panel)
            _archive(browser, panel)
            _rename(browser, panel)


def _bring(panel: Panel, directory: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in PACKED:
            archive.writestr(name, "x")
    files = {**FILES, "点.png": PICTURE, "Ablage ü.zip": packed.getvalue()}
    for name, content in files.items():
        (directory / name).write_bytes(content)
    panel.upload(*[directory / name for name in files])
    for name in files:
        panel.row(name)


def _page(world: World, browser: Browser, panel: Panel) -> None:
    panel.open("Übersicht.html")
    frame = "iframe[title='HTML Preview']"
    check.until("the page has all of it", lambda: browser.within(frame, "#p") == "GRÖSSE 1")
    world.picture(browser, "page-preview")
    panel.go("Ordner ß")


def _archive(browser: Browser, panel: Panel) -> None:
    panel.open("Ablage ü.zip")
    for name in PACKED:
        browser.see("[aria-label='File browser']", name)
    panel.go("Ordner ß")


def _rename(browser: Browser, panel: Panel) -> None:
    panel.rename("titel.js", "題.js")
    browser.see("[data-sonner-toast]", "題.js")
    browser.idle()
    check.equal("no rename fails", browser.count("[data-sonner-toast][data-type=error]"), 0)

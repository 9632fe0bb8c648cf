"""The shell below the files, and the commands that the model leaves running."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from harness import check
from harness.browser import Browser, log_in, send
from harness.panel import Panel, usable
from harness.world import World

START = "Run the import in the background."

STOP = "Stop it, please."

COMMAND = "echo 0 of 1000 rows; sleep 1000"


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
        _commands(world, browser, panel)
        _shell(world, browser, panel)
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.bob)
        panel = Panel(browser)
        panel.choose("Computer")
        panel.open_shell()
        panel.type("echo of-$((6 * 7))$kept; ls")
        panel.shows("of-42")
        seen = panel.screen()
        check.that("another user has a shell of their own", "one.txt" not in seen, seen)
        check.equal("and sees no process", browser.count("[role=tab]", "sleep"), 0)


def _commands(world: World, browser: Browser, panel: Panel) -> None:
    """One that goes on after the answer is seen beside the chat, and seen to end. The client itself
    offers no way to end it, so the model does."""
    started = world.model.script(START, [[("run_command", {"command": COMMAND})]], "It runs. You see what it writes below the files.")
    send(browser, START)
    browser.see("p", "It runs.")
    identifier = json.loads(started.results[0])["id"]
    browser.click("button[title='Expand terminal']")
    browser.click(f"button[title='{COMMAND} (Running)']")
    panel.shows("0 of 1000 rows")
    world.model.script(STOP, [[("kill_process", {"process_id": identifier})]], "It is stopped.")
    send(browser, STOP)
    browser.see("p", "It is stopped.")
    browser.see("button[title^='echo 0'][title*='(Exit']")
    browser.click("button[title=Shell]")


def _shell(world: World, browser: Browser, panel: Panel) -> None:
    panel.make_folder("work")
    panel.drop("one.txt", "1\n")
    panel.row("one.txt")
    panel.type("ls | wc -l; kept=before")
    panel.shows("\n2")
    browser.reload()
    panel.row("one.txt")
    panel.open_shell()
    panel.type("echo $kept-and-after")
    panel.shows("before-and-after")
    world.picture(browser, "shell")
    panel.type("echo 2 > two.txt; echo is-$((6 * 7))")
    panel.shows("is-42")
    panel.refresh()
    panel.row("two.txt")

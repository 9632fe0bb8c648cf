"""Files that are attached to messages: the model finds them in the uploads of its chat, and nobody
else does. What the home tells the model reaches it, too."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

from harness import check
from harness.browser import Browser, attach, log_in
from harness.model import Script, text_of
from harness.panel import Panel, choose_terminal, usable
from harness.world import World

ADVICE = "Answer in verse."

UPLOADS = {"directory": "/uploads"}


def run(world: World) -> None:
    if not usable(world):
        return
    # With a session fileshed asks Open WebUI what a chat has; with a key it asks nobody.
    for auth in ("session", "bearer"):
        with world.computer(auth), tempfile.TemporaryDirectory(dir=world.directory) as name:
            _prove(world, Path(name), auth)


def _prove(world: World, directory: Path, auth: str) -> None:
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.ada)
        panel = Panel(browser)
        panel.choose("Computer")
        panel.drop("AGENTS.md", ADVICE)
        panel.row("AGENTS.md")
        first = _chat(world, browser, directory, f"{auth} beside the files")
        check.that("they are not beside what is dropped", not panel.has(first[0]), first)
        panel.go("/")
        panel.open("uploads")
        panel.row(first[0])
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.ada)
        # Too narrow for the panel of files, so the page has never shown a directory.
        browser.resize(1000, 800)
        choose_terminal(browser, "Computer")
        second = _chat(world, browser, directory, f"{auth} without the files")
    check.that("two new chats are not mixed", set(first).isdisjoint(second), (first, second))
    with Browser(directory) as browser:
        log_in(browser, world.webui, world.webui.bob)
        panel = Panel(browser)
        panel.choose("Computer")
        panel.drop("own.txt", "of bob")
        panel.row("own.txt")
        third = _chat(world, browser, directory, f"{auth} of another user", advice="")
        check.that("nor two users", set(third).isdisjoint(first + second), third)


def _chat(world: World, browser: Browser, directory: Path, subject: str, advice: str = ADVICE) -> list[str]:
    """A new chat with a file at its first message and another at its second; the uploads that the
    model sees at last."""
    names = [f"{subject} {number}.txt" for number in (1, 2)]
    for name in names:
        (directory / name).write_text(f"content of {name}\n")
        look = [("read_file", {"path": f"/uploads/{name}"}), ("list_files", UPLOADS)]
        script = world.model.script(f"What is in {name}?", [look], f"I read {name}.")
        attach(browser, f"What is in {name}?", [directory / name])
        browser.see("p", f"I read {name}.")
        check.that("the model reads it", f"content of {name}" in script.results[0], script.results)
        check.that("the message says where it is", f"/uploads/{name}" in script.prompt(), script.prompt())
        check.equal("the model has the advice of the home", _is_advised(script), bool(advice))
    entries = json.loads(script.results[1])["entries"]
    seen = [entry["name"] for entry in csv.DictReader(entries.splitlines())]
    check.equal("both are in this chat", sorted(seen), names)
    return seen


def _is_advised(script: Script) -> bool:
    return any(ADVICE in text_of(message) for message in script.requests[0]["messages"])

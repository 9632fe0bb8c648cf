"""A user adds fileshed to their own settings: their browser calls it, as far as the site is listed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness import check
from harness.browser import Browser, choose_tool, log_in, missing, send
from harness.fileshed import Fileshed
from harness.world import World

QUESTION = "Keep a note for me."

#: Reads as the page would: whatever comes back, or that nothing may.
READ = """
const [address, token, done] = arguments;
fetch(address, {method: "POST", headers: {"Authorization": `Bearer ${token}`, "Content-Type": "application/json"},
    body: "{}"}).then((answer) => done(answer.status), () => done("kept away"));
"""


def run(world: World) -> None:
    if missing():
        print(f"SKIP: Open WebUI {world.version.number}: the page needs {missing()}", flush=True)
        return
    world.webui.connect()
    url = {"openwebui_api_url": world.webui.url, "api_keys": ""}
    with tempfile.TemporaryDirectory(dir=world.directory) as downloads, Browser(Path(downloads)) as browser:
        with world.fileshed(**url, cors_origins=world.webui.url) as listed:
            _add(world, listed)
            world.model.script(QUESTION, [[_note()]], lambda _results: "It is kept.")
            log_in(browser, world.webui, world.webui.ada)
            choose_tool(browser, "fileshed")
            send(browser, QUESTION)
            browser.see("p", "It is kept.")
            token = world.webui.ada.token
            kept = listed.call("shed_exec", {"zone": "storage", "cmd": "cat", "args": ["note.md"]}, token)
            check.equal("the browser made the note", kept.json()["data"]["stdout"], "milk\n")
            check.equal("the page reads", browser.run(READ, f"{listed.url}/shed_stats", token), 200)
            browser.open(f"{world.model.url}/models")
            elsewhere = browser.run(READ, f"{listed.url}/shed_stats", token)
            check.equal("another site does not", elsewhere, "kept away")
        with world.fileshed(**url) as unlisted:
            browser.open(world.webui.url)
            reads = browser.run(READ, f"{unlisted.url}/shed_stats", token)
            check.equal("nor does any where none is listed", reads, "kept away")
    _add(world)


def _add(world: World, *servers: Fileshed) -> None:
    """Saves these servers as the form in the user's own settings does."""
    connections = [server.connection("session") for server in servers]
    settings = {"ui": {"toolServers": connections}}
    world.webui.ask("POST", "/api/v1/users/user/settings/update", world.webui.ada.token, document=settings)


def _note() -> tuple[str, dict]:
    return "shed_create_file", {"zone": "storage", "path": "note.md", "content": "milk\n"}

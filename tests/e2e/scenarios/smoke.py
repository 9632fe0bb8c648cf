"""A little of everything, with one server and one browser: registration, a chat with tool calls, the files
beside it and the shell below them."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from harness.browser import Browser, log_in, missing
from harness.panel import Panel
from harness.world import World
from scenarios import page
from scenarios.terminal_files import edit


def run(world: World) -> None:
    lacking = missing()
    if lacking:
        print(f"SKIP: Open WebUI {world.version.number}: the page needs {lacking}", flush=True)
        return
    key = secrets.token_hex(16)
    # The connection is made by `fileshed openwebui register`.
    registered = world.connected("session", openwebui_api_url=world.webui.url, terminal_api_keys=key)
    with registered as server, tempfile.TemporaryDirectory(dir=world.directory) as downloads:
        if world.version.has_terminals:
            world.webui.connect_terminals(server.terminal("bearer", key))
        try:
            with Browser(Path(downloads)) as browser:
                log_in(browser, world.webui, world.webui.ada)
                page.converse(world, browser)
                if world.version.has_terminals:
                    panel = Panel(browser)
                    panel.choose("Computer")
                    _files(browser, panel)
                    _shell(panel)
        finally:
            if world.version.has_terminals:
                world.webui.connect_terminals()


def _files(browser: Browser, panel: Panel) -> None:
    """The table that the model made is there, and a person brings and edits a file beside it."""
    panel.go("/")
    panel.open("documents")
    panel.row("planets.csv")
    panel.make_folder("work")
    panel.open("work")
    panel.gone("planets.csv")
    panel.drop("dropped.txt", "fell from above\n")
    edit(browser, panel)


def _shell(panel: Panel) -> None:
    panel.open_shell()
    panel.type("ls /documents; echo is-$((6 * 7))")
    panel.shows("is-42")
    panel.shows("planets.csv")

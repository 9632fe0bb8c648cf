"""A person at the real page: logs in, chooses the tool, asks, and has the file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from harness import check
from harness.browser import Browser, choose_tool, log_in, missing, send
from harness.world import World

QUESTION = "Make a table of the planets and their moons, and give me the file."

PLANETS = [("Mercury", 0), ("Venus", 0), ("Earth", 1), ("Mars", 2), ("Jupiter", 97)]
PLANETS += [("Saturn", 274), ("Uranus", 28), ("Neptune", 16)]

TABLE = "planet,moons\n" + "".join(f"{planet},{moons}\n" for planet, moons in PLANETS)


def run(world: World) -> None:
    lacking = missing()
    if lacking:
        print(f"SKIP: Open WebUI {world.version.number}: the page needs {lacking}", flush=True)
        return
    session = world.connected("session", openwebui_api_url=world.webui.url)
    with session, tempfile.TemporaryDirectory(dir=world.directory) as downloads:
        with Browser(Path(downloads)) as browser:
            log_in(browser, world.webui, world.webui.ada)
            converse(world, browser)
            world.picture(browser, "page")
            # The file hangs on the answer, too.
            browser.click("button", "planets.csv")
            browser.click("[role=dialog] a, .modal a", "planets.csv")
            check.equal("so does the attachment", browser.downloaded("planets.csv").decode(), TABLE)


def converse(world: World, browser: Browser) -> None:
    """Asks for a table with the tool chosen, and opens the link to it."""
    tell(world)
    choose_tool(browser, "fileshed")
    send(browser, QUESTION)
    browser.see("td", "Saturn")
    browser.click("a", "planets.csv")
    check.equal("the link gives the file", browser.downloaded("planets.csv").decode(), TABLE)


def tell(world: World) -> None:
    """Gives the model its part."""
    world.model.script(QUESTION, [[_create()], [_sort()], [_link()]], _answer)


def _create() -> tuple[str, dict]:
    return "shed_create_file", {"zone": "documents", "path": "planets.csv", "content": TABLE}


def _sort() -> tuple[str, dict]:
    sort = {"cmd": "sort", "args": ["-t", ",", "-k", "2", "-n", "-r", "planets.csv"]}
    return "shed_exec", {"zone": "documents", **sort}


def _link() -> tuple[str, dict]:
    return "shed_link_create", {"zone": "documents", "path": "planets.csv"}


def _answer(results: list[str]) -> str:
    """Returns the answer that a model would give from the results."""
    rows = json.loads(results[1])["data"]["stdout"].splitlines()[:5]
    table = "\n".join(f"| {' | '.join(row.split(','))} |" for row in rows)
    link = json.loads(results[2])["data"]["clickable_link"]
    return (
        f"I have saved all eight planets in {link}. These have the most moons:\n\n"
        f"| Planet | Moons |\n| --- | --- |\n{table}\n\n"
        "The file stays in your documents, so you can ask me to change it at any time."
    )

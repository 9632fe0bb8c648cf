"""The view of a picture, a page, a file that is linked twice, and files that came."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

from harness import check, web
from harness.browser import Browser, choose_tool, log_in, missing, send
from harness.world import World
from scenarios.page_attachment import PICTURE

SESSION = "Draw a dot, make a page of it, and give me the table."
GATEWAY = "Draw a dot, make a page of it, and let me send you files."

#: Its script runs where the page is shown.
PAGE = "<!doctype html><title>Page</title><p id=p>asleep</p><script>p.textContent = 'awake'</script>"

STORAGE = {"zone": "storage"}


def run(world: World) -> None:
    lacking = missing()
    if lacking:
        print(f"SKIP: Open WebUI {world.version.number}: the page needs {lacking}", flush=True)
        return
    url = {"openwebui_api_url": world.webui.url}
    with tempfile.TemporaryDirectory(dir=world.directory) as name, Browser(Path(name)) as browser:
        log_in(browser, world.webui, world.webui.ada)
        with world.connected("session", **url):
            _with_a_session(world, browser)
        with world.connected(**url, openwebui_admin_key=world.webui.admin.key):
            _through_a_gateway(world, browser)


def _with_a_session(world: World, browser: Browser) -> None:
    table = ("shed_create_file", {**STORAGE, "path": "table.csv", "content": "Größe,年\n"})
    turns = [*_made(), [table], [_link("table.csv")], [_link("table.csv")]]
    world.model.script(SESSION, turns, "Here they are.")
    _ask(browser, world, SESSION, "Here they are.")
    browser.see("button", "table.csv")
    check.equal("one file shows once", browser.count("button", "table.csv"), 1)
    _sees_attached_picture(world, browser)
    _sees_page(browser)
    _sees_texts(browser)
    # As it is kept, too.
    browser.reload()
    browser.see("p", "Here they are.")
    check.equal("one file is kept once", browser.count("button", "table.csv"), 1)
    _sees_attached_picture(world, browser)
    _sees_page(browser)


def _through_a_gateway(world: World, browser: Browser) -> None:
    upload = [("shed_link_create", {"upload": True})]
    script = world.model.script(GATEWAY, [*_made(), upload], _pasted)
    _ask(browser, world, GATEWAY, "It is ready.")
    _sees_picture(browser)
    _sees_page(browser)
    data = [json.loads(result)["data"] for result in script.results]
    page, links = data[4], data[5]
    sent = web.request("POST", links["download_url"], file=("trip.csv", b"x", "text/csv"))
    check.equal("the file is taken", sent.status, 200)
    browser.see("div", "1 file came into uploads: trip.csv")
    browser.open(page["download_url"])
    browser.see("p", "awake")


def _made() -> list:
    """A picture and a page, and a link to each."""
    begin = {**STORAGE, "path": "dot.png", "content": "x"}
    dot = {**STORAGE, "path": "dot.png", "content": base64.b64encode(PICTURE).decode()}
    dot |= {"content_format": "base64", "position": "overwrite"}
    page = {**STORAGE, "path": "page.html", "content": PAGE}
    return [
        [("shed_create_file", begin)],
        [("shed_patch_bytes", dot)],
        [("shed_create_file", page)],
        [_link("dot.png")],
        [_link("page.html")],
    ]


def _link(path: str) -> tuple[str, dict]:
    return "shed_link_create", {**STORAGE, "path": path}


def _pasted(results: list[str]) -> str:
    """Returns the answer that a model would give from the results."""
    links = [json.loads(result)["data"]["clickable_link"] for result in results[3:]]
    return "It is ready.\n\n" + "\n\n".join(links)


def _ask(browser: Browser, world: World, question: str, answer: str) -> None:
    browser.open(world.webui.url)
    choose_tool(browser, "fileshed")
    send(browser, question)
    browser.see("p", answer)


def _sees_texts(browser: Browser) -> None:
    """Files open on their text, and hang in the order in which they were given."""
    buttons = "return [...document.querySelectorAll('button')].map((button) => button.innerText.trim().split('\\n')[0])"
    files = ("page.html", "table.csv")
    names = [name for name in browser.driver.execute_script(buttons) if name in files]
    check.equal("the files are in order", names, list(files))
    for name, text in [("table.csv", "Größe"), ("page.html", "asleep")]:
        browser.click("button", name)
        browser.see("[role=dialog], .modal", name)
        browser.see("[role=dialog], .modal", text)
        browser.press("body", "ESCAPE")
        check.until("the file closes", lambda: not browser.count("[role=dialog], .modal"))


def _sees_attached_picture(world: World, browser: Browser) -> None:
    if world.version.shows_pictures:
        _sees_picture(browser)
    else:
        print(f"SKIP: Open WebUI {world.version.number}: it does not show pictures that hang on an answer", flush=True)


def _sees_picture(browser: Browser) -> None:
    browser.see("img[alt='dot.png']")
    loaded = "arguments[0](document.querySelector(\"img[alt='dot.png']\").naturalWidth)"
    check.until("the picture is there", lambda: browser.run(loaded) == 1)


def _sees_page(browser: Browser) -> None:
    browser.see("[id$='-embeds-container'] iframe")
    check.until(
        "the page runs", lambda: browser.within("[id$='-embeds-container'] iframe", "#p") == "awake"
    )

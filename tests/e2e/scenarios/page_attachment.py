"""A person attaches a table and a picture in the real page, and the model has both."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from harness import check
from harness.browser import Browser, attach, choose_tool, log_in, missing
from harness.chat import Result
from harness.world import World

QUESTION = "Which of these cities is the largest?"

TABLE = b"city,people\nBern,134\nBasel,175\n"

#: A white dot.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415478da63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
)


def run(world: World) -> None:
    lacking = missing()
    if lacking:
        print(f"SKIP: Open WebUI {world.version.number}: the page needs {lacking}", flush=True)
        return
    everything = [("shed_import", {"import_all": True})]
    names = ["cities.csv", "dot.png"]
    read = [("shed_exec", {"zone": "uploads", "cmd": "sha256sum", "args": names})]
    script = world.model.script(QUESTION, [everything, read], "Basel, with 175 thousand people.")
    session = world.connected("session", openwebui_api_url=world.webui.url)
    with session, tempfile.TemporaryDirectory(dir=world.directory) as name:
        directory = Path(name)
        (directory / "cities.csv").write_bytes(TABLE)
        (directory / "dot.png").write_bytes(PICTURE)
        with Browser(directory) as browser:
            log_in(browser, world.webui, world.webui.ada)
            choose_tool(browser, "fileshed")
            attach(browser, QUESTION, [directory / name for name in names])
            browser.see("p", "Basel, with 175")
    imported, read_back = [Result(text).data for text in script.results]
    check.equal("both are imported", sorted(imported["imported"]), names)
    sums = [hashlib.sha256(content).hexdigest() for content in (TABLE, PICTURE)]
    check.equal("to the last bit", read_back["stdout"].split()[::2], sums)

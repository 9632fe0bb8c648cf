"""The steps of docs/openwebui.md beside an Open WebUI that is there, pasted as they stand."""

from __future__ import annotations

import re
import subprocess

from harness import check
from harness.chat import attachment
from harness.fileshed import REPOSITORY
from harness.process import LOOPBACK, Process, free_port
from harness.world import World

#: The addresses that the page takes for granted.
WEBUI, FILESHED = "http://localhost:3000", "http://localhost:8000"


def run(world: World) -> None:
    ada, bob, port = world.webui.ada, world.webui.bob, free_port()
    directory = world.directory / "guide"
    (directory / "bin").mkdir(parents=True)
    (directory / "bin" / "fileshed").symlink_to(world.program)
    paste = {WEBUI: world.webui.url, FILESHED: f"http://{LOOPBACK}:{port}", "sk-...": world.webui.admin.key}
    start, register, doctor = [_pasted(block, paste) for block in _blocks()]
    environment = {"PATH": f"{directory}/bin:/usr/bin:/bin", "FILESHED_BIND": f"{LOOPBACK}:{port}"}
    world.webui.connect()
    server = Process("guide", ["bash", "-e", "-c", start], environment, directory)
    try:
        check.until("it listens", lambda: "listening" in server.log.read_text())
        done = subprocess.run(
            ["bash", "-e", "-c", register + doctor],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=check.PATIENCE,
        )
        check.that("it is registered", done.returncode == 0, done.stdout + done.stderr)
        check.that("and tried", "arrives as" in done.stdout, done.stdout)
        _tells_chats_apart(world)
        _knows_groups(world)
        note = {"zone": "documents", "path": "plan.md"}
        world.call(ada, "shed_create_file", **note, content="one\n").data
        answer = world.ask(ada, [[("shed_link_create", note)]])
        check.that("links lead into Open WebUI", "/api/v1/files/" in answer.last.text, answer.last.text)
        check.that("on the answer", answer.message.get("files"), answer.message)
        tree = world.call(bob, "shed_tree", zone="documents").data["tree"]
        check.that("others have their own", "plan.md" not in tree, tree)
    finally:
        server.stop()


def _tells_chats_apart(world: World) -> None:
    """Without any variable of Open WebUI, chats are told apart."""
    file = world.webui.upload(world.webui.ada, "notes.txt", b"brought along")
    answer = world.ask(world.webui.ada, [[("shed_import", {})]], files=[attachment(file)])
    check.equal("attached files come in", answer.last.data["imported"].split(), ["notes.txt"])
    elsewhere = world.call(world.webui.ada, "shed_tree", zone="uploads").data["tree"]
    check.that("into their own chat", "notes.txt" not in elsewhere, elsewhere)


def _knows_groups(world: World) -> None:
    """With the user's own credential."""
    name = "Beside"
    world.webui.group(name, world.webui.ada)
    note = {"zone": "group", "group": name, "path": "log.md"}
    world.call(world.webui.ada, "shed_create_file", **note, content="one\n").data
    refused = world.call(world.webui.bob, "shed_create_file", **note, content="two\n").error
    check.equal("others are not in it", refused["code"], "GROUP_NOT_FOUND")


def _blocks() -> list[str]:
    """The commands of the section."""
    text = (REPOSITORY / "docs" / "openwebui.md").read_text()
    section = re.search(r"^## Beside an Open WebUI that is there\n(.*?)^## ", text, re.M | re.S).group(1)
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    check.equal("one to start, one to register, one to try", len(blocks), 3)
    return blocks


def _pasted(block: str, paste: dict[str, str]) -> str:
    for placeholder, value in paste.items():
        block = block.replace(placeholder, value)
    return block

"""A temporary chat: Open WebUI keeps nothing of it, fileshed keeps the files."""

from __future__ import annotations

from harness import check, chat
from harness.world import World


def run(world: World) -> None:
    ada = world.webui.ada
    with world.connected("session", openwebui_api_url=world.webui.url):
        results = chat.ask_without_trace(
            world.webui,
            world.model,
            ada,
            [
                [("shed_create_file", {"zone": "storage", "path": "kept.txt", "content": "kept\n"})],
                [("shed_import", {})],
                [("shed_link_create", {"zone": "storage", "path": "kept.txt"})],
                # Long enough for a line that there is no chat to show in.
                [("shed_exec", {"zone": "storage", "cmd": "sleep", "args": ["3"]})],
            ],
        )
        created, imported, linked, slept = results
        check.equal("files can be made", created.data["created"], True)
        check.equal("there are no attachments", imported.error["code"], "FILE_NOT_FOUND")
        check.that("and what to do is said", imported.error["hint"], imported.text)
        opened = world.webui.request("GET", linked.data["download_url"], ada.token)
        check.equal("links work", (opened.status, opened.text), (200, "kept\n"))
        check.equal("commands too", slept.data["returncode"], 0)
        read = {"zone": "storage", "cmd": "cat", "args": ["kept.txt"]}
        check.equal(
            "another chat has the file", world.call(ada, "shed_exec", **read).data["stdout"], "kept\n"
        )

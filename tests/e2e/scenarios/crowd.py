"""Many chats at once, of several users, on the same documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from harness import check
from harness.webui import Account
from harness.world import World

CHATS = 4


def run(world: World) -> None:
    users = [world.webui.admin, world.webui.ada, world.webui.bob]
    with world.connected("session", openwebui_api_url=world.webui.url):
        with ThreadPoolExecutor(max_workers=len(users) * CHATS) as pool:
            chats = [pool.submit(_work, world, who, number) for number in range(CHATS) for who in users]
        for chat in chats:
            chat.result()
        for who in users:
            log = world.call(who, "shed_exec", zone="documents", cmd="git", args=["log", "--format=%an"])
            check.equal(
                "every change is a commit of its user", log.data["stdout"], f"{who.name}\n" * CHATS * 2
            )


def _work(world: World, who: Account, number: int) -> None:
    note = {"zone": "documents", "path": f"note-{number}.md"}
    read = {"zone": "documents", "cmd": "cat", "args": [note["path"]]}
    answer = world.ask(
        who,
        [
            [("shed_create_file", {**note, "content": f"{who.id}\n"})],
            [("shed_patch_text", {**note, "content": f"{number}\n"})],
            [("shed_exec", read)],
        ],
    )
    check.equal("each chat sees its own work", answer.last.data["stdout"], f"{who.id}\n{number}\n")

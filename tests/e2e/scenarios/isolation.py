"""Two users have nothing in common: not the same paths, not a tree, not links."""

from __future__ import annotations

from harness import check, web
from harness.fileshed import Fileshed
from harness.world import World


def run(world: World) -> None:
    ada, bob = world.webui.ada, world.webui.bob
    with world.connected() as fileshed:
        for who in (ada, bob):
            for zone in ("storage", "documents"):
                world.call(who, "shed_create_file", zone=zone, path="diary.md", content=f"{who.id}\n").data
        for who in (ada, bob):
            for zone in ("storage", "documents"):
                read = {"zone": zone, "cmd": "cat", "args": ["diary.md"]}
                check.equal(
                    "each reads their own", world.call(who, "shed_exec", **read).data["stdout"], f"{who.id}\n"
                )
        world.call(ada, "shed_create_file", zone="storage", path="secret.txt", content="x").data
        tree = world.call(bob, "shed_tree", zone="storage").data["tree"]
        check.that("a tree shows only what is one's own", "secret" not in tree, tree)
        missing = world.call(bob, "shed_exec", zone="storage", cmd="cat", args=["secret.txt"])
        check.that("nobody opens another's file", missing.data["returncode"] != 0, missing.text)

        link = world.call(ada, "shed_link_create", zone="storage", path="secret.txt").data["file_id"]
        check.equal("nobody lists another's links", world.call(bob, "shed_link_list").data["files"], [])
        refused = world.call(bob, "shed_link_delete", file_id=link).error
        check.equal("nobody deletes another's link", refused["code"], "NOT_A_FILESHED_LINK")
        _chats(world, fileshed)


def _chats(world: World, fileshed: Fileshed) -> None:
    """A file that came into one chat is not in another chat of the same user."""
    ada = world.webui.ada
    list_uploads = [[("shed_tree", {"zone": "uploads"})]]
    first = world.ask(ada, list_uploads)
    file = ("brief.txt", b"for this chat", "text/plain")
    caller = world.named(ada, first.chat)
    sent = web.request("POST", f"{fileshed.url}/files/upload", token=fileshed.key, headers=caller, file=file)
    check.equal("the upload is taken", sent.status, 200)
    again = world.ask(ada, list_uploads, after=first).last.data["tree"]
    check.that("the same chat has it", "brief.txt" in again, again)
    other = world.ask(ada, list_uploads).last.data["tree"]
    check.that("another chat does not", "brief.txt" not in other, other)

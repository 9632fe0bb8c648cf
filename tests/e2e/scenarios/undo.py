"""An answer that changed files everywhere is taken back by one call, and what was changed meanwhile stays."""

from __future__ import annotations

import json

from harness import check
from harness.chat import Answer
from harness.webui import Account
from harness.world import World

TEXT = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
CHANGED = TEXT.replace("one", "ONE")
PAGE = "https://files.example.org"


def run(world: World) -> None:
    ada = world.webui.ada
    world.webui.group("Undo", ada)
    settings = {"openwebui_api_url": world.webui.url, "groups": "openwebui", "public_url": PAGE}
    with world.connected("session", short=True, **settings):
        _takes_back(world, ada)
    if world.version.has_terminals:
        with world.computer("bearer"):
            _by_the_terminal(world, ada)


def _takes_back(world: World, ada: Account) -> None:
    """One answer changes five files in three zones and deletes a folder."""
    shared = {"zone": "group", "group": "Undo", "path": "plan.md"}
    before = _answer(
        world,
        ada,
        None,
        ("shed_create_file", {"zone": "storage", "path": "undo/notes.md", "content": TEXT}),
        ("shed_create_file", {"zone": "storage", "path": "undo/old/deep.md", "content": "deep\n"}),
        ("shed_create_file", {"zone": "documents", "path": "undo-report.md", "content": TEXT}),
        ("shed_create_file", {**shared, "content": TEXT}),
    )
    changed = _answer(
        world,
        ada,
        before,
        ("shed_create_file", {"zone": "storage", "path": "undo/notes.md", "content": CHANGED}),
        ("shed_create_file", {"zone": "storage", "path": "undo/new/made.md", "content": "made\n"}),
        ("shed_patch_text", {"zone": "documents", "path": "undo-report.md", "find": "one", "content": "ONE"}),
        ("shed_create_file", {"zone": "documents", "path": "undo-made.md", "content": "made\n"}),
        ("shed_create_file", {**shared, "content": CHANGED}),
        ("shed_delete", {"zone": "storage", "path": "undo/old"}),
    )
    check.equal("the answer links to what it changed", _links(world, changed), [f"{PAGE}/#/changes/{changed.message['id']}"])
    # The person goes on in another chat.
    later = {"zone": "documents", "path": "undo-report.md", "find": "nine", "content": "NINE"}
    _answer(world, ada, None, ("shed_patch_text", later))
    undone = _answer(world, ada, changed, ("shed_undo", {"answer": "last"}))
    check.that("the model is told not to do it again", "asked" in undone.last.text, undone.last.text)
    check.equal("notes", _read(world, ada, zone="storage", path="undo/notes.md"), TEXT)
    check.equal("the folder", _read(world, ada, zone="storage", path="undo/old/deep.md"), "deep\n")
    merged = _read(world, ada, zone="documents", path="undo-report.md")
    check.equal("the edit made meanwhile", merged, TEXT.replace("nine", "NINE"))
    check.equal("the group", _read(world, ada, **shared), TEXT)
    tree = world.call(ada, "shed_tree", zone="storage", path="undo").text
    check.that("what was made is gone", "made.md" not in tree and "new" not in tree, tree)


def _by_the_terminal(world: World, ada: Account) -> None:
    """The same by the tools of a terminal, whose calls name no answer."""
    path = "/storage/undo-line.txt"
    before = _answer(world, ada, None, ("write_file", {"path": path, "content": TEXT}), terminal="computer")
    changed = _answer(
        world,
        ada,
        before,
        ("write_file", {"path": path, "content": CHANGED}),
        ("run_command", {"command": "rm /storage/undo-line.txt", "wait": 30}),
        terminal="computer",
    )
    undone = _answer(world, ada, changed, ("undo", {}), ("read_file", {"path": path}), terminal="computer")
    content = json.loads(undone.last.text)["content"]
    check.equal("the whole answer is taken back", content.rstrip("\n"), TEXT.rstrip("\n"))


def _answer(world: World, who: Account, after: Answer | None, *calls: tuple[str, dict], **named) -> Answer:
    """One answer that makes these calls, each of which succeeds."""
    answer: Answer = world.ask(who, [[call] for call in calls], after=after, **named)
    for call, result in zip(calls, answer.results, strict=True):
        check.that(f"{call[0]} succeeds", '"error"' not in result.text, result.text)
    return answer


def _links(world: World, answer: Answer) -> list[str]:
    """The sources that the answer shows."""
    chat = world.webui.ask("GET", f"/api/v1/chats/{answer.chat}", world.webui.admin.token)
    message = chat["chat"]["history"]["messages"][answer.message["id"]]
    return [source["source"]["url"] for source in message.get("sources", [])]


def _read(world: World, who: Account, *, path: str, content: str = "", **zone: str) -> str:
    text = world.call(who, "shed_exec", **zone, cmd="cat", args=[path]).text
    return json.loads(text)["stdout"]

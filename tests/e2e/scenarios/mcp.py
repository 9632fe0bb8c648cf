"""Open WebUI's own client of the Model Context Protocol: every tool, each user's own files, and what
goes wrong with what to do."""

from __future__ import annotations

from harness import check, web
from harness.chat import Answer
from harness.fileshed import Fileshed
from harness.world import World

#: Open WebUI puts the id of the connection before the names of its tools.
_PREFIX = "fileshed_"


def run(world: World) -> None:
    if not world.version.has_mcp:
        return
    ada, bob = world.webui.ada, world.webui.bob
    with world.fileshed() as fileshed:
        connection = fileshed.mcp_connection()
        world.webui.connect(connection)
        seen = world.webui.ask(
            "POST", "/api/v1/configs/tool_servers/verify", world.webui.admin.token, document=connection
        )
        check.that("the connection is verified", "shed_exec" in str(seen), seen)
        note = {"zone": "documents", "path": "note.md", "content": "ada's\n"}
        made = _ask(world, ada, ("shed_create_file", note))
        offered = {tool["name"] for tool in made.script.offered()}
        check.equal("every operation is offered", {name for name in offered if _PREFIX in name}, _all(fileshed))
        told = str(made.script.requests[0])
        check.that("the model reads about the zones", "Files lie in zones" in told, told)
        check.that("it is made", "created" in _text(made) and "success" not in _text(made), _text(made))
        read = {"zone": "documents", "cmd": "cat", "args": ["note.md"]}
        check.that("it is there in another chat", "ada's" in _text(_ask(world, ada, ("shed_exec", read))))
        tree = _text(_ask(world, bob, ("shed_tree", {"zone": "documents"})))
        check.that("nobody else has it", "note.md" not in tree, tree)
        failed = _text(_ask(world, ada, ("shed_delete", {"zone": "documents", "path": "none.md"})))
        check.that("a failure says what it is", "FILE_NOT_FOUND" in failed and "hint" in failed, failed)
        _chats(world, fileshed, made)
        commits = _text(_ask(world, ada, ("shed_exec", {**read, "cmd": "git", "args": ["log", "--format=%an"]})))
        check.that("the commit is the user's", ada.name in commits, commits)
    world.webui.connect()


def _ask(world: World, who, *calls: tuple[str, dict], **named) -> Answer:
    turns = [[(f"{_PREFIX}{tool}", arguments)] for tool, arguments in calls]
    return world.ask(who, turns, tools="mcp:fileshed", **named)


def _text(answer: Answer) -> str:
    """Returns the text that the model was given."""
    return answer.last.text


def _all(fileshed: Fileshed) -> set[str]:
    document = web.request("GET", f"{fileshed.url}/openapi.json").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    names = {operation.get("operationId", "") for operation in operations}
    return {f"{_PREFIX}{name}" for name in names if name.startswith("shed_")}


def _chats(world: World, fileshed: Fileshed, first: Answer) -> None:
    """A file that came into a chat is there, and in no other."""
    ada = world.webui.ada
    file = ("brief.txt", b"for this chat", "text/plain")
    caller = world.named(ada, first.chat)
    sent = web.request("POST", f"{fileshed.url}/files/upload", token=fileshed.key, headers=caller, file=file)
    check.equal("the upload is taken", sent.status, 200)
    tree = ("shed_tree", {"zone": "uploads"})
    again = _text(_ask(world, ada, tree, after=first))
    check.that("the same chat has it", "brief.txt" in again, again)
    other = _text(_ask(world, ada, tree))
    check.that("another chat does not", "brief.txt" not in other, other)

"""A command that takes long shows in the chat, until it has ended."""

from __future__ import annotations

from harness import check
from harness.chat import Answer
from harness.world import World

#: Longer than fileshed waits before it says anything.
SECONDS = "4"


def run(world: World) -> None:
    long = [[("shed_exec", {"zone": "storage", "cmd": "sleep", "args": [SECONDS]})]]
    late = [[("shed_exec", {"zone": "storage", "cmd": "sleep", "args": ["60"], "timeout": 4})]]
    short = [[("shed_tree", {"zone": "storage"})]]
    ada = world.webui.ada
    with world.connected(openwebui_api_url=world.webui.url, openwebui_admin_key=world.webui.admin.key):
        answer = world.ask(ada, long)
        check.equal("the command ran", answer.last.data["returncode"], 0)
        lines = check.until("the chat has the line", lambda: _ended(world, answer))
        check.that("it names the command", all("sleep" in line["description"] for line in lines), lines)
        check.equal("first it runs, then it is done", [line["done"] for line in lines], [False, True])
        check.that("it says how long", lines[-1]["description"].startswith("sleep: "), lines)
        answer = world.ask(ada, late)
        lines = check.until("a line ends when the time is over", lambda: _ended(world, answer))
        check.that("it says so", "stopped after" in lines[-1]["description"], lines)
        check.equal("what is quick is not shown", _lines(world, world.ask(ada, short)), [])


def _ended(world: World, answer: Answer) -> list[dict]:
    lines = _lines(world, answer)
    return lines if lines and lines[-1]["done"] else []


def _lines(world: World, answer: Answer) -> list[dict]:
    chat = world.webui.ask("GET", f"/api/v1/chats/{answer.chat}", world.webui.admin.token)
    message = chat["chat"]["history"]["messages"][answer.message["id"]]
    return message.get("statusHistory", [])

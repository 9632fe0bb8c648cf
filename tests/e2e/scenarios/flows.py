"""Ten things that people ask for, each in the fewest calls that it needs, and no call fails in between.
What each costs is in work.md.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from typing import Callable

from harness import check
from harness.chat import Answer, Result, attachment
from harness.webui import Account
from harness.world import World
from scenarios import costs
from scenarios.costs import Cost
from scenarios.work.driver import failure_of

SALES = "date,region,product,amount\n" + "".join(
    f"2026-0{1 + day % 9}-1{day % 10},{('north', 'south', 'east')[day % 3]},pen,{day}\n" for day in range(60)
)
LOG = "".join(f"{line} {'ERROR' if line % 500 == 7 else 'info'} the job goes on\n" for line in range(4000))
PROGRAM = "import sys\n\n\ndef main():\n    name = sys.argv[1]\n    print('Hello', name)\n\n\nmain()\n"


@dataclasses.dataclass
class Play:
    """One flow, and what it costs."""

    world: World
    toolset: str
    cost: Cost = dataclasses.field(default_factory=Cost)

    @property
    def core(self) -> bool:
        return self.toolset == "core"

    def ask(self, who: Account, *calls: tuple[str, dict], reason: str = "", **files: bytes) -> list[Result]:
        """Makes the calls one after another in a new chat; only the first fails, if there is a reason."""
        attached = [
            attachment(self.world.webui.upload(who, name.replace("__", "."), content))
            for name, content in files.items()
        ]
        return self.answer(who, *calls, reason=reason, files=attached).results

    def answer(self, who: Account, *calls: tuple[str, dict], reason: str = "", **named) -> Answer:
        """The same, with all that a question in a chat takes."""
        answer: Answer = self.world.ask(who, [[call] for call in calls], **named)
        for number, (call, result) in enumerate(zip(calls, answer.results, strict=True)):
            self.cost.add(*call, result.text)
            fails = failure_of(result.text) is not None
            check.equal(f"{call[0]} fails", fails, number == 0 and bool(reason))
            if fails:
                self.cost.fail(reason)
        return answer


def run(world: World) -> None:
    group = "Flows"
    world.webui.group(group, world.webui.ada, world.webui.bob)
    settings = {"openwebui_api_url": world.webui.url, "groups": "openwebui"}
    with world.connected("session", short=True, **settings) as server:
        for toolset in ("all", "core"):
            chosen = ["--auth", "session", "--toolset", toolset]
            done = server.register(world.webui.url, world.webui.admin.token, *chosen)
            check.that("fileshed registers itself", done.returncode == 0, done.stderr)
            _all(world, toolset)


def _all(world: World, toolset: str) -> None:
    offered = world.ask(world.webui.ada, []).script.offered()
    tools = len(json.dumps([tool for tool in offered if tool["name"].startswith("shed_")])) // 4
    print(f"{toolset}: the tools cost {tools} tokens")
    for flow in FLOWS:
        costs.settle(f"{flow.__name__.strip('_')}, {toolset}", lambda: _played(flow, Play(world, toolset)))


def _played(flow: Callable[[Play], None], play: Play) -> Cost:
    flow(play)
    return play.cost


def _table(play: Play) -> None:
    """An attached table, a question, and a file with the answer."""
    database = {"zone": "storage", "path": f"{play.toolset}.db"}
    totals = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY region"
    *_, answered, written, linked = play.ask(
        play.world.webui.ada,
        ("shed_sqlite", {**database, "import_csv": "sales.csv", "table": "sales"}),
        ("shed_sqlite", {**database, "query": totals}),
        ("shed_sqlite", {**database, "query": totals, "output_csv": f"{play.toolset}-totals.csv"}),
        ("shed_link_create", {"zone": "storage", "path": f"{play.toolset}-totals.csv"}),
        sales__csv=SALES.encode(),
    )
    check.that("the answer is there", "590" in answered.text, answered.text)
    check.that("the file can be opened", "/api/v1/files/" in linked.text, linked.text)


def _read(play: Play) -> None:
    """Read an attached note."""
    read = {"zone": "uploads", "cmd": "cat", "args": ["notes.txt"]}
    [told] = play.ask(play.world.webui.ada, ("shed_exec", read), notes__txt=b"The meeting is at noon.\n")
    check.that("it is told", "at noon" in told.text, told.text)


def _edit(play: Play) -> None:
    """Write a program, and change a line of it."""
    program = {"zone": "storage", "path": f"{play.toolset}/hello.py"}
    change = {"find": "'Hello', name", "content": "f'Hello, {name}!'"}
    _, changed = play.ask(
        play.world.webui.ada,
        ("shed_create_file", {**program, "content": PROGRAM}),
        ("shed_patch_text", {**program, **change}),
    )
    check.that("what changed is shown", "print(f'Hello, {name}!')" in changed.text, changed.text)


def _error(play: Play) -> None:
    """A file that is not where it was said to be: what the failure says works."""
    path, wrong = f"{play.toolset}-reports/final.md", f"{play.toolset}-reports/Final.md"
    documents = {"zone": "documents", "path": path, "content": "# Final\n"}
    Play(play.world, play.toolset).ask(play.world.webui.ada, ("shed_create_file", documents))
    failed, _ = play.ask(
        play.world.webui.ada,
        ("shed_link_create", {"zone": "storage", "path": wrong}),
        ("shed_link_create", {"zone": "documents", "path": path}),
        reason="the model looks in another zone and writes a letter small: the failure says both",
    )
    hint = failed.error["hint"]
    check.that("the failure says both", f'zone="documents", path="{path}"' in hint, hint)


def _group(play: Play) -> None:
    """Give a plan to the group, where somebody else reads it."""
    path = f"{play.toolset}-plan.md"
    written = {"path": path, "content": "# Plan\n"}
    there = {"zone": "group", "group": "Flows"}
    if play.core:
        play.ask(play.world.webui.ada, ("shed_create_file", {**there, **written}))
    else:
        copied = {"src_zone": "documents", "src_path": path, "group": "Flows", "dest_path": path}
        play.ask(
            play.world.webui.ada,
            ("shed_create_file", {"zone": "documents", **written}),
            ("shed_copy_to_group", copied),
        )
    [read] = play.ask(play.world.webui.bob, ("shed_exec", {**there, "cmd": "cat", "args": [path]}))
    check.that("the other reads it", "# Plan" in read.text, read.text)


def _unpack(play: Play) -> None:
    """Look into an attached archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("docs/a.txt", "first\n")
        archive.writestr("docs/b.txt", "second\n")
    if play.core:
        show = {"zone": "uploads", "cmd": "unzip", "args": ["-p", "docs.zip", "docs/b.txt"]}
        [read] = play.ask(play.world.webui.ada, ("shed_exec", show), docs__zip=packed.getvalue())
    else:
        unpack = {"zone": "storage", "src_zone": "uploads", "src": "docs.zip", "dest": "unpacked"}
        show = {"zone": "storage", "cmd": "cat", "args": ["unpacked/docs/b.txt"]}
        _, read = play.ask(
            play.world.webui.ada,
            ("shed_unzip", unpack),
            ("shed_exec", show),
            docs__zip=packed.getvalue(),
        )
    check.that("it is read", "second" in read.text, read.text)


def _pack(play: Play) -> None:
    """Two pages, handed out as one archive."""
    site = f"{play.toolset}-site"
    page = {"zone": "storage", "content": "<h1>Hello</h1>\n"}
    *_, linked = play.ask(
        play.world.webui.ada,
        ("shed_create_file", {**page, "path": f"{site}/index.html"}),
        ("shed_create_file", {**page, "path": f"{site}/about.html"}),
        ("shed_link_create", {"zone": "storage", "path": site}),
    )
    check.that("as one archive", f"{site}.zip" in linked.text, linked.text)


def _log(play: Play) -> None:
    """A long log: a look at it, then what matters."""
    _, errors = play.ask(
        play.world.webui.ada,
        ("shed_exec", {"zone": "uploads", "cmd": "cat", "args": ["job.log"]}),
        ("shed_exec", {"zone": "uploads", "cmd": "grep", "args": ["-c", "ERROR", "job.log"]}),
        job__log=LOG.encode(),
    )
    check.that("they are counted", "8" in errors.text, errors.text)


def _history(play: Play) -> None:
    """Two versions of a document, and what changed."""
    document = {"zone": "documents", "path": f"{play.toolset}-minutes.md"}
    log = {"zone": "documents", "cmd": "git", "args": ["log", "--oneline", "--", document["path"]]}
    *_, told = play.ask(
        play.world.webui.ada,
        ("shed_create_file", {**document, "content": "# Minutes\n", "message": "Begin the minutes"}),
        ("shed_patch_text", {**document, "content": "- a decision\n", "message": "Add a decision"}),
        ("shed_exec", log),
    )
    check.that("both versions are told", "Begin the minutes" in told.text, told.text)
    check.that("with what was said", "Add a decision" in told.text, told.text)


def _keep(play: Play) -> None:
    """Keep an attached file for other chats."""
    name = f"{play.toolset}-kept.txt"
    kept = ("shed_move_uploads_to_documents", {"src": name, "dest": f"inbox/{name}"})
    if play.core:
        kept = ("shed_copy", {"from": f"uploads/{name}", "to": f"storage/inbox/{name}", "move": True})
    play.ask(play.world.webui.ada, kept, **{name.replace(".", "__"): b"kept\n"})


FLOWS: list[Callable[[Play], None]] = [
    _table,
    _read,
    _edit,
    _error,
    _group,
    _unpack,
    _pack,
    _log,
    _history,
    _keep,
]

"""A large file, many files, and one file in two chats."""

from __future__ import annotations

import hashlib
import random

from harness import check
from scenarios.work import inputs
from scenarios.work.driver import Chat, Flow, Work, execute, use


def large_file(work: Work) -> Flow:
    """200 MB: its checksum, into another zone, a link, and gone."""
    content = random.Random(7).randbytes(1 << 20) * 200
    digest = hashlib.sha256(content).hexdigest()
    yield Chat(work.ada, {"disk.img": content})
    told = yield execute("uploads", "sha256sum", "disk.img")
    check.that("its checksum", digest in told.text, told.text)
    yield use("move_uploads_to_storage", src="disk.img", dest="images/disk.img")
    link = yield use("link_create", zone="storage", path="images/disk.img")
    check.equal("to the last bit", hashlib.sha256(work.opened(link)).hexdigest(), digest)
    yield use("delete", zone="storage", path="images")
    left = yield use("tree", zone="storage")
    check.that("it is gone", "disk.img" not in left.text, left.text)


def two_chats(work: Work) -> Flow:
    """A locked edit that another chat ends, and what was deleted brought back."""
    plan = {"zone": "documents", "path": "plan.md"}
    first = yield Chat(work.ada)
    yield use("create_file", **plan, content="# Plan\none\n")
    yield use("lockedit_open", **plan)
    yield use("lockedit_exec", **plan, cmd="sed", args=["-i", "s/one/first/", "."])
    yield Chat(work.ada)
    change = use("patch_text", **plan, find="one", content="two")
    yield change.refused("another chat edits the file: its changes are not dropped without need")
    yield use("force_unlock", **plan)
    yield change
    yield Chat(work.ada, after=first)
    late = yield use("lockedit_save", **plan).fails("the other chat ended the locked edit")
    check.that("the file as it is now", "two" in late.text, late.text)
    yield use("lockedit_overwrite", **plan, content="three\n", append=True)
    yield use("lockedit_save", **plan)
    read = yield execute("documents", "cat", "plan.md")
    check.equal("both changes", read.data["stdout"], "# Plan\ntwo\nthree\n")
    yield use("delete", **plan)
    log = yield execute("documents", "git", "log", "--format=%h", "-n", "1", "--", "plan.md")
    commit = log.data["stdout"].strip()
    yield execute("documents", "git", "checkout", f"{commit}~1", "--", "plan.md")
    read = yield execute("documents", "cat", "plan.md")
    check.that("it is back", "three" in read.text, read.text)
    draft = {"zone": "storage", "path": "draft.md"}
    yield use("create_file", **draft, content="a draft\n")
    yield use("delete", **draft)
    yield use("delete", **draft, restore=True)
    read = yield execute("storage", "cat", "draft.md")
    check.that("the draft, too", "a draft" in read.text, read.text)


def ten_thousand(work: Work) -> Flow:
    """10,000 files unpacked, listed, searched, deleted."""
    lines = {7, 2507, 9999}
    notes = {f"many/{n // 100:02}/note-{n:05}.txt": f"note {n}{' needle' * (n in lines)}\n" for n in range(10000)}
    yield Chat(work.ada, {"many.zip": inputs.archive(notes)})
    unpacked = yield use("unzip", zone="storage", src="many.zip", src_zone="uploads")
    check.equal("all of them", unpacked.data["files_count"], 10000)
    yield use("tree", zone="storage", path="many", depth=1)
    yield use("tree", zone="storage", path="many")
    listed = yield execute("storage", "ls", "many/25")
    check.that("one directory", "note-02507.txt" in listed.text, listed.text)
    found = yield execute("storage", "grep", "-rl", "needle", "many")
    check.equal("what has the word", len(found.data["stdout"].splitlines()), 3)
    yield use("delete", zone="storage", path="many")
    left = yield execute("storage", "ls")
    check.that("all is gone", "many" not in left.text, left.text)

"""A terminal's tools alone."""

from __future__ import annotations

import json

from harness import check
from scenarios.work.driver import Chat, Flow, Use, Work


def tool(name: str, **arguments) -> Use:
    return Use(name, arguments)


def line(command: str, **named) -> Use:
    """A line of sh, with an answer that waits for its end."""
    return tool("run_command", command=command, wait=30, **named)


def terminal(work: Work) -> Flow:
    """List, run, write, replace, read, a process with input, and the history of documents."""
    yield Chat(work.ada, terminal=True)
    yield tool("list_files")
    yield tool("write_file", path="notes/todo.md", content="# To do\n\n- milk\n- bread\n")
    told = yield line("cat notes/todo.md | grep -c '^-'")
    check.that("a pipe runs", "2" in told.text, told.text)
    replacements = [{"target": "- milk", "replacement": "- oat milk"}]
    yield tool("replace_file_content", path="notes/todo.md", replacements=replacements)
    as_text = json.dumps([{"target": "- bread", "replacement": "- rye bread"}])
    yield tool("replace_file_content", path="notes/todo.md", replacements=as_text)
    read = yield tool("read_file", path="notes/todo.md")
    check.that("both are replaced", "oat milk" in read.text and "rye bread" in read.text, read.text)
    read = yield tool("read_file", path="/storage/notes/todo.md", start_line=3, end_line=3)
    check.that("one line", "oat milk" in read.text and "rye" not in read.text, read.text)
    wrong = "a wrong path is the point"
    yield tool("read_file", path="todo.md").fails(wrong)
    yield tool("read_file", path="/workspace/notes/todo.md").fails(wrong)
    yield tool("read_file", path="storage/notes/todo.md").refused(wrong)
    found = yield tool("grep_search", query="rye")
    check.that("it is searched", "todo.md" in found.text, found.text)
    found = yield tool("glob_search", pattern="**/*.md")
    check.that("and found by name", "todo.md" in found.text, found.text)
    started = yield tool("run_command", command="while read word; do echo got $word; done; echo ended")
    process = {"process_id": started.data["id"]}
    yield tool("send_process_input", **process, input="hello\\n")
    yield tool("send_process_input", **process, input="\\x04")
    status = yield tool("get_process_status", **process, wait=30)
    check.that("it has what was typed", "got hello" in status.text and "ended" in status.text, status.text)
    log = yield tool("read_file", path=status.data["log_path"])
    check.that("its log", "got hello" in log.text, log.text)
    started = yield tool("run_command", command="sleep 1000")
    yield tool("list_processes")
    yield tool("kill_process", process_id=started.data["id"])
    yield tool("write_file", path="/documents/minutes.md", content="first\n")
    yield tool("write_file", path="/documents/minutes.md", content="second\n")
    log = yield line("git log --oneline -- minutes.md", cwd="/documents")
    check.that("both versions are there", log.text.count("minutes.md") == 2, log.text)
    yield tool("undo", path="/documents/minutes.md")
    back = yield tool("read_file", path="/documents/minutes.md")
    check.that("the first one is back", "first" in back.text, back.text)
    copied = yield line("cp /documents/minutes.md /storage/ && ls /storage")
    check.that("it is copied", "minutes.md" in copied.text, copied.text)

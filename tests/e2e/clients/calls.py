"""A call of every tool, in an order in which each has what it needs.

The value of an argument may be the field of an earlier answer: `{link}` is the link that was made.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict
    #: Whether it succeeds. What does not is answered with a hint.
    succeeds: bool = True


def _in(zone: str, tool: str, **arguments: object) -> Call:
    return Call(tool, {"zone": zone, **arguments})


def calls(mark: str) -> list[Call]:
    """All of them, with names that no other run has."""
    note, table, book = f"{mark}/todo.md", f"{mark}/table.csv", f"{mark}/shop.db"
    group = {"group": "team"}
    return [
        Call("shed_help", {"howto": "edit"}),
        Call("shed_parameters", {}),
        Call("shed_allowed_commands", {}),
        _in("storage", "shed_create_file", path=note, content="# To do: a=b\n- \"old\"\n"),
        _in("storage", "shed_create_file", path=table, content="a,b\r\n1,2\r\n"),
        _in("storage", "shed_patch_text", path=note, content="- new\n", position="end"),
        _in("storage", "shed_patch_bytes", path=f"{mark}/data.bin", content="48656c6c6f"),
        _in("storage", "shed_exec", cmd="grep", args=["-rn", "new", mark]),
        _in("storage", "shed_tree", path=mark, depth=2),
        _in("storage", "shed_read", path=note, limit=1),
        _in("storage", "shed_file_type", path=note),
        _in("storage", "shed_hexdump", path=note, length=16),
        _in("storage", "shed_convert_eol", path=table, to="unix"),
        _in("storage", "shed_convert", path=table, to="xlsx"),
        _in("storage", "shed_diff", path=note, to_path=table),
        _in("storage", "shed_sqlite", path=book, import_csv=table, table="t"),
        _in("storage", "shed_sqlite", path=book, query="SELECT sum(b) AS s FROM t WHERE a < ?", params=[9]),
        _in("storage", "shed_zip", src=mark, dest=f"{mark}.zip"),
        _in("storage", "shed_zipinfo", path=f"{mark}.zip"),
        _in("storage", "shed_unzip", src=f"{mark}.zip", dest=f"{mark}-again"),
        _in("storage", "shed_rename", old_path=f"{mark}/data.bin", new_path=f"{mark}/moved.bin"),
        _in("storage", "shed_delete", path=f"{mark}/moved.bin"),
        Call("shed_copy_storage_to_documents", {"src": note, "dest": note}),
        _in("documents", "shed_lockedit_open", path=note),
        _in("documents", "shed_lockedit_exec", path=note, cmd="sed", args=["-i", "s/old/older/", "."]),
        _in("documents", "shed_lockedit_overwrite", path=note, content="# Locked\n"),
        _in("documents", "shed_lockedit_save", path=note),
        _in("documents", "shed_lockedit_open", path=note),
        _in("documents", "shed_lockedit_cancel", path=note),
        _in("documents", "shed_lockedit_open", path=note),
        _in("documents", "shed_force_unlock", path=note),
        Call("shed_copy_to_group", {
            "src_zone": "storage", "src_path": note, "dest_path": note, **group,
        }),
        Call("shed_copy", {"from": f"group/team/{note}", "to": f"storage/{mark}/out/"}),
        Call("shed_history", {"path": f"storage/{mark}", "diff": True}),
        Call("shed_undo", {"path": f"storage/{mark}/out/todo.md"}),
        Call("shed_group_list", {}),
        Call("shed_group_info", group),
        Call("shed_group_set_mode", {"path": note, "mode": "owner", **group}),
        Call("shed_group_chown", {"path": note, "new_owner": "grace", **group}),
        Call("shed_move_documents_to_storage", {"src": note, "dest": f"{mark}/back.md"}),
        Call("shed_move_uploads_to_storage", {"src": f"{mark}-1.txt", "dest": f"{mark}/1.txt"}),
        Call("shed_move_uploads_to_documents", {"src": f"{mark}-2.txt", "dest": f"{mark}/2.txt"}),
        _in("storage", "shed_link_create", path=note),
        Call("shed_link_list", {}),
        Call("shed_link_delete", {"file_id": "{link}"}),
        Call("shed_import", {"filename": "none.pdf"}, succeeds=False),
        Call("shed_stats", {}),
        Call("shed_maintenance", {}),
    ]


def compact_calls(mark: str) -> list[Call]:
    """The same for the compact tools."""
    note = f"{mark}/note.md"
    return [
        Call("write_file", {"path": note, "content": "one\ntwo\n"}),
        Call("read_file", {"path": note}),
        Call("edit_file", {"path": note, "old_string": "two", "new_string": "three"}),
        Call("list_files", {"path": mark}),
        Call("glob_search", {"pattern": "**/*.md"}),
        Call("grep_search", {"pattern": "three"}),
        Call("stat_file", {"path": note}),
        Call("output_file", {"path": note, "description": "a note"}),
        Call("read_file", {"path": "../note.md"}, succeeds=False),
        Call("remove_file", {"path": note}),
        Call("history", {"limit": 3}),
        Call("undo", {"path": f"storage/{note}"}),
    ]


def terminal_calls(mark: str) -> list[Call]:
    """The same for what models are offered of the terminal."""
    note = f"/storage/{mark}/note.md"
    return [
        Call("write_file", {"path": note, "content": "one\ntwo\n"}),
        Call("read_file", {"path": note}),
        Call("replace_file_content", {
            "path": note, "replacements": [{"target": "two", "replacement": "three"}],
        }),
        Call("list_files", {"directory": f"/storage/{mark}"}),
        Call("grep_search", {"query": "three", "path": "/storage"}),
        Call("glob_search", {"pattern": "*.md", "path": "/storage"}),
        Call("display_file", {"path": note}),
        Call("history", {"limit": 3}),
        Call("undo", {"path": note}),
        Call("run_command", {"command": "cat", "wait": 0}),
        Call("list_processes", {}),
        Call("send_process_input", {"process_id": "{process}", "input": "hello\n"}),
        Call("get_process_status", {"process_id": "{process}"}),
        Call("kill_process", {"process_id": "{process}"}),
        Call("read_user_terminal", {}, succeeds=False),
        Call("send_user_terminal_input", {"input": "ls\n"}, succeeds=False),
    ]


def filled(arguments: dict, known: dict[str, str]) -> dict:
    """The arguments with what earlier answers said."""
    names = {f"{{{name}}}": value for name, value in known.items()}
    return {
        name: names.get(value, value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def learned(tool: str, answer: dict) -> dict[str, str]:
    """Returns the values of an answer that a later call needs."""
    if tool == "shed_link_list":
        # A table in CSV, whose first column is the id.
        return {"link": answer["files"].splitlines()[1].split(",")[0]}
    if tool == "run_command":
        return {"process": answer["id"]}
    return {}

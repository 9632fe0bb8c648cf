#!/usr/bin/env python3
"""Several servers on one directory: each change is asked of another one, and all show the same after it.

shared_directory.py DIRECTORY ADDRESS…: DIRECTORY has the data, each ADDRESS is one of a server on it. A
model of what must be there goes along, and is compared with what each server shows and with the disk.
"""

import itertools
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

KEY, USER = "service-key", "ada"
# Exit status if a server reports that it cannot answer now, as one does that had no processor for seconds:
# such a run shows nothing (EX_TEMPFAIL of sysexits.h).
LATER = 75


def ask(address: str, operation: str, **arguments) -> dict:
    """The whole answer, also of a call that is refused."""
    request = urllib.request.Request(
        f"http://{address}/{operation}", json.dumps(arguments).encode(),
        {"Authorization": f"Bearer {KEY}", "X-OpenWebUI-User-Id": USER, "X-OpenWebUI-Chat-Id": "chat",
         "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


def call(address: str, operation: str, **arguments) -> dict:
    """Returns the data of a successful and complete answer."""
    said = ask(address, operation, **arguments)
    if not said["success"]:
        print(f"{operation} {arguments}: {said['error']}", flush=True)
        sys.exit(LATER if said["error"]["code"] in ("BUSY", "DB_ERROR") else 1)
    if said["data"].get("truncated"):
        sys.exit(f"{operation} {arguments}: not all of it is in the answer")
    return said["data"]


class Zone:
    """The files that a zone must have, and the servers in turn."""

    def __init__(self, name: str, addresses: list[str], place: Path):
        self.name, self.addresses, self.place = name, addresses, place
        self.turns = itertools.cycle(addresses)
        self.files: dict[str, str] = {}

    def ask(self, operation: str, **arguments) -> dict:
        said = call(next(self.turns), operation, zone=self.name, **arguments)
        self.compare(operation, arguments)
        return said

    def compare(self, operation: str, arguments: dict) -> None:
        on_disk = {str(path.relative_to(self.place)): path.read_text()
                   for path in self.place.rglob("*") if path.is_file() and not path.name.startswith((".nfs", ".git"))}
        if on_disk != self.files:
            sys.exit(f"{self.name}, after {operation} {arguments}: {on_disk}, not {self.files}")
        for address in self.addresses:
            for path, content in self.files.items():
                shown = call(address, "shed_exec", zone=self.name, cmd="cat", args=[path])["stdout"]
                if shown != content:
                    sys.exit(f"{self.name}, {address}, after {operation}: {path} is {shown!r}, not {content!r}")

    def work(self) -> None:
        files = self.files
        for name in ("a.md", "d/b.md", "d/e/c.md"):
            files[name] = f"{name}\n"
            self.ask("shed_create_file", path=name, content=files[name])
        for number in range(4):
            files["a.md"] += f"line {number}\n"
            self.ask("shed_patch_text", path="a.md", content=f"line {number}\n", position="end")
        files["a.md"] = "anew\n"
        self.ask("shed_create_file", path="a.md", content="anew\n", overwrite=True)
        files["renamed.md"] = files.pop("a.md")
        self.ask("shed_rename", old_path="a.md", new_path="renamed.md")
        files["f/b.md"], files["f/e/c.md"] = files.pop("d/b.md"), files.pop("d/e/c.md")
        self.ask("shed_rename", old_path="d", new_path="f")
        self.ask("shed_lockedit_open", path="renamed.md")
        # The holder of the lock can continue at any server.
        self.ask("shed_lockedit_overwrite", path="renamed.md", content="edited\n")
        files["renamed.md"] = "edited\n"
        self.ask("shed_lockedit_save", path="renamed.md")
        del files["f/b.md"]
        self.ask("shed_delete", path="f/b.md")
        del files["f/e/c.md"]
        self.ask("shed_delete", path="f")


def main() -> None:
    data, addresses = Path(sys.argv[1]), sys.argv[2:]
    for name, directory in (("storage", "Storage"), ("documents", "Documents")):
        call(addresses[0], "shed_tree", zone=name)
        Zone(name, addresses, data / "users" / USER / directory / "data").work()
        print(f"ok {name}: {len(addresses)} servers", flush=True)


if __name__ == "__main__":
    main()

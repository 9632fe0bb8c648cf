#!/usr/bin/env python3
"""Changes by several servers on one directory until the power is cut, and what is there afterwards.

power_cut.py write ADDRESS…: says on a line of its own what was answered, until nobody listens.
power_cut.py verify ACKNOWLEDGED ADDRESS…: ACKNOWLEDGED has those lines; all of it must be there.
"""

import itertools
import sys
from pathlib import Path

from shared_directory import ask, call

ZONES = ("storage", "documents")
ACKNOWLEDGED = "acknowledged "
# Prefix of files that a client of NFS had open when they were removed, if it was gone before it closed
# them.
REMOVED = "./.nfs"


def write(addresses: list[str]) -> None:
    """In each zone a line, a file and a new name for it, each by another server than the one before."""
    turns = itertools.cycle(addresses)

    def change(zone: str, what: str, operation: str, **arguments) -> None:
        # A server that stands still for too long in emulation gives no answer, or reports an error.
        try:
            if ask(next(turns), operation, zone=zone, **arguments)["success"]:
                print(f"{ACKNOWLEDGED}{zone} {what}", flush=True)
        except OSError as error:
            print(f"no answer: {error}", flush=True)

    for number in range(400):
        for zone in ZONES:
            line = f"line-{number}"
            change(zone, line, "shed_patch_text", path="log.txt", content=f"{line}\n", position="end")
            change(zone, f"new-{number}", "shed_create_file", path=f"new-{number}", content=f"{number}\n")
            change(zone, f"old-{number}", "shed_rename", old_path=f"new-{number}", new_path=f"old-{number}")


def verify(acknowledged: str, addresses: list[str]) -> None:
    names = {zone: set() for zone in ZONES}
    for line in Path(acknowledged).read_text().splitlines():
        zone, what = line.removeprefix(ACKNOWLEDGED).split()
        names[zone].add(what)
    for zone in ZONES:
        for address in addresses:
            lines = call(address, "shed_exec", zone=zone, cmd="cat", args=["log.txt"])["stdout"].splitlines()
            lines = [line for line in lines if line.startswith("line-")]
            if len(lines) != len(set(lines)):
                sys.exit(f"{zone}, {address}: a line is there twice: {lines}")
            files = call(address, "shed_exec", zone=zone, cmd="grep", args=["-H", "", "-r", "."])["stdout"].splitlines()
            contents = {f"./{kind}-{number}:{number}" for kind in ("new", "old") for number in range(400)}
            for what in names[zone]:
                kind, number = what.split("-")
                expected = [f"./{what}:{number}"]
                if kind == "new":
                    # It may have its other name.
                    expected.append(f"./old-{number}:{number}")
                if not (what in lines if kind == "line" else any(name in files for name in expected)):
                    sys.exit(f"{zone}, {address}: {what} is not there: {lines} {files}")
            known = ("./log.txt:", "./.git", REMOVED)
            strange = [name for name in files if not name.startswith(known) and name not in contents]
            if strange:
                sys.exit(f"{zone}, {address}: {strange}")
        if zone == "documents":
            status = call(addresses[0], "shed_exec", zone=zone, cmd="git", args=["status", "--porcelain"])
            changes = [line for line in status["stdout"].splitlines() if not line.startswith(f"?? {REMOVED[2:]}")]
            if changes:
                sys.exit(f"not in history: {changes}")
        for address in addresses:
            call(address, "shed_patch_text", zone=zone, path="log.txt", content=f"after {address}\n", position="end")
        print(f"ok {zone}: {len(names[zone])} changes were answered before the power was cut", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2:])
    else:
        verify(sys.argv[2], sys.argv[3:])

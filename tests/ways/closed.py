"""Starts a program under what Docker's default profile takes from a container without capabilities.

closed.py PROGRAM [ARGUMENT…]: nothing below it makes or joins a namespace, mounts anything, or
speaks to the parts of the kernel that the profile keeps for privileged containers. The numbers are
those of the profile of Docker 28 (profiles/seccomp/default.json), as far as this program or its
commands could ask for them.
"""

import platform
import sys

from seccomp_filter import ALLOW, ANSWER, ANY_BIT, EQUAL, LOAD, REFUSE, UNKNOWN, start, step

# Calls with a number of their own on each machine.
OWN_NUMBERS = {
    "x86_64": {
        "clone": 56, "mount": 165, "umount2": 166, "pivot_root": 155, "sethostname": 170,
        "setdomainname": 171, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
        "perf_event_open": 298, "setns": 308, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "clone": 220, "mount": 40, "umount2": 39, "pivot_root": 41, "sethostname": 161,
        "setdomainname": 162, "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97,
        "perf_event_open": 241, "setns": 268, "bpf": 280, "userfaultfd": 282,
    },
}
# Calls that have the same number everywhere.
SHARED_NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442,
}
CLONE3 = 435
NEW_NAMESPACES = 0x7E020000


def program() -> bytes:
    numbers = dict(OWN_NUMBERS[platform.machine()])
    clone = numbers.pop("clone")
    text = step(LOAD, 0, 0, 0)
    for number in [*numbers.values(), *SHARED_NUMBERS.values()]:
        text += step(EQUAL, 0, 1, number) + step(ANSWER, 0, 0, REFUSE)
    # The C library falls back to `clone`, whose flags a filter can see.
    text += step(EQUAL, 0, 1, CLONE3) + step(ANSWER, 0, 0, UNKNOWN)
    text += step(EQUAL, 0, 3, clone) + step(LOAD, 0, 0, 16)
    text += step(ANY_BIT, 0, 1, NEW_NAMESPACES) + step(ANSWER, 0, 0, REFUSE)
    return text + step(ANSWER, 0, 0, ALLOW)


def main() -> None:
    start(program(), sys.argv[1:])


if __name__ == "__main__":
    main()

"""Starts a program under a seccomp profile as Docker reads it.

profile.py PROFILE PROGRAM [ARGUMENT…]: what the profile does not allow answers EPERM. Numbers of
calls come from the headers of this machine; names that it does not know are left out, as Docker
does.
"""

import json
import os
import platform
import re
import sys

from seccomp_filter import ALLOW, ANSWER, EQUAL, LOAD, REFUSE, start, step

HEADERS = {
    "x86_64": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
    "aarch64": ["/usr/include/asm-generic/unistd.h"],
}


def numbers() -> dict[str, int]:
    for header in HEADERS[platform.machine()]:
        if os.path.exists(header):
            with open(header, encoding="utf-8") as file:
                found = re.findall(r"^#define __NR_(\w+)\s+(\d+)$", file.read(), re.MULTILINE)
            return {name: int(number) for name, number in found}
    sys.exit("profile.py: no header with the numbers of calls")


def program(profile: dict) -> bytes:
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO" and profile["defaultErrnoRet"] == 1
    known = numbers()
    text = step(LOAD, 0, 0, 0)
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ALLOW"
        for number in [known[name] for name in rule["names"] if name in known]:
            if not rule["args"]:
                text += step(EQUAL, 0, 1, number) + step(ANSWER, 0, 0, ALLOW)
                continue
            (argument,) = rule["args"]
            assert argument["op"] == "SCMP_CMP_NE"
            text += step(EQUAL, 0, 4, number) + step(LOAD, 0, 0, 16 + 8 * argument["index"])
            text += step(EQUAL, 0, 1, argument["value"]) + step(ANSWER, 0, 0, REFUSE)
            text += step(ANSWER, 0, 0, ALLOW)
    return text + step(ANSWER, 0, 0, REFUSE)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    start(program(profile), sys.argv[2:])


if __name__ == "__main__":
    main()

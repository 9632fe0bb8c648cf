"""Starts a program under a seccomp profile as Docker reads it.

profile.py PROFILE PROGRAM [ARGUMENT…]: what the profile does not allow answers EPERM. Numbers of
calls come from the headers of this machine; names that it does not know are left out, as Docker
does.
"""

import ctypes
import json
import os
import platform
import re
import signal
import struct
import sys

HEADERS = {
    "x86_64": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
    "aarch64": ["/usr/include/asm-generic/unistd.h"],
}
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | 1  # EPERM
LOAD, EQUAL, ANSWER = 0x20, 0x15, 0x06


def step(code: int, yes: int, no: int, value: int) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


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


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = program(json.load(file))
    buffer = ctypes.create_string_buffer(text, len(text))
    wanted = Program(len(text) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privs, seccomp, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privs, 1, 0, 0, 0) or libc.prctl(seccomp, filter_mode, ctypes.byref(wanted)):
        sys.exit(f"profile.py: prctl: {os.strerror(ctypes.get_errno())}")
    # Python ignores these two, and what is ignored is inherited.
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()

"""Starts a program where renames do what those of NFS do.

plain_renames.py PROGRAM [ARGUMENT…]: renameat2(2) answers EINVAL to every flag, as it does on NFSv4.2
(tried with Linux 6.1). A name that must be free and two names that change places are for the program
itself to see to.
"""

import platform
import sys

from seccomp_filter import ALLOW, ANSWER, ANY_BIT, EQUAL, LOAD, start, step

RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
INVALID = 0x00050000 | 22  # EINVAL
# Offset of the fifth argument in the data of a filter.
FLAGS = 16 + 4 * 8


def program() -> bytes:
    text = step(LOAD, 0, 0, 0) + step(EQUAL, 0, 3, RENAMEAT2[platform.machine()])
    text += step(LOAD, 0, 0, FLAGS)
    text += step(ANY_BIT, 0, 1, 0xFFFFFFFF) + step(ANSWER, 0, 0, INVALID)
    return text + step(ANSWER, 0, 0, ALLOW)


def main() -> None:
    start(program(), sys.argv[1:])


if __name__ == "__main__":
    main()

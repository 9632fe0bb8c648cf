#!/usr/bin/env python3
"""Refuses comments that begin with a clause, and sentences that nobody finishes.

A comment or an item's documentation says what something is or does, so its first line begins with a noun
or a verb. Printed are the places that do not hold to that; `--list DIRECTORY` prints those below a
directory with what they are about.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

FIRST = re.compile(r"(What|Who|Whoever|Whether|Where|How|Nothing)\b")
ANYWHERE = re.compile(r"\bnothing where\b", re.IGNORECASE)
MARKS = {
    ".rs": re.compile(r"\s*//[/!]?(?: |$)(.*)"),
    ".py": re.compile(r"\s*(?:#(?: |$)|\"\"\")(.*)"),
    ".sh": re.compile(r"\s*#(?: |$)(.*)"),
    ".toml": re.compile(r"\s*#(?: |$)(.*)"),
    ".js": re.compile(r"\s*(?://|/?\*\*?)(?: |$)(.*)"),
}
LONGEST = 40
"""Words of a sentence in a comment."""

# Bundles of others, and samples.
LEFT_OUT = ("src/http/page/web/lib/", "tests/e2e/comparison/")


def comments(path: Path) -> list[tuple[int, str]]:
    """The comments of a file: the number of the first line, and the text."""
    mark = MARKS[path.suffix]
    found: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = mark.match(line)
        text = match[1].strip() if match else ""
        if text and inside:
            found[-1][1].append(text)
        elif text:
            found.append((number, [text]))
        inside = bool(text)
    return [(number, " ".join(lines)) for number, lines in found]


def faults(path: Path) -> list[tuple[int, str]]:
    """The places in a file that do not hold to the rules, with the reason."""
    found = []
    for number, text in comments(path):
        if FIRST.match(text):
            found.append((number, f"begins with {text.split()[0]}"))
        if ANYWHERE.search(text):
            found.append((number, "says `nothing where`"))
        sentences = re.split(r"(?<=[.:;!?])\s+|\s\|\s", text)
        longest = max((len(sentence.split()) for sentence in sentences), default=0)
        if longest > LONGEST:
            found.append((number, f"has a sentence of {longest} words"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Comments that begin with a clause, and long sentences.")
    parser.add_argument("--list", metavar="DIRECTORY", help="print the places below it, with what follows")
    arguments = parser.parse_args()
    tracked = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    below = arguments.list or ""
    count, status = 0, 0
    for name in filter(None, tracked.split("\0")):
        path = Path(name)
        if path.suffix not in MARKS or name.startswith(LEFT_OUT) or not name.startswith(below) or not path.is_file():
            continue
        places = faults(path)
        count += len(places)
        if not places:
            continue
        status = 1
        lines = path.read_text(encoding="utf-8").splitlines() if arguments.list else []
        for number, reason in places:
            print(f"{name}:{number}: {reason}")
            for line in lines[number - 1 : number + 6]:
                print(f"    {line}")
    print(f"{count} places")
    return status


if __name__ == "__main__":
    sys.exit(main())

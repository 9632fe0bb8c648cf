#!/usr/bin/env python3
"""Holds each part of `src` to the number of code lines in `.ci/budgets.toml`: lines that are not empty, not a
comment, and not of a test. Prints how many each part has, how many files there are, and the length of the
one in the middle.

A part may be larger than its budget by what `raised` says, each with its reason; as soon as it needs less
of that, `raised` has to say so.
"""

import pathlib
import statistics
import sys
import tomllib

from rust_source import blanked, of_tests

#: Lines by which a part may be smaller than what it is allowed, before `raised` has to follow.
SLACK = 100


def code_lines(file):
    """Lines of code in a file."""
    if file.name == "tests.rs" or "tests" in file.parts:
        return 0
    text = file.read_text()
    lines = [bool(line.strip()) and not line.strip().startswith("//") for line in text.split("\n")]
    plain = blanked(text)
    for begin, end in of_tests(plain):
        first = plain.count("\n", 0, begin)
        for number in range(first, first + plain.count("\n", begin, end) + 1):
            lines[number] = False
    return sum(lines)


budgets = tomllib.loads(pathlib.Path(".ci/budgets.toml").read_text())
files = sorted(pathlib.Path("src").rglob("*.rs"))
counted = {file: code_lines(file) for file in files}
failed = []


def limit(name, number, budget):
    """Compares a number with its budget."""
    raised = budget.get("raised", [])
    most = budget["most"] + sum(each["by"] for each in raised)
    print(f"{name}: {number} of {most}" + (f", raised from {budget['most']}" if raised else ""))
    if number > most:
        failed.append(f"{name}: {number} is more than {most}: make it smaller, or add a line to `raised`")
    elif raised and number + SLACK < most:
        failed.append(f"{name}: {number} is far below {most}: lower `by` in `raised`")


rest = dict(counted)
for name, part in budgets["parts"].items():
    of_part = [file for file in rest if any(file.is_relative_to(path) for path in part["paths"])]
    limit(name, sum(rest.pop(file) for file in of_part), part)
limit("files", len(files), budgets["files"])
print("together:", sum(counted.values()), "lines of code")
print("the file in the middle has", statistics.median(file.read_text().count("\n") for file in files), "lines")
failed.extend(f"{file}: belongs to no part" for file in rest)
print("\n".join(failed), end="\n" if failed else "")
sys.exit(bool(failed))

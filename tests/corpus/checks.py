"""The checks of a file: each compares one reading of fileshed with that of the trusted tool."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any, Callable

import ours
import trusted
import values

#: What stands for all of a file that fileshed does not read.
EVERYTHING = 1_000_000

#: Seconds that a check may take.
PATIENCE = 60


@dataclasses.dataclass(frozen=True)
class Check:
    """One reading of a file by both, and what they have not in common: how much, and in words."""

    #: What stands behind the name of the file in the table.
    suffix: str
    theirs: Callable[[Path], Any]
    ours: Callable[[ours.Caller, Path], Any]
    compare: Callable[[Any, Any], tuple[int, str]]


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a check."""

    file: str
    kind: str
    #: Words, cells or files that only one of the two has.
    count: int
    said: str
    #: Why there was nothing to compare with.
    unread: str


class Late(Exception):
    """A check took too long."""


def of(file: Path) -> list[Check]:
    """Returns the checks of a file."""
    kind = file.suffix.lower()
    return next((checks for kinds, checks in _CHECKS.items() if kind in kinds), [])


def run(caller: ours.Caller, name: str, file: Path) -> list[Result]:
    """All checks of a file."""
    signal.signal(signal.SIGALRM, _too_late)
    return [_result(caller, name, file, check) for check in of(file)]


def _result(caller: ours.Caller, name: str, file: Path, check: Check) -> Result:
    count, said, unread = 0, "", ""
    signal.alarm(PATIENCE)
    try:
        expected = check.theirs(file)
    except Exception as failure:  # Every library fails in ways of its own.
        unread = f"{type(failure).__name__}: {str(failure)[:160]}"
    signal.alarm(PATIENCE)
    try:
        seen = check.ours(caller, file)
        if not unread:
            count, said = check.compare(expected, seen)
    except ours.Empty as empty:
        if not unread and expected:
            count, said = EVERYTHING, f"fileshed: {empty}"
    except ours.Refused as refused:
        if not unread:
            count, said = EVERYTHING, f"fileshed: {refused}"
    except (Late, ours.Failed) as failure:
        # Whatever a file is, the answer says so, and soon.
        count, said = EVERYTHING, f"fileshed: {failure}"
    finally:
        signal.alarm(0)
    return Result(name + check.suffix, file.suffix.lower()[1:] + check.suffix, count, said, unread)


def _too_late(*_: object) -> None:
    raise Late(f"no answer in {PATIENCE} s")


def _of_documents(expected: str, seen: str) -> tuple[int, str]:
    return values.difference(values.words(expected), values.words(seen))


def _of_sheets(expected: trusted.Sheets, seen: trusted.Sheets) -> tuple[int, str]:
    count, said = 0, []
    for name in [*expected, *(seen.keys() - expected.keys())]:
        both = expected.get(name, []), seen.get(name, [])
        more, words = values.difference(*map(values.cells, both))
        if not more:
            # The same cells may still stand in other rows.
            more, words = values.difference(*map(values.rows, both))
        count += more
        if more:
            said.append(f"{name}: {words}" if name else words)
    return count, "; ".join(said)


def _of_tables(expected: trusted.Sheets, seen: dict[str, ours.Table]) -> tuple[int, str]:
    return _of_sheets(expected, {name: _with_header(expected.get(name, []), table) for name, table in seen.items()})


def _of_archives(expected: dict[str, bytes], seen: dict[str, bytes]) -> tuple[int, str]:
    return values.difference(_contents(expected), _contents(seen))


def _contents(archive: dict[str, bytes]) -> Counter[str]:
    return Counter(f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in archive.items())


def _filled_sheets(file: Path) -> trusted.Sheets:
    return {name: rows for name, rows in trusted.sheets(file).items() if values.cells(rows)}


def _with_header(rows: list[list[object]], table: ours.Table) -> list[list[object]]:
    """The rows of a table below the header that it was made of, which is one of the first rows."""
    # Columns without a header are numbered, and a number that is a value is none.
    numbered = table.headers == [f"col_{number + 1}" for number in range(len(table.headers))]
    header: list[object] = []
    for row in rows[:30]:
        called = [value for value in row if any(_is_called(column, value) for column in table.headers)]
        header = max(header, [value for value in called if not numbered or not _name(value).isdigit()], key=len)
    return [header, *table.rows]


def _is_called(column: str, value: object) -> bool:
    """Returns True if a column got its name from a cell; of several alike, each but the first has a number."""
    own = _name(value)
    alike = own != "" and re.fullmatch(rf"(col_)?{re.escape(own)}(_\d+)?", _name(column)) is not None
    return alike or values.cell(value) == values.cell(column)


def _name(value: object) -> str:
    return re.sub(r"\W+", "_", values.cell(value)).strip("_").lower()


_CHECKS = {
    (".pdf", ".docx", ".pptx", ".odt", ".odp", ".epub", ".rtf", ".eml"): [
        Check("", trusted.text, ours.Caller.words, _of_documents)
    ],
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"): [
        Check("", trusted.sheets, ours.Caller.sheets, _of_sheets),
        Check(" as tables", _filled_sheets, ours.Caller.tables, _of_tables),
    ],
    (".csv", ".tsv"): [Check("", trusted.table, ours.Caller.table, _of_tables)],
    (".zip",): [Check("", trusted.archive, ours.Caller.archive, _of_archives)],
}

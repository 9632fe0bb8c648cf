"""Table of the costs of flows: calls, failed calls, and tokens of the calls and of their results as the model
reads them (four characters count as one).

FILESHED_WRITE_COSTS=now writes the columns `now` of work.md instead of comparing with them;
FILESHED_WRITE_COSTS=before writes the columns `before`, with an older program in FILESHED_BIN, and a flow
that cannot be finished with it has a `-` there.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Callable

from harness import check

TABLE = Path(__file__).with_name("work.md")

WRITE = os.environ.get("FILESHED_WRITE_COSTS", "")

#: Tokens more than the table has: times and ports are numbers of more or fewer digits.
_DIGITS = 5

_BEFORE, _NOW = slice(0, 3), slice(3, 6)


@dataclasses.dataclass
class Cost:
    calls: int = 0
    failed: int = 0
    characters: int = 0
    #: Reasons of the calls that failed.
    reasons: list[str] = dataclasses.field(default_factory=list)

    def add(self, tool: str, arguments: dict, told: str) -> None:
        """A call, and what the model was told."""
        self.calls += 1
        self.characters += len(tool) + len(json.dumps(arguments, ensure_ascii=False)) + len(told)

    def fail(self, reason: str) -> None:
        self.failed += 1
        self.reasons.append(reason)

    @property
    def tokens(self) -> int:
        return self.characters // 4


def settle(flow: str, play: Callable[[], Cost]) -> None:
    """Plays a flow, and compares its cost with the table, or writes it there."""
    try:
        cost = play()
    except Exception:
        if WRITE != "before":
            raise
        cost = None
    cells = [str(cost.calls), str(cost.failed), str(cost.tokens)] if cost else ["-"] * 3
    print(f"  {flow:20} calls {cells[0]:>3}, failed {cells[1]:>3}, tokens {cells[2]:>6}", flush=True)
    if WRITE:
        _write(flow, cells, cost.reasons if cost else [])
        return
    row = _rows().get(flow)
    check.that(f"{flow} is in {TABLE.name}", row, flow)
    check.equal(f"{flow}: calls and failed calls", cells[:2], row[_NOW][:2])
    check.that(f"{flow}: no more than {row[5]} tokens", cost.tokens <= int(row[5]) + _DIGITS, cost.tokens)
    check.equal(f"{flow}: reasons of failures", _why(cost.reasons), row[6])


def _why(reasons: list[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))


def _rows() -> dict[str, list[str]]:
    lines = [line.strip("|\n").split("|") for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines[2:]}


def _write(flow: str, cells: list[str], reasons: list[str]) -> None:
    rows = _rows()
    row = rows.setdefault(flow, ["-"] * 6 + [""])
    row[_BEFORE if WRITE == "before" else _NOW] = cells
    if WRITE != "before":
        row[6] = _why(reasons)
    text = TABLE.read_text()
    head = text[: text.index("| --- ")]
    rule = f"| --- |{' ---: |' * 6} --- |\n"
    TABLE.write_text(head + rule + "".join(f"| {' | '.join([name, *row])} |\n" for name, row in rows.items()))

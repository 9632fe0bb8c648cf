"""The table of known differences, by cause. It may only shrink."""

from __future__ import annotations

import tomllib
from pathlib import Path

from checks import Result

TABLE = Path(__file__).parent / "differences.toml"


def known() -> dict[str, int]:
    """By the name of a check, how much of it may differ."""
    found: dict[str, int] = {}
    for cause in tomllib.loads(TABLE.read_text())["cause"]:
        for name, count in cause["files"].items():
            if name in found:
                raise ValueError(f"{TABLE.name} lists {name} twice")
            found[name] = count
    return found


def failures(table: dict[str, int], results: list[Result], skipped: set[str]) -> list[str]:
    """Returns the deviations of the results from the table; packages that were skipped are ignored."""
    said = []
    for result in results:
        allowed = table.get(result.file, 0)
        if result.count > allowed:
            said.append(f"DIFFERENT {result.file} = {result.count}, not {allowed}: {result.said[:600]}")
        elif result.count < allowed:
            change = f"write {result.count}" if result.count else "take it out"
            said.append(f"NO LONGER {result.file}: {change} instead of {allowed}")
    checked = {result.file for result in results}
    gone = [name for name in table if name not in checked and name.partition("/")[0] not in skipped]
    return [*said, *(f"NO LONGER {name}: there is no such file" for name in gone)]

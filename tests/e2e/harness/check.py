"""Checks of a scenario. The first one that fails ends the scenario."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

Seen = TypeVar("Seen")

#: Seconds after which whatever is waited for hangs, on a machine that is busy with other things too.
PATIENCE = 300.0


class Failed(Exception):
    """Something did not hold."""


def that(what: str, holds: object, seen: object = "") -> None:
    if not holds:
        raise Failed(f"{what}\n  seen: {str(seen)[:3000]}")


def equal(what: str, seen: object, expected: object) -> None:
    if seen != expected:
        raise Failed(f"{what}\n  seen:     {str(seen)[:2000]}\n  expected: {str(expected)[:2000]}")


def until(what: str | Callable[[], str], look: Callable[[], Seen]) -> Seen:
    """Looks again and again until there is something to see, and gives it back. What is waited for may
    be put into words only where that is needed."""
    end = time.monotonic() + PATIENCE
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > end:
            raise Failed(f"after {PATIENCE:.0f} s still not: {what() if callable(what) else what}")
        time.sleep(0.05)

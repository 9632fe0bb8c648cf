"""Parts of a test program: each says how it went, and none keeps the others from being tried."""

from __future__ import annotations

import time
from typing import Callable

from . import check, install


def attempt(program: str, name: str, part: Callable[[], object]) -> bool:
    """Runs a part; returns True if it succeeds, or is skipped by name because something is missing."""
    begun = time.monotonic()
    try:
        part()
    except install.Missing as missing:
        print(f"SKIP: {program}, {name}: {missing}")
    except check.Failed as failure:
        print(f"FAILED {name}: {failure}")
        return False
    else:
        print(f"ok {name} ({time.monotonic() - begun:.0f} s)", flush=True)
    return True

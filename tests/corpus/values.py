"""Values of cells and words of texts in a form in which two readings can be compared."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(:00)?(\.0+)?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?")
_TIME = re.compile(r"(\d+:\d\d:\d\d)\.\d+")


def cell(value: object) -> str:
    """A value of a cell as one form of it: `2,500.0` and `2500` are the same, and so are a day and its
    midnight. Nothing is the empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, (datetime.date, datetime.time)):
        value = value.isoformat()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = " ".join(unicodedata.normalize("NFC", str(value)).split())
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if _NUMBER.fullmatch(text):
        # The sum makes zero of minus zero.
        return f"{float(text) + 0.0:.10g}"
    for pattern, form in ((_MIDNIGHT, r"\1"), (_MOMENT, r"\1 \2"), (_TIME, r"\1")):
        if pattern.fullmatch(text):
            return pattern.sub(form, text)
    return text


def cells(rows: list[list[object]]) -> Counter[str]:
    """Every value that is something, with its number."""
    found = Counter(cell(value) for row in rows for value in row)
    del found[""]
    return found


def rows(found: list[list[object]]) -> Counter[str]:
    """Every row that has a value, with its number."""
    texts = ("\t".join(text for text in map(cell, row) if text) for row in found)
    return Counter(text for text in texts if text)


def words(text: str) -> Counter[str]:
    """Every word, with its number."""
    return Counter(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text)))


def difference(expected: Counter[str], seen: Counter[str]) -> tuple[int, str]:
    """Returns the number of differences between two readings, and the first of them."""
    missing, more = expected - seen, seen - expected
    parts = []
    for name, counter in (("missing", missing), ("more", more)):
        if counter:
            shown = ", ".join(repr(key[:60]) for key in list(counter)[:6])
            parts.append(f"{name} {counter.total()} of {expected.total()}: {shown}")
    return missing.total() + more.total(), "; ".join(parts)

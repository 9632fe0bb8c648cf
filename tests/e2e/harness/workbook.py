"""An XLSX file as programs read it that share nothing with fileshed: its sheets, their rows, the cells.

A cell is a text, a number (all of one kind), a date (with a time, if it has one), or nothing. No formula is
in it.
"""

from __future__ import annotations

import datetime
import io
from pathlib import Path
from xml.etree import ElementTree

from harness import check, install
from harness.process import Process

Sheet = list[list[object]]

_NAMES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
}


def read_by_openpyxl(content: bytes) -> list[Sheet]:
    import openpyxl

    sheets = openpyxl.load_workbook(io.BytesIO(content))
    return [[[_plain(cell) for cell in row] for row in sheet.iter_rows()] for sheet in sheets]


def _plain(cell) -> object:
    check.that("no formula", cell.data_type != "f", cell.value)
    if isinstance(cell.value, datetime.datetime):
        return _date(cell.value)
    return float(cell.value) if isinstance(cell.value, int) else cell.value


def _date(moment: datetime.datetime) -> datetime.date:
    return moment.date() if moment.time() == datetime.time() else moment


def read_by_libreoffice(content: bytes, directory: Path) -> list[Sheet]:
    """Made into the flat document that has the type of every cell."""
    soffice = install.program("soffice")
    (directory / "read.xlsx").write_bytes(content)
    profile = f"-env:UserInstallation={(directory / 'libreoffice').as_uri()}"
    command = [soffice, profile, "--headless", "--convert-to", "fods", "read.xlsx"]
    process = Process("libreoffice", command, {"HOME": str(directory)}, directory)
    try:
        check.until("LibreOffice is done", lambda: not process.runs())
    finally:
        process.stop()
    made = directory / "read.fods"
    check.that("LibreOffice opens it", made.is_file(), process.last_lines())
    return [_rows(sheet) for sheet in ElementTree.parse(made).iterfind(".//table:table", _NAMES)]


def _rows(sheet: ElementTree.Element) -> Sheet:
    """Without the empty cells and rows to the edge of the sheet."""
    rows = []
    for row in sheet.iterfind(".//table:table-row", _NAMES):
        cells = [_cell(cell) for cell in row.iterfind("table:table-cell", _NAMES)]
        while cells and cells[-1][0] is None:
            cells.pop()
        rows.append([value for value, times in cells for _ in range(times)])
    while rows and not rows[-1]:
        rows.pop()
    width = max(map(len, rows), default=0)
    return [row + [None] * (width - len(row)) for row in rows]


def _cell(cell: ElementTree.Element) -> tuple[object, int]:
    """The value of a cell, and the number of cells side by side that have it."""
    kind, value = _attribute(cell, "office", "value-type"), None
    check.that("no formula", _attribute(cell, "table", "formula") is None, cell.attrib)
    if kind == "string":
        value = "\n".join("".join(line.itertext()) for line in cell.iterfind("text:p", _NAMES))
    elif kind == "date":
        value = _date(datetime.datetime.fromisoformat(_attribute(cell, "office", "date-value")))
    elif kind:
        check.equal("a number", kind, "float")
        value = float(_attribute(cell, "office", "value"))
    return value, int(_attribute(cell, "table", "number-columns-repeated") or 1)


def _attribute(cell: ElementTree.Element, prefix: str, name: str) -> str | None:
    return cell.get(f"{{{_NAMES[prefix]}}}{name}")

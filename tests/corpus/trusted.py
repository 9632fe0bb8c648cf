"""The content of a file as widely trusted tools read it."""

from __future__ import annotations

import codecs
import csv
import email
import email.policy
import io
import itertools
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Iterator

#: Rows of each sheet, by its name.
Sheets = dict[str, list[list[object]]]


class Refused(Exception):
    """The trusted tool cannot read the file."""


def text(file: Path) -> str:
    """The text of a document."""
    kind = file.suffix.lower()
    if kind == ".pdf":
        return _output(["pdftotext", "-enc", "UTF-8", str(file), "-"])
    if kind == ".pptx":
        return "\n".join(_of_presentation(file))
    if kind in (".odt", ".odp"):
        return _of_open_document(file)
    if kind == ".eml":
        return _of_mail(file)
    options = ["--to", "plain", "--wrap", "none", "--track-changes", "all"]
    return _output(["pandoc", "--from", kind[1:], *options, str(file)])


def sheets(file: Path) -> Sheets:
    """The values of a workbook."""
    readers = {".xls": _of_xls, ".xlsb": _of_xlsb, ".ods": _of_ods}
    return readers.get(file.suffix.lower(), _of_xlsx)(file)


def table(file: Path) -> Sheets:
    """The fields of a CSV file, as a sheet without a name."""
    content = _decoded(file.read_bytes())
    try:
        delimiter = csv.Sniffer().sniff(content[:20_000], ",;\t|").delimiter
    except csv.Error:
        delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    csv.field_size_limit(10**8)
    rows = [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if any(row)]
    return {"": rows} if rows else {}


def _decoded(content: bytes) -> str:
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def archive(file: Path) -> dict[str, bytes]:
    """The files of an archive, by their names."""
    try:
        with zipfile.ZipFile(file) as packed:
            return {entry.filename: packed.read(entry) for entry in packed.infolist() if not entry.is_dir()}
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as failure:
        raise Refused(str(failure)) from failure


def _output(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Refused(done.stderr.decode("utf-8", "replace").strip()[:200])
    return done.stdout.decode("utf-8", "replace")


def _of_presentation(file: Path) -> Iterator[str]:
    from pptx import Presentation

    for slide in Presentation(str(file)).slides:
        yield from _of_shapes(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def _of_shapes(shapes: object) -> Iterator[str]:
    for shape in shapes:
        if shape.shape_type is not None and hasattr(shape, "shapes"):
            yield from _of_shapes(shape.shapes)
        elif getattr(shape, "has_table", False) and shape.has_table:
            yield from (cell.text for row in shape.table.rows for cell in row.cells)
        elif shape.has_text_frame:
            yield shape.text_frame.text


def _of_open_document(file: Path) -> str:
    from odf import opendocument, teletype, text as of_text

    body = opendocument.load(str(file)).body
    return "\n".join(
        teletype.extractText(element)
        for kind in (of_text.P, of_text.H)
        for element in body.getElementsByType(kind)
        # The text of what stands in another paragraph, as a note does, is a part of that.
        if not _is_in_paragraph(element)
    )


def _is_in_paragraph(element: object) -> bool:
    parent = element.parentNode
    while parent is not None and getattr(parent, "qname", None) is not None:
        if parent.qname[1] in ("p", "h"):
            return True
        parent = parent.parentNode
    return False


def _of_mail(file: Path) -> str:
    message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    written = re.sub("<[^>]*>", " ", body.get_content()) if body else ""
    return "\n".join([*(str(message[name] or "") for name in ("From", "To", "Cc", "Subject")), written])


def _of_xlsx(file: Path) -> Sheets:
    import openpyxl

    shown, written = (openpyxl.load_workbook(file, read_only=True, data_only=only) for only in (True, False))
    found = {}
    for sheet in shown.worksheets:
        formulas = written[sheet.title]
        # The size of a sheet that a file states may be wrong.
        sheet.reset_dimensions()
        formulas.reset_dimensions()
        # A formula that no program has calculated yet stands for itself.
        found[sheet.title] = [
            [value if value is not None else _formula(formula) for value, formula in itertools.zip_longest(*pair)]
            for pair in zip(sheet.iter_rows(values_only=True), formulas.iter_rows(values_only=True))
        ]
    return found


def _formula(value: object) -> object:
    return getattr(value, "text", value)


def _of_xls(file: Path) -> Sheets:
    import xlrd

    book = xlrd.open_workbook(str(file), logfile=io.StringIO())
    found = {}
    for sheet in book.sheets():
        found[sheet.name] = [[_of_xls_cell(cell, book.datemode) for cell in sheet.row(at)] for at in range(sheet.nrows)]
    return found


def _of_xls_cell(cell: object, mode: int) -> object:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, mode)
        except (ValueError, OverflowError):
            return cell.value
        return moment.time() if cell.value < 1 else moment
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, cell.value)
    return cell.value


def _of_xlsb(file: Path) -> Sheets:
    import pyxlsb

    with pyxlsb.open_workbook(str(file)) as book:
        return {name: [[cell.v for cell in row] for row in book.get_sheet(name).rows()] for name in book.sheets}


def _of_ods(file: Path) -> Sheets:
    from odf import opendocument, table

    document = opendocument.load(str(file))
    found = {}
    for sheet in document.getElementsByType(table.Table):
        found[str(sheet.getAttribute("name"))] = [
            [value for element in row.childNodes for value in _of_ods_cells(element)]
            for row in sheet.getElementsByType(table.TableRow)
            for _ in range(_times(row, "numberrowsrepeated"))
        ]
    return found


def _times(element: object, name: str) -> int:
    # Cells that repeat to the end of the sheet are empty.
    times = int(element.getAttribute(name) or 1)
    return times if times < 1000 else 1


def _of_ods_cells(element: object) -> list[object]:
    from odf import teletype

    # Blanks between cells are no elements.
    if not _called(element).endswith("table-cell"):
        return []
    kind = element.getAttribute("valuetype")
    shown = "\n".join(teletype.extractText(child) for child in element.childNodes if _called(child) == "p")
    values = {
        "float": lambda: element.getAttribute("value"),
        "percentage": lambda: element.getAttribute("value"),
        "currency": lambda: element.getAttribute("value"),
        "date": lambda: element.getAttribute("datevalue"),
        "time": lambda: _duration(element.getAttribute("timevalue")),
        "boolean": lambda: element.getAttribute("booleanvalue"),
    }
    value = values.get(kind, lambda: shown)()
    return [value] * _times(element, "numbercolumnsrepeated")


def _called(element: object) -> str:
    qname = getattr(element, "qname", None)
    return qname[1] if qname else ""


def _duration(value: str) -> str:
    parts = re.fullmatch(r"PT(\d+)H(\d+)M(\d+)([.,]\d+)?S", value or "")
    return f"{int(parts[1]):02}:{int(parts[2]):02}:{int(parts[3]):02}" if parts else value

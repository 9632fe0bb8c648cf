"""Small files of every type that the page has an icon or a preview for."""

from __future__ import annotations

import base64
import io
import json
import math
import random
import re
import sqlite3
import struct
import tempfile
import wave
import zipfile
import zlib
from pathlib import Path

from harness import check, fileshed

MEDIA = Path(__file__).with_name("samples")

#: A word that every text and document has, and no name.
WORD = "Aardvark"

#: A page with nothing on it.
PAPER = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""

#: Names that are hard to lay out.
LONG = {
    f"{'A name of many words that goes on and on ' * 4}.md": f"# {WORD}\n".encode(),
    f"{'n' * 180}.txt": f"{WORD}\n".encode(),
    f"{'长' * 60}.json": f'{{"word": "{WORD}"}}\n'.encode(),
    f"no-extension-{'x' * 150}": f"{WORD}\n".encode(),
}

#: The name of a symbolic link, which no operation makes.
LINK = "link to notes.txt"


def every_type() -> dict[str, bytes]:
    """One file for each extension in the lists of the page, and some without a type."""
    files = {f"sample.{extension}": _of(extension) for extension in sorted(known_extensions())}
    files |= LONG
    files["utf-16.txt"] = f"{WORD} in two bytes each: größer\r\n".encode("utf-16")
    files["latin-1.txt"] = f"{WORD}: größer\n".encode("latin-1")
    files["empty.txt"] = files["empty.bin"] = files["empty.md"] = files["empty.csv"] = b""
    files["unknown.xyz"] = bytes(range(256)) * 4
    files["program.bin"] = b"\x7fELF" + bytes(600)
    files["broken.png"] = b"not a picture"
    files["wide.csv"] = _wide_table()
    files["long lines.py"] = f"text = '{'x' * 4000}'  # {WORD}\n".encode()
    files["long.md"] = (f"# {WORD} {'w' * 300}\n\n" + "| a | b |\n| - | - |\n| " + "c" * 400 + " | d |\n").encode()
    return files


def known_extensions() -> set[str]:
    """The extensions that the page's own lists name."""
    source = fileshed.REPOSITORY / "src" / "http" / "page" / "web"
    kinds = re.search(r"^const KINDS = \[$(.*?)^\];$", (source / "icons.js").read_text(), re.M | re.S)
    module = (source / "shown.js").read_text()
    names = ("DATABASES", "PICTURES", "DOCUMENTS", "WORKBOOKS", "TABLES", "MARKDOWN", "PAGES")
    lists = [re.search(rf"^const {name} = \[(.*?)\];$", module, re.M) for name in names]
    check.that("the lists of extensions are found", kinds and all(lists), (kinds, lists))
    named = re.findall(r'\["\w+", \[(.*?)\]\]', kinds.group(1), re.S)
    words = {word for part in [*named, *(found.group(1) for found in lists)] for word in re.findall(r'"(\w+)"', part)}
    check.that("they are many", len(words) > 60, sorted(words))
    return words


def _of(extension: str) -> bytes:
    """Returns the content of a file of this extension."""
    media = {
        "png": "picture.png", "jpg": "picture.jpg", "jpeg": "picture.jpg", "webp": "picture.webp", "avif": "picture.avif",
        "mp4": "film.mp4", "m4v": "film.mp4", "mov": "film.mp4", "webm": "film.webm", "mkv": "film.webm",
    }
    made = {
        "gif": _gif, "svg": _svg, "bmp": _bitmap, "ico": _icon, "tif": _tiff, "tiff": _tiff, "pdf": lambda: PAPER,
        "docx": _docx, "pptx": _pptx, "xlsx": _xlsx, "odt": _open_document, "ods": _open_sheet, "odp": _open_document,
        "xls": _xlsx, "xlsb": _xlsx, "xlsm": _xlsx, "epub": _book, "zip": _zip,
        "rtf": lambda: f"{{\\rtf1\\ansi {WORD}\\par}}".encode(),
        "eml": lambda: f"From: ada@example.org\r\nSubject: {WORD}\r\n\r\n{WORD}\r\n".encode(), "sqlite": _database, "sqlite3": _database, "db": _database, "csv": lambda: _table(","),
        "tsv": lambda: _table("\t"), "json": lambda: f'{{"word": "{WORD}", "list": [1, 2.5, null, true]}}\n'.encode(),
        "ipynb": _notebook, "md": _markdown, "markdown": _markdown,
        "html": lambda: f"<!doctype html><title>{WORD}</title><p>{WORD}</p>\n".encode(),
        "py": lambda: f"def answer():\n    return 42  # {WORD}\n".encode(),
    }
    sound = {"mp3", "wav", "ogg", "oga", "flac", "m4a", "opus", "aac"}
    binary = {"doc", "tar", "gz", "tgz", "xz", "bz2", "7z", "zst", "avi", "ogv"}
    if extension in media:
        return (MEDIA / media[extension]).read_bytes()
    if extension in made:
        return made[extension]()
    if extension == "mp3":
        # Frames of silence.
        return (b"\xff\xfb\x90\x00" + bytes(413)) * 20
    if extension in sound:
        # Players go by the content.
        return tone()
    if extension in binary:
        return b"\x1f\x8b\x00" + bytes(range(256))
    return f"{WORD}\nsecond line\n".encode()


def photo() -> bytes:
    """A picture of points that nothing makes smaller, of more than 512 KiB."""
    width, height = 600, 400
    points = random.Random(1).randbytes(3 * width * height)
    lines = b"".join(b"\0" + points[at : at + 3 * width] for at in range(0, len(points), 3 * width))
    parts = {b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT": zlib.compress(lines), b"IEND": b""}
    chunks = [struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts.items()]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def tone() -> bytes:
    """A second of a tone."""
    made = io.BytesIO()
    with wave.open(made, "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(128 + int(80 * math.sin(at / 3)) for at in range(8000)))
    return made.getvalue()


def _gif() -> bytes:
    return bytes.fromhex("47494638396101000100800000ff000000000021f90401000000002c00000000010001000002024401003b")


def _svg() -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"><title>{WORD}</title><circle cx="20" cy="15" r="9" fill="teal"/></svg>'.encode()


def _bitmap() -> bytes:
    head = struct.pack("<IiiHHIIiiII", 40, 1, 1, 1, 24, 0, 4, 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 58, 0, 0, 54) + head + b"\x00\x80\xff\x00"


def _icon() -> bytes:
    picture = (MEDIA / "picture.png").read_bytes()
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 64, 48, 0, 0, 1, 32, len(picture), 22) + picture


def _tiff() -> bytes:
    return b"II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00"


def _zip(parts: dict[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in (parts or {"notes.txt": WORD, "deep/er/page.md": "# Page\n"}).items():
            archive.writestr(name, content)
    return made.getvalue()


_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def _docx() -> bytes:
    body = f"<w:body><w:p><w:r><w:t>{WORD}</w:t></w:r></w:p></w:body>"
    return _zip({"word/document.xml": f'<w:document xmlns:w="{_WORDS}">{body}</w:document>'})


def _pptx() -> bytes:
    slide = f'<p:sld xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}"><a:p><a:r><a:t>{WORD}</a:t></a:r></a:p></p:sld>'
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    shown = '<p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>'
    return _zip({
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r" Type="{_RELATIONS}/officeDocument" Target="ppt/presentation.xml"/></Relationships>',
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{_SLIDES}" xmlns:r="{_RELATIONS}">{shown}</p:presentation>',
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{_RELATIONS}/slide" Target="slides/slide1.xml"/></Relationships>',
        "ppt/slides/slide1.xml": slide,
    })


def _book() -> bytes:
    container = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    package = '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>'
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/></head><body><p>{WORD}</p></body></html>'
    return _zip({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "b.opf": package, "a.xhtml": page})


def _xlsx() -> bytes:
    return workbook({"One": [[WORD]]})


def workbook(sheets: dict[str, list[list[str | int]]]) -> bytes:
    """A workbook with these rows."""
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    numbers = range(1, len(sheets) + 1)
    named = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in zip(numbers, sheets))
    related = "".join(f'<Relationship Id="rId{at}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{at}.xml"/>' for at in numbers)
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}">{related}</Relationships>',
    }
    for at, rows in zip(numbers, sheets.values()):
        lines = "".join(f'<row r="{row}">{"".join(_cell(row, column, value) for column, value in enumerate(cells))}</row>' for row, cells in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{_SHEETS}"><sheetData>{lines}</sheetData></worksheet>'
    return _zip(parts)


def _cell(row: int, column: int, value: str | int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


def letter() -> bytes:
    """A text of Word with a heading, a list and a table."""
    def paragraph(text: str, style: str = "") -> str:
        properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"

    rows = "".join(f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>" for row in (("Month", "Sum"), ("May", "12")))
    body = f"{paragraph('Report', 'Heading1')}{paragraph('It was a good year.')}<w:tbl>{rows}</w:tbl>"
    return _zip({"word/document.xml": f'<w:document xmlns:w="{_WORDS}"><w:body>{body}</w:body></w:document>'})


def notebook() -> bytes:
    """A notebook with text, code, and three kinds of outputs."""
    picture = base64.b64encode((MEDIA / "picture.png").read_bytes()).decode()
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["printed\n"]},
        {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "a plot"}},
        {"output_type": "display_data", "data": {"text/html": "<table style='color: red'><tr><td>framed</td></tr></table><script>document.title = 'run'</script>"}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Analysis\n", "\n", "with $\\alpha$"]},
        {"cell_type": "code", "execution_count": 7, "source": ["plot()"], "outputs": outputs},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _open_document() -> bytes:
    body = f"<office:body><office:text><text:p>{WORD}</text:p></office:text></office:body>"
    content = f'<office:document-content xmlns:office="{_OFFICE}" xmlns:text="{_TEXT}">{body}</office:document-content>'
    return _zip({"content.xml": content})


def _open_sheet() -> bytes:
    table = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    cell = f'<table:table-cell office:value-type="string"><text:p>{WORD}</text:p></table:table-cell>'
    rows = f'<table:table table:name="One"><table:table-row>{cell}</table:table-row></table:table>'
    body = f"<office:body><office:spreadsheet>{rows}</office:spreadsheet></office:body>"
    content = f'<office:document-content xmlns:office="{_OFFICE}" xmlns:text="{_TEXT}" xmlns:table="{table}">{body}</office:document-content>'
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def _database() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "made.sqlite"
        database = sqlite3.connect(file)
        database.execute("CREATE TABLE animals (name TEXT, legs INTEGER)")
        database.execute("INSERT INTO animals VALUES (?, 4)", (WORD,))
        database.commit()
        database.close()
        return file.read_bytes()


def _table(mark: str) -> bytes:
    return f"animal{mark}legs\n{WORD}{mark}4\n".encode()


def _wide_table() -> bytes:
    """Many columns, and a cell that is longer than the window."""
    head = ",".join(f"column {number}" for number in range(60))
    return f"{head}\n{WORD},{'long ' * 200}{',x' * 58}\n".encode()


def _notebook() -> bytes:
    return f'{{"cells": [{{"cell_type": "markdown", "source": ["# {WORD}"]}}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}\n'.encode()


def _markdown() -> bytes:
    picture = "![a picture](sample.png)"
    return f"# {WORD}\n\n{picture}\n\n- one\n- [two](sample.txt)\n\n```py\nprint({'1 + ' * 200}1)\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n".encode()

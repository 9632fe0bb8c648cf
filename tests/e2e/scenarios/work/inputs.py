"""Files that people bring, made here."""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
import zlib
from xml.sax.saxutils import escape

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "application/vnd.openxmlformats-officedocument"


def archive(files: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return packed.getvalue()


def docx(*paragraphs: str) -> bytes:
    """The least that a word processor opens."""
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    return archive(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_OFFICE}.wordprocessingml.document.main+xml"/>'
            "</Types>",
            "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
            'officeDocument/2006/relationships/officeDocument"/></Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def docx_text(content: bytes) -> str:
    """The text of any such file, without its form."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return re.sub(r"<[^>]+>", "", opened.read("word/document.xml").decode())


def pdf(*pages: str) -> bytes:
    """A text a page, in a stream that is compressed as programs do it."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    streams: dict[int, bytes] = {}
    kids = []
    for page in pages:
        lines = textwrap.wrap(page, 80)
        drawn = "".join(f"({line}) Tj T* " for line in lines)
        stream = len(objects) + 1
        streams[stream] = zlib.compress(f"BT /F1 11 Tf 14 TL 40 780 Td {drawn}ET".encode("latin-1"))
        objects.append(f"<</Length {len(streams[stream])}/Filter/FlateDecode>>")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {stream} 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    written, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(written))
        stream = b"stream\n" + streams[number] + b"\nendstream\n" if number in streams else b""
        written += f"{number} 0 obj{text}".encode() + stream + b"endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(written)}\n%%EOF\n"
    return written + (head + tail).encode()


def photo(width: int, height: int, kind: str = "JPEG") -> bytes:
    """A picture of many colours."""
    from PIL import Image

    red, green = Image.linear_gradient("L"), Image.radial_gradient("L")
    picture = Image.merge("RGB", (red, green, red.rotate(90))).resize((width, height))
    saved = io.BytesIO()
    picture.save(saved, kind, quality=90)
    return saved.getvalue()


def scan(text: str) -> bytes:
    """A PDF whose only page is a picture of a text."""
    import img2pdf
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", (1240, 1754), 255)
    font = ImageFont.truetype("DejaVuSans.ttf", 40)
    ImageDraw.Draw(page).multiline_text((120, 150), text, fill=0, font=font, spacing=24)
    saved = io.BytesIO()
    page.save(saved, "PNG")
    return img2pdf.convert(saved.getvalue())


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()

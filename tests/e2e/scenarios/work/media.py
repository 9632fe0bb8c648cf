"""Pictures, reports with pictures, and a paper that was scanned."""

from __future__ import annotations

import io
import re
import zipfile

from harness import check
from scenarios.work import inputs
from scenarios.work.driver import Chat, Flow, Work, execute, use


def pictures(work: Work) -> Flow:
    """A photo cropped, resized, labelled, converted, and shown."""
    yield Chat(work.ada, {"photo.jpg": inputs.photo(1600, 1200)})
    seen = yield execute("uploads", "identify", "photo.jpg")
    check.that("its size is told", "1600x1200" in seen.text, seen.text)
    yield use("move_uploads_to_storage", src="photo.jpg", dest="photo.jpg")
    crop = ["-crop", "800x600+100+100", "+repage", "-resize", "400x300"]
    yield execute("storage", "convert", "photo.jpg", *crop, "small.jpg")
    yield execute("storage", "convert", "small.jpg", "small.webp")
    label = ["small.jpg", "-gravity", "south", "-pointsize", "24", "-annotate", "+0+10", "Größe: schön", "label.png"]
    yield execute("storage", "convert", *label).refused("no font is found without -font")
    yield execute("storage", "convert", *label[:1], "-font", "DejaVu-Sans", *label[1:])
    yield execute("storage", "convert", "small.jpg", "small.pdf").fails("img2pdf makes the PDF")
    sizes = {}
    kinds = {"small.jpg": b"\xff\xd8", "small.webp": b"RIFF", "label.png": b"\x89PNG", "small.pdf": b"%PDF"}
    for name, begin in kinds.items():
        link = yield use("link_create", zone="storage", path=name)
        content = work.opened(link)
        check.that(f"{name} is one", content.startswith(begin), content[:20])
        check.that(f"{name} is shown", link.data["attached"], link.text)
        sizes[name] = _size(content) if name != "small.pdf" else None
    check.equal("the sizes", [sizes["small.jpg"], sizes["small.webp"], sizes["label.png"]], [(400, 300)] * 3)
    yield use("convert", zone="storage", path="small.jpg", to="png").fails("shed_convert is for documents")


def _size(content: bytes) -> tuple[int, int]:
    from PIL import Image

    return Image.open(io.BytesIO(content)).size


_CHART = """<svg xmlns="http://www.w3.org/2000/svg" width="240" height="120">
<rect x="20" y="40" width="60" height="80" fill="teal"/><text x="20" y="30">Größe</text>
</svg>
"""


def charts_and_reports(work: Work) -> Flow:
    """A chart as SVG, and a report with a table and a picture in four formats."""
    yield Chat(work.ada, {"curve.png": inputs.photo(300, 200, "PNG")})
    yield use("create_file", zone="storage", path="chart.svg", content=_CHART)
    link = yield use("link_create", zone="storage", path="chart.svg")
    check.that("it is shown", link.data["attached"], link.text)
    check.equal("as it is", work.opened(link).decode(), _CHART)
    drawn = ["-size", "240x120", "xc:white", "-fill", "teal", "-draw", "rectangle 20,40 80,120", "chart.png"]
    yield execute("storage", "convert", *drawn)
    link = yield use("link_create", zone="storage", path="chart.png")
    check.equal("as a picture, too", _size(work.opened(link)), (240, 120))
    yield use("move_uploads_to_storage", src="curve.png", dest="curve.png")
    text = "# Report\n\n| region | total |\n| --- | ---: |\n| Süd | 42 |\n\n![Curve](curve.png)\n"
    yield use("create_file", zone="storage", path="report.md", content=text)
    for form, part in (("docx", "word/media/"), ("pptx", "ppt/media/"), ("pdf", ""), ("html", "")):
        made = yield use("convert", zone="storage", path="report.md", to=form)
        link = yield use("link_create", zone="storage", path=made.data["path"])
        content = work.opened(link)
        if part:
            with zipfile.ZipFile(io.BytesIO(content)) as opened:
                pictures = [name for name in opened.namelist() if name.startswith(part)]
            check.that(f"the picture is in the {form}", pictures, form)
        elif form == "pdf":
            check.that("a PDF with a picture", content.startswith(b"%PDF") and b"/Image" in content, content[:20])
        else:
            page = content.decode()
            check.that("the page has the table", re.search(r"<td[^>]*>Süd</td>", page), page[-500:])
            check.that("and the picture", "<img" in page, page[-500:])


def scan(work: Work) -> Flow:
    """A PDF that is a picture: recognised, and seen."""
    chat = yield Chat(work.ada, {"invoice.pdf": inputs.scan("Invoice 4711\nTotal 1234 Euro\nDue on 12 May 2026")})
    told = yield use("read", zone="uploads", path="invoice.pdf")
    check.that("it is recognised", "4711" in told.text and "1234" in told.text, told.text)
    yield use("read", zone="uploads", path="invoice.pdf", page=1)
    other = execute("uploads", "tesseract", "invoice.pdf", "-")
    yield other.fails("shed_read recognises by itself; the flow thinks of the program")
    yield Chat(work.ada)
    check.that("the page was seen", "image_url" in str(chat.answer.script.requests[-1]["messages"]), "no picture")

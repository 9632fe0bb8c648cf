"""People in an office: an accountant, a lawyer, a teacher, a researcher."""

from __future__ import annotations

import re

from harness import check, web, workbook
from scenarios.work import inputs
from scenarios.work.driver import Chat, Flow, Work, execute, use

#: What each month sold: the customer, and cents.
_SALES = [("Nord & Co", 129950), ("Café Süd", 84010), ("Weiß GmbH", 250000), ("Nord & Co", 70550), ("Café Süd", 15990)]
_CUSTOMERS = {"Nord & Co": ("north", 10), "Café Süd": ("south", 0), "Weiß GmbH": ("north", 5)}


def accountant(work: Work) -> Flow:
    """Three months in three formats and a workbook of two sheets become a report."""
    files = {"january.csv": _month(1, ";", ",", "cp1252"), "february.csv": _month(2, ",", ".", "utf-8-sig")}
    files["march.csv"] = _month(3, "\t", ",", "utf-16")
    customers = [["customer", "region", "discount"], *([name, *known] for name, known in _CUSTOMERS.items())]
    targets = [["region", "target"], ["north", 12000], ["south", 4000]]
    files["master.xlsx"] = inputs.workbook({"customers": customers, "targets": targets})
    yield Chat(work.ada, files)
    look = yield use("read", zone="uploads", path="march.csv", limit=3)
    check.that("the table is readable", "Weiß" in look.text or "Café" in look.text, look.text)
    database = {"zone": "storage", "path": "books.db"}
    for name in ("january.csv", "february.csv", "march.csv"):
        yield use("sqlite", **database, import_csv=name, table="sales", if_exists="append", date_columns=["date"])
    yield use("sqlite", **database, import_csv="master.xlsx")
    totals = (
        "SELECT c.region, round(sum(s.amount * (100 - c.discount) / 100.0), 2) AS total, t.target FROM sales s "
        "JOIN customers c ON c.customer = s.customer JOIN targets t ON t.region = c.region "
        "GROUP BY c.region ORDER BY c.region"
    )
    told = yield use("sqlite", **database, query=totals)
    expected = _totals()
    rows = "".join(f"{region},{expected[region]},{target}\n" for region, target in targets[1:])
    check.that("totals by region", rows in told.data["rows"] + "\n", told.text)
    yield use("sqlite", **database, query=totals, output_csv="report.xlsx")
    text = f"# Sales\n\nNorth: {expected['north']}, south: {expected['south']}\n"
    yield use("create_file", zone="storage", path="report.md", content=text)
    link = yield use("link_create", zone="storage", path="report.xlsx")
    [sheet] = workbook.read_by_openpyxl(work.opened(link))
    check.equal("the workbook", sheet[1], ["north", expected["north"], 12000.0])
    link = yield use("link_create", zone="storage", path="report.md")
    check.equal("the text", work.opened(link).decode(), text)


def _month(month: int, delimiter: str, decimal: str, encoding: str) -> bytes:
    quote = '"' if delimiter == decimal else ""
    lines = [delimiter.join(["date", "customer", "amount"])]
    for number, (customer, cents) in enumerate(_SALES):
        amount = f"{(cents + month * 100) / 100:.2f}".replace(".", decimal)
        lines.append(delimiter.join([f"2026-0{month}-1{number}", customer, f"{quote}{amount}{quote}"]))
    return ("\r\n".join(lines) + "\r\n").encode(encoding)


def _totals() -> dict[str, float]:
    totals = {"north": 0, "south": 0}
    for month in (1, 2, 3):
        for customer, cents in _SALES:
            region, discount = _CUSTOMERS[customer]
            totals[region] += (cents + month * 100) * (100 - discount)
    return {region: round(total / 10000, 2) for region, total in totals.items()}


_CLAUSES = [
    "1. Parties. Acme Ltd and Miller & Söhne.",
    "2. Term. The agreement runs for two years.",
    "3. Payment. Invoices are due within 30 days.",
    "4. Liability. Liability is limited to the fees paid.",
]
_CHANGED = [clause.replace("two years", "five years").replace("30 days", "14 days") for clause in _CLAUSES]
_CHANGED.append("5. Notice. Notice is given in writing.")


def lawyer(work: Work) -> Flow:
    """The changes in a contract are listed, both versions are kept, and a marked copy comes back; later the
    first one."""
    first, second = inputs.docx(*_CLAUSES), inputs.docx(*_CHANGED)
    yield Chat(work.ada, {"contract-v1.docx": first, "contract-v2.docx": second})
    told = yield use("diff", zone="uploads", path="contract-v1.docx", to_path="contract-v2.docx")
    for clause in ("five years", "14 days", "in writing"):
        check.that("every change is told", re.search(rf"\+[^\n]*{clause}", told.data["diff"]), told.text)
    check.that("and nothing else", "+4. Liability" not in told.data["diff"], told.text)
    kept = {"dest": "contracts/miller.docx", "message": "First draft"}
    yield use("move_uploads_to_documents", src="contract-v1.docx", **kept)
    kept = {**kept, "message": "Second draft", "overwrite": True}
    yield use("move_uploads_to_documents", src="contract-v2.docx", **kept)
    lines = [f"~~{old}~~ **{new}**" if old != new else new for old, new in zip(_CLAUSES, _CHANGED)]
    marked = "\n\n".join([*lines, f"**{_CHANGED[4]}**"]) + "\n"
    yield use("create_file", zone="storage", path="marked.md", content=marked)
    yield use("convert", zone="storage", path="marked.md", to="docx")
    link = yield use("link_create", zone="storage", path="marked.docx")
    text = inputs.docx_text(work.opened(link))
    check.that("the copy has both", "two years" in text and "five years" in text, text)
    yield Chat(work.ada)
    path = "contracts/miller.docx"
    log = yield execute("documents", "git", "log", "--oneline", "--", path)
    check.that("both are versions of one file", "First draft" in log.text and "Second draft" in log.text, log.text)
    commit = re.search(r"(\w+) First draft", log.data["stdout"]).group(1)
    yield execute("documents", "git", "show", f"{commit}:{path}", stdout_file="contracts/miller-first.docx")
    link = yield use("link_create", zone="documents", path="contracts/miller-first.docx")
    check.that("the first version, to the last bit", work.opened(link) == first)


def teacher(work: Work) -> Flow:
    """Slides for a class that nobody there changes, work handed in, and taken out to be marked."""
    group, slides = {"group": "Class"}, inputs.archive({"ppt/presentation.xml": "<slides/>"})
    yield Chat(work.ada, {"slides.pptx": slides, "template.md": b"# Name\n\n# Answer\n"})
    for name in ("slides.pptx", "template.md"):
        yield use("copy_to_group", src_zone="uploads", src_path=name, **group, dest_path=name, mode="owner")
    sent = yield use("link_create", zone="group", **group, path="submissions", upload=True)
    _hand_in(work, sent.text, "carol.md", b"Carol: 42\n")
    yield Chat(work.bob)
    read = yield execute("group", "cat", "template.md", **group)
    check.that("a member reads it", "# Answer" in read.text, read.text)
    change = use("patch_text", zone="group", **group, path="template.md", find="# Answer", content="# My answer")
    yield change.fails("a member tries to change what only its owner may")
    paper = {"zone": "group", **group, "path": "submissions/bob.md"}
    yield use("create_file", **paper, content="# Bob\n\n41\n")
    yield Chat(work.ada)
    info = yield use("group_info", **group)
    check.that("all is there", "carol.md" in info.text and "bob.md" in info.text, info.text)
    yield use("copy", **{"from": "group/Class/submissions", "to": "storage/marking"})
    yield use("patch_text", zone="storage", path="marking/bob.md", content="Mark: B\n")
    marked = yield use("read", zone="storage", path="marking/bob.md", paths=["marking/carol.md"])
    check.that("they are marked", "Mark: B" in marked.text and "Carol: 42" in marked.text, marked.text)
    back = {"from": "storage/marking/bob.md", "to": "group/Class/marked/bob.md"}
    yield use("copy", **back)
    yield Chat(work.bob)
    read = yield execute("group", "cat", "marked/bob.md", **group)
    check.that("and the pupil reads that", "Mark: B" in read.text, read.text)


def _hand_in(work: Work, told: str, name: str, content: bytes) -> None:
    """As somebody without an account sends a file to a link."""
    address = re.search(r"\]\((http[^)\s]+)\)", told)
    check.that("there is a link to send files to", address, told)
    sent = web.request("POST", address.group(1), file=(name, content, "text/plain"))
    check.that("the file is taken", sent.status in (200, 201), f"{sent.status} {sent.text[:300]}")


_WORD = "lichen"


def researcher(work: Work) -> Flow:
    """Thirty papers: which mention a word, where, and a table of all."""
    papers = {f"paper-{number:02}.pdf": _paper(number) for number in range(1, 31)}
    yield Chat(work.ada, papers)
    search = execute("uploads", "grep", "-rn", "-i", _WORD, ".")
    told = yield search.fails("grep reads bytes, no text of documents: the note reads them")
    pages, name, page = {}, "", 0
    for line in told.data["content"].splitlines():
        if head := re.search(r"==> (\S+) <==", line):
            name = head.group(1)
        elif head := re.search(r"--- Page (\d+) ---", line):
            page = int(head.group(1))
        elif _WORD in line:
            pages[name] = page
    expected = {f"paper-{number:02}.pdf": number % 3 + 1 for number in range(3, 31, 7)}
    check.equal("the papers and pages", pages, expected)
    table = "paper,page\n" + "".join(f"{name},{page}\n" for name, page in pages.items())
    yield use("create_file", zone="storage", path="lichen.csv", content=table)
    link = yield use("link_create", zone="storage", path="lichen.csv")
    check.equal("the table", work.opened(link).decode(), table)


def _paper(number: int) -> bytes:
    pages = [f"Paper {number}, page {page}. Growth was measured in plot {number * page}." for page in (1, 2, 3)]
    if number % 7 == 3:
        pages[number % 3] += f" The {_WORD} covered {number} percent of the rock in autumn."
    return inputs.pdf(*pages)

"""Three tables of one kind in three encodings and a workbook of two sheets become one workbook, in the
fewest calls.

It is opened by two programs that share nothing with fileshed, and every cell is compared with what is
computed here.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from decimal import Decimal
from typing import Iterator
from urllib.parse import urljoin

from harness import check, install, web, workbook
from harness.chat import Answer, Result, attachment
from harness.world import World
from scenarios import costs
from scenarios.flows import Play

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

#: Each file with its encoding, what separates its fields, and the marks of decimals and thousands.
MONTHS = [
    ("Januar.csv", "utf-8-sig", ";", ",."),
    ("Februar.csv", "cp1252", ",", ".,"),
    ("März.csv", "utf-16", "\t", ",."),
]
#: The customers of each month.
FIRMS = [
    ["Müller & Söhne", "東京商店", "Łódź Handel"],
    ["Müller & Söhne", "Café „Größe“ – Zürich", "=Sonne+Mond", 'O’Brien, "Sons"; Ltd'],
    ["東京商店", "Αθήνα ΑΕ", "Łódź Handel"],
]
#: The workbook knows most of them.
CUSTOMERS = {
    "Müller & Söhne": ("Köln", Decimal("0.05"), datetime.date(2019, 2, 28)),
    "東京商店": ("東京", Decimal("0.1"), datetime.date(2024, 2, 29)),
    "Łódź Handel": ("Łódź", Decimal(0), datetime.date(1999, 12, 31)),
    "Café „Größe“ – Zürich": ("Zürich", Decimal("0.15"), datetime.date(2020, 10, 1)),
    'O’Brien, "Sons"; Ltd': ("Dublin", Decimal("0.05"), datetime.date(2025, 5, 4)),
}
#: Numbers that are none.
ARTICLES = {"00017": "Füller", "0018": "Heft A4", "1e5": "Naßklebe-\nstreifen"}

HEADER = ["Firma", "Stadt", "Kunde seit", "Art.-Nr.", "Artikel", "Menge", "Summe", "zuletzt"]
QUERY = """SELECT b.Firma, k.Stadt, k.Seit AS "Kunde seit", a.Nummer AS "Art.-Nr.", a.Artikel, \
sum(b.Menge) AS Menge, \
round(sum(b.Menge * b.Stückpreis * (1 - coalesce(k.Rabatt, 0))), 2) AS Summe, max(b.Datum) AS zuletzt \
FROM bestellungen b JOIN Artikel a ON a.Nummer = b.Art_Nr LEFT JOIN Kundschaft k ON k.Firma = b.Firma \
GROUP BY b.Firma, a.Nummer ORDER BY b.Firma, a.Nummer"""


def run(world: World) -> None:
    try:
        import openpyxl
    except ImportError:
        print("SKIP: Open WebUI, report: openpyxl is not installed", flush=True)
        return
    with world.connected("session", short=True, openwebui_api_url=world.webui.url):
        play = Play(world, "all")
        report = _followed(world, _asked(play, openpyxl.Workbook()))
    costs.settle("report", lambda: play.cost)
    expected = [HEADER, *_expected()]
    _compare("openpyxl", workbook.read_by_openpyxl(report), expected)
    try:
        _compare("LibreOffice", workbook.read_by_libreoffice(report, world.directory), expected)
    except install.Missing as missing:
        print(f"SKIP: Open WebUI, report in LibreOffice: {missing}", flush=True)


def _asked(play: Play, book) -> Answer:
    """Every file becomes a table, one statement asks them all, and the answer has the link."""
    database = {"zone": "storage", "path": "bestellungen.db"}
    table = {"table": "bestellungen", "if_exists": "append", "date_columns": ["Datum"]}
    imports = [{"import_csv": name, **table} for name, *_ in MONTHS] + [{"import_csv": "Stammdaten.xlsx"}]
    who, upload = play.world.webui.ada, play.world.webui.upload
    files = [upload(who, name, content, "text/csv") for name, content in _tables()]
    return play.answer(
        who,
        *(("shed_sqlite", {**database, **each}) for each in imports),
        ("shed_sqlite", {**database, "query": QUERY, "output_csv": "Bericht.xlsx"}),
        ("shed_link_create", {"zone": "storage", "path": "Bericht.xlsx"}),
        question="Mach aus diesen Tabellen bitte einen Bericht.",
        files=[attachment(file) for file in [*files, upload(who, "Stammdaten.xlsx", _master(book), WORKBOOK)]],
        final=lambda results: f"Der Bericht: {Result(results[-1]).data['clickable_link']}",
    )


def _orders() -> Iterator[tuple[int, datetime.date, str, str, int, Decimal]]:
    """The month, the day, the firm, the article, the number of pieces (below none if sent back), the price."""
    for month, firms in enumerate(FIRMS):
        for number in range(40):
            day = datetime.date(2026, month + 1, 1 + number * 11 % 28)
            article = list(ARTICLES)[number // 4 % 3]
            # A discount of any customer leaves whole cents.
            price = Decimal(20 * (1 + number * number * 7 % 9973)) / 100
            yield month, day, firms[number % len(firms)], article, number % 9 - 1, price


def _tables() -> Iterator[tuple[str, bytes]]:
    for month, (name, encoding, delimiter, marks) in enumerate(MONTHS):
        text = io.StringIO()
        written = csv.writer(text, delimiter=delimiter)
        written.writerow(["Datum", "Firma", "Art.-Nr.", "Menge", "Stückpreis"])
        for at, day, firm, article, count, price in _orders():
            if at == month:
                amount = f"{price:,.2f}".translate(str.maketrans(".,", marks))
                written.writerow([f"{day:%d.%m.%Y}", firm, article, count, amount])
        yield name, text.getvalue().encode(encoding)


def _master(book) -> bytes:
    """The workbook, with real dates and percentages."""
    articles, customers = book.active, book.create_sheet("Kundschaft")
    articles.title = "Artikel"
    for row in [("Nummer", "Artikel"), *ARTICLES.items()]:
        articles.append(row)
    customers.append(["Firma", "Stadt", "Rabatt", "Seit"])
    for row, (firm, known) in enumerate(CUSTOMERS.items(), 2):
        customers.append([firm, *known])
        customers.cell(row, 3).number_format = "0%"
        customers.cell(row, 4).number_format = "DD.MM.YYYY"
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def _expected() -> Iterator[list[object]]:
    grouped: dict[tuple[str, str], list[tuple[datetime.date, int, Decimal]]] = {}
    for _, day, firm, article, count, price in _orders():
        grouped.setdefault((firm, article), []).append((day, count, price))
    for (firm, article), orders in sorted(grouped.items()):
        city, discount, since = CUSTOMERS.get(firm, (None, 0, None))
        total = sum(count * price for _, count, price in orders) * (1 - discount)
        count, latest = sum(order[1] for order in orders), max(order[0] for order in orders)
        yield [firm, city, since, article, ARTICLES[article], float(count), float(total), latest]


def _followed(world: World, answer: Answer) -> bytes:
    """The file that the browser gets from a click on the link of the answer, with its cookie alone."""
    said = answer.message["content"]
    link = re.search(r"\]\(([^)]+)\)", said)
    check.that("the answer has a link", link, said)
    address = urljoin(f"{world.webui.url}/c/{answer.chat}", link.group(1))
    opened = web.request("GET", address, headers={"Cookie": f"token={world.webui.ada.token}"})
    check.equal("it opens", opened.status, 200)
    check.equal("as a workbook", opened.headers["content-type"], WORKBOOK)
    check.that("of its name", "Bericht.xlsx" in opened.headers["content-disposition"], opened.headers)
    check.equal("which the answer shows", [file["name"] for file in answer.message["files"]], ["Bericht.xlsx"])
    return opened.body


def _compare(program: str, sheets: list[list[list[object]]], expected: list[list[object]]) -> None:
    check.equal(f"{program}: sheets", len(sheets), 1)
    [seen] = sheets
    check.equal(f"{program}: rows", len(seen), len(expected))
    for row, wanted in zip(seen, expected):
        check.equal(f"{program}: {wanted[0]}, {wanted[3]}", row, wanted)

"""Names and headers of many languages, and the names of parameters that other tools have."""

from __future__ import annotations

from harness import check
from scenarios.work.driver import Chat, Flow, Use, Work, execute, use


def names(work: Work) -> Flow:
    """Names with umlauts, Japanese, quotes, `#`, `%` and blanks; text in Latin-1; guesses of names."""
    size, quote, plan = "Größe # 100%.txt", "見積もり 新.csv", "it's a plan.md"
    files = {size: "Größe: 42 µm\n".encode("latin-1"), quote: "品名,数\nペン,3\n".encode("utf-16"), plan: b"# Plan\n"}
    yield Chat(work.ada, files)
    tree = yield use("tree", zone="uploads")
    for name in files:
        check.that(f"{name} is there", name in tree.text, tree.text)
    read = yield use("read", zone="uploads", path=size)
    check.that("Latin-1 is read", "Größe: 42 µm" in read.text, read.text)
    read = yield use("read", zone="uploads", path=quote)
    check.that("UTF-16 is read", "ペン,3" in read.text, read.text)
    guess = use("read", zone="uploads", path="Groesse # 100%.txt")
    yield guess.fails("the model writes ö as oe")
    yield execute("storage", "mkdir", "-p", "Überblick/日本 語")
    yield use("copy", **{"from": f"uploads/{size}", "to": "storage/Überblick/日本 語/"})
    guess = use("read", zone="storage", path=f"Uberblick/日本 語/{size}")
    read = yield guess.fails("the model writes Ü as U")
    check.that("it is found", "42" in read.text, read.text)
    path = f"Überblick/日本 語/{size}"
    yield use("patch_text", zone="storage", path=path, find="42", content="43")
    link = yield use("link_create", zone="storage", path=path)
    check.equal("the encoding stays", work.opened(link), "Größe: 43 µm\n".encode("latin-1"))
    yield use("move_uploads_to_documents", src=plan, dest=f"計画/{plan}", message="計画を保存")
    log = yield execute("documents", "git", "log", "--oneline", "--", f"計画/{plan}")
    check.that("its commit is told", "計画を保存" in log.text, log.text)
    found = yield execute("storage", "find", ".", "-name", "*100%*")
    check.that("it is found by a part of its name", size in found.data["stdout"], found.text)
    yield use("rename", zone="storage", old_path="Überblick", new_path="Übersicht „neu“")
    forbidden = use("create_file", zone="storage", path='what? "now".md', content="x\n")
    yield forbidden.refused("Windows has no such names")


_RUSSIAN = "Имя;Сумма;Дата;Сумма;\nАнна;1,5;01.02.2026;3;x\nБорис;2,5;02.02.2026;4;y\n"
_GERMAN = "Größe;Straße;Maß (m²);Größe\n1,5;Königsallee 1;2;5\n2,5;Ölmühle 3;4;6\n"
_CHINESE = "名称,数量,  价格 \n钢笔,3,1.5\n本子,4,2.5\n"


def tables(work: Work) -> Flow:
    """Headers of three languages in three encodings, and calls with names of other tools."""
    files = {"заказы.csv": _RUSSIAN.encode("cp1251"), "maße.csv": _GERMAN.encode("latin-1")}
    yield Chat(work.ada, {**files, "商品.csv": _CHINESE.encode("gb18030")})
    database = {"zone": "storage", "path": "tables.db"}
    yield use("sqlite", **database, import_csv="заказы.csv", table="orders", date_columns=["Дата"])
    yield use("sqlite", **database, import_csv="maße.csv", table="sizes")
    yield use("sqlite", **database, import_csv="商品.csv", table="goods")
    for query, expected in (
        ("SELECT Имя, Сумма, Дата FROM orders ORDER BY 2 DESC", "Борис,2.5,2026-02-02"),
        ('SELECT "Größe", Straße FROM sizes ORDER BY 1', "1.5,Königsallee 1"),
        ("SELECT 名称, 数量 * 价格 AS 总 FROM goods ORDER BY 2 DESC", "本子,10"),
    ):
        told = yield use("sqlite", **database, query=query)
        check.that(f"{query}: {expected}", expected in told.data["rows"], told.text)
    yield use("create_file", zone="storage", path="a.txt", content="alpha\nbeta\n")
    # Open WebUI leaves out what a tool has no parameter for, so the server cannot tell what was meant.
    other = "names of parameters as other tools have them, which Open WebUI leaves out"
    for foreign, own in _foreign():
        yield foreign.refused(other)
        yield own
    read = yield execute("storage", "cat", "b.txt")
    check.equal("all was done", read.data["stdout"], "delta\r\neta\r\n")


def _foreign() -> list[tuple[Use, Use]]:
    """Calls as other tools take them, and as they are meant."""
    storage = {"zone": "storage"}
    written = {"path": "new.txt", "content": "x\n"}
    first, second = {"find": "alpha", "content": "delta"}, {"find": "beta", "content": "eta"}
    pairs = [
        ("create_file", {"filename": "new.txt", "content": "x\n"}, written),
        ("patch_text", {"path": "a.txt", "old": "alpha", "new": "delta"}, {"path": "a.txt", **first}),
        ("patch_text", {"path": "a.txt", "old_string": "beta", "new_string": "eta"}, {"path": "a.txt", **second}),
        ("read", {"file_path": "a.txt"}, {"path": "a.txt"}),
        ("exec", {"command": "grep -n eta a.txt"}, {"cmd": "grep", "args": ["-n", "eta", "a.txt"]}),
        ("rename", {"source": "a.txt", "destination": "b.txt"}, {"old_path": "a.txt", "new_path": "b.txt"}),
        ("zip", {"path": "b.txt"}, {"src": "b.txt"}),
        ("unzip", {"file": "b.txt.zip", "destination": "unpacked"}, {"src": "b.txt.zip", "dest": "unpacked"}),
        ("file_type", {"filename": "b.txt"}, {"path": "b.txt"}),
        ("sqlite", {"database": "tables.db", "sql": "SELECT 1"}, {"path": "tables.db", "query": "SELECT 1"}),
        ("convert", {"path": "b.txt", "format": "html"}, {"path": "b.txt", "to": "html"}),
        ("diff", {"file1": "b.txt", "file2": "unpacked/b.txt"}, {"path": "b.txt", "to_path": "unpacked/b.txt"}),
        ("link_create", {"file": "b.txt"}, {"path": "b.txt"}),
        ("hexdump", {"file": "b.txt"}, {"path": "b.txt"}),
        ("convert_eol", {"file": "b.txt", "eol": "crlf"}, {"path": "b.txt", "to": "windows"}),
        ("delete", {"file": "new.txt"}, {"path": "new.txt"}),
    ]
    return [(use(tool, **storage, **foreign), use(tool, **storage, **own)) for tool, foreign, own in pairs]

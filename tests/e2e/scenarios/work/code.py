"""People who program: a developer, scripts in Python, and the mistakes of those who think of a shell."""

from __future__ import annotations

import io
import zipfile

from harness import check
from scenarios.work import inputs
from scenarios.work.driver import Chat, Flow, Work, execute, use

_PRICING = """RATE = 0.2


def gross(net):
    # TODO: the rate is a share
    return net + RATE


def discount(price, percent):
    # TODO: percent of the price
    return price - percent
"""
_REPORT = "def show_old(x):\n    return str(x)\n\n\ndef all_of(xs):\n    return [show_old(x) for x in xs]\n"
_TEST = """import unittest

from app import pricing, report


class Prices(unittest.TestCase):
    def test_all(self):
        self.assertEqual(pricing.gross(100), 120)
        self.assertEqual(pricing.discount(200, 10), 180)
        self.assertEqual(report.all_of([1]), ["1"])
"""
_SHOP = {
    "shop/app/__init__.py": "",
    "shop/app/pricing.py": _PRICING,
    "shop/app/report.py": _REPORT,
    "shop/tests/__init__.py": "",
    "shop/tests/test_prices.py": _TEST,
}


def developer(work: Work) -> Flow:
    """A repository as ZIP: find, read, patch, test, compare, tag, and give it back."""
    yield Chat(work.ada, {"shop.zip": inputs.archive(_SHOP)})
    yield use("unzip", zone="documents", src="shop.zip", src_zone="uploads")
    found = yield execute("documents", "grep", "-rn", "TODO", "shop")
    check.equal("two are found", found.text.count("TODO"), 2)
    pricing = {"zone": "documents", "path": "shop/app/pricing.py"}
    read = yield use("read", **pricing)
    check.that("it is read", "return net + RATE" in read.text, read.text)
    old, new = "    # TODO: the rate is a share\n    return net + RATE", "    return net * (1 + RATE)"
    yield use("patch_text", **pricing, find=old, content=new, message="Take the rate as a share")
    old = "    # TODO: percent of the price\n    return price - percent"
    new = "    return price * (100 - percent) / 100"
    yield use("patch_text", **pricing, find=old, content=new, message="Take percent")
    every = {"pattern": r"show_old\b", "content": "show", "match_all": True, "message": "Rename show"}
    yield use("patch_text", zone="documents", path="shop/app/report.py", **every)
    tested = yield execute("documents", "python3", "-m", "unittest", "discover", "-s", "shop")
    check.that("the tests pass", "OK" in tested.text, tested.text)
    log = yield execute("documents", "git", "log", "--oneline")
    commits = log.data["stdout"].splitlines()
    [first] = [line.split()[0] for line in commits if "shop.zip" in line]
    check.that("each change is a commit", "Rename show" in log.text and "Take percent" in log.text, log.text)
    compared = yield execute("documents", "git", "diff", first, "--", "shop/app")
    check.that("the difference", "+    return net * (1 + RATE)" in compared.data["stdout"], compared.text)
    yield execute("documents", "git", "tag", "v1.1")
    link = yield use("link_create", zone="documents", path="shop")
    with zipfile.ZipFile(io.BytesIO(work.opened(link))) as packed:
        [name] = [name for name in packed.namelist() if name.endswith("app/report.py")]
        check.that("it is given back", "show_old" not in packed.read(name).decode(), name)


_SUM = """import csv
rows = list(csv.DictReader(open("numbers.csv")))
open("sum.txt", "w").write(str(sum(int(row["n"]) for row in rows)))
"""


def python(work: Work) -> Flow:
    """A script whose files are versions, and what it may not."""
    yield Chat(work.ada, {"numbers.csv": b"n\n1\n2\n39\n"})
    yield use("move_uploads_to_documents", src="numbers.csv", dest="numbers.csv")
    yield use("create_file", zone="documents", path="sum.py", content=_SUM)
    yield execute("documents", "python3", "sum.py")
    read = yield execute("documents", "cat", "sum.txt")
    check.equal("the sum", read.data["stdout"].strip(), "42")
    log = yield execute("documents", "git", "log", "--oneline", "--", "sum.txt")
    check.equal("its file is a version", len(log.data["stdout"].splitlines()), 1)
    code = execute("storage", "python", "-c", "print(6 * 7)")
    told = yield code.fails("python is called python3 here")
    check.equal("it runs", told.data["stdout"].strip(), "42")
    missing = execute("storage", "python3", "-c", "import pandas_of_nowhere")
    yield missing.refused("a module that is missing is the point")
    endless = execute("storage", "python3", "-c", "while True: pass", timeout=2)
    told = yield endless.limited("a loop without end is the point")
    check.equal("the limit is named", told.error["code"], "TIMEOUT")
    much = execute("storage", "python3", "-c", "bytearray(10 ** 10)")
    told = yield much.limited("too much memory is the point")
    check.that("the limit is named", "exec_memory_limit_mb" in told.text, told.text)
    fetch = "import socket; socket.create_connection(('192.0.2.1', 80), 3)"
    yield execute("storage", "python3", "-c", fetch).refused("no network is the point")


def mistakes(work: Work) -> Flow:
    """Calls as for a shell, and things that are not there."""
    yield Chat(work.ada, {"notes.txt": b"alpha\nbeta\n"})
    yield use("create_file", zone="storage", path="list.txt", content="one\ntwo\nthree\n")
    shell = "there is no shell: the flow tries one"
    yield execute("storage", "sleep", "0", "&").fails(shell)
    yield execute("storage", "nohup", "sleep", "0").fails(shell)
    told = yield use("exec", zone="storage", cmd="cat list.txt").fails(shell)
    check.that("it is read", "three" in told.text, told.text)
    yield execute("storage", "cat", "list.txt", "|", "head", "-n", "1").fails(shell)
    told = yield execute("storage", "bash", "-c", "ls").fails(shell)
    check.that("it is listed", "list.txt" in told.text, told.text)
    yield execute("storage", "cd", "notes").refused(shell)
    yield execute("storage", "sleep", "0", timeout=100000)
    zone = "the zone stands in the path: the flow tries that"
    told = yield use("read", zone="storage", path="storage/list.txt").fails(zone)
    check.that("it is read", "three" in told.text, told.text)
    told = yield use("read", path="uploads/notes.txt").fails(zone)
    check.that("it is read", "beta" in told.text, told.text)
    told = yield execute("storage", "cat", "/storage/list.txt").fails(zone)
    check.that("it is read", "three" in told.text, told.text)
    yield execute("storage", "cp", "/uploads/notes.txt", "notes.txt").fails("two zones in one command")
    network = "the network is off: the flow tries it"
    yield execute("storage", "git", "clone", "https://192.0.2.1/x.git").fails(network)
    yield execute("storage", "curl", "-O", "https://192.0.2.1/x").fails(network)
    missing = "what is missing is the point"
    yield use("read", zone="storage", path="none.txt").fails(missing)
    yield use("tree", zone="storage", path="none").fails(missing)
    yield use("delete", zone="storage", path="none.txt").fails(missing)
    yield use("rename", zone="storage", old_path="none.txt", new_path="some.txt").fails(missing)
    yield use("link_create", zone="storage", path="none.txt").fails(missing)
    yield use("sqlite", zone="storage", path="none.db", query="SELECT * FROM t").fails(missing)
    yield use("read", zone="storage", path="List.txt").fails("another case of a name")
    yield use("create_file", zone="uploads", path="new.txt", content="x\n").fails("uploads are only read")
    yield execute("uploads", "touch", "new.txt").fails("uploads are only read")
    database = {"zone": "storage", "path": "shop.db"}
    yield use("sqlite", **database, query="CREATE TABLE sales (item TEXT)")
    yield use("sqlite", **database, query="SELECT * FROM sale").refused("a table that is not there is the point")
    commit = execute("documents", "git", "commit", "-am", "Save")
    yield commit.refused("every change is a commit already")

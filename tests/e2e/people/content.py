"""The content of a file: shown, edited, and in earlier versions."""

from __future__ import annotations

import base64

from harness import check
from people import samples
from people.world import World

#: A picture of one red point.
POINT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


#: A page without anything on it.
PAPER = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""


def preview(world: World) -> None:
    """Files are shown as what they are."""
    page = world.page
    world.store("storage", "show/page.md", b"# A title\n\nand *text*, [a link](notes.txt)\n")
    world.store("storage", "show/notes.txt", b"plain text\n")
    world.store("storage", "show/table.csv", b"name;sum\n\"Ada; L.\";3\n")
    world.store("storage", "show/point.png", POINT)
    world.call("shed_sqlite", zone="storage", path="show/data.sqlite", query="CREATE TABLE people (name TEXT)")
    world.call("shed_sqlite", zone="storage", path="show/data.sqlite", query="INSERT INTO people VALUES ('Grace')")
    world.call("shed_zip", zone="storage", src="show/notes.txt", dest="show/notes.zip")
    for name, role, label in (
        ("page.md", "heading", "A title"),
        ("notes.txt", "textbox", "notes.txt"),
        ("table.csv", "cell", "Ada; L."),
        ("point.png", "image", "point.png"),
        ("data.sqlite", "cell", "Grace"),
        ("notes.zip", "cell", "notes.txt"),
    ):
        world.open(f"storage/show?open={name}")
        page.see("dialog", name)
        page.see(role, label)
        world.picture(f"preview-{name}")
        if name == "point.png":
            decoded = "function () { return this.complete && this.naturalWidth; }"
            check.until("it is decoded", lambda: page.ask(role, label, decoded) == 1)
        world.clean(f"a preview: {name}")
    if not world.is_phone:
        page.click("button", "Next")
    else:
        world.open("storage/show?open=page.md")
    page.see("dialog", "page.md")
    page.click("link", "a link")
    page.see("dialog", "notes.txt")


def looked(world: World) -> None:
    """The contents of workbooks, documents, notebooks, databases, archives, pages and large files are seen
    without another program."""
    page = world.page
    rows = [[number, f"name {number}"] for number in range(700)]
    world.store("storage", "looked/book.xlsx", samples.workbook({"Few": [["month", "sum"], ["May", 12]], "Many": rows}))
    world.store("storage", "looked/letter.docx", samples.letter())
    world.store("storage", "looked/cells.ipynb", samples.notebook())
    world.store("storage", "looked/math.md", b"# Sums\n\nIt costs $5 and $6, but $x^2$ is\n\n$$\\frac{1}{2}$$\n\n<p style='color: red'>styled</p>\n")
    world.store("storage", "looked/page.html", b"<!doctype html><style>h1 { color: red }</style><h1>A page</h1><script>document.body.textContent = 'run'</script>")
    world.store("storage", "looked/old.csv", "größe;ort\n1,5;Köln\n".encode("cp1252"))
    world.store("storage", "looked/large.log", b"".join(b"line %d %s\n" % (number, b"x" * 400) for number in range(6_000)))
    world.store("storage", "looked/too large.docx", bytes(51 * 1024 * 1024))
    world.call("shed_sqlite", zone="storage", path="looked/data.sqlite", query="CREATE TABLE people AS SELECT 'Grace' AS name, 3 AS age UNION ALL SELECT 'Ada', 5")
    world.call("shed_zip", zone="storage", src="looked/old.csv", dest="looked/pack.zip")
    world.errors()

    world.open("storage/looked?open=book.xlsx")
    page.see("cell", "May")
    page.see("columnheader", "B")
    world.clean("a workbook")
    page.click("button", "Many")
    page.see("cell", "name 499")
    # The end of the rows is reached, and more are there.
    world.script("document.querySelector('.shown .scroll').scrollTop = 1e9")
    page.see("cell", "name 699")

    world.open("storage/looked?open=letter.docx")
    page.see("heading", "Report")
    page.see("cell", "May")
    world.clean("a document")
    world.picture("looked-letter")

    world.open("storage/looked?open=cells.ipynb")
    page.see("heading", "Analysis")
    page.see("image", "a plot")
    outputs = lambda: page.text("article")
    check.until("what was printed and an output that is a page are there", lambda: "printed" in outputs() and "framed" in outputs())
    check.that("no script of it runs", not world.script("return document.title").startswith("run"))
    world.clean("a notebook")
    world.picture("looked-cells")

    world.open("storage/looked?open=math.md")
    formulas = "return [...document.querySelectorAll('.markdown math')].map((one) => one.textContent)"
    check.until("two formulas are set, and no price", lambda: len(world.script(formulas)) == 2)
    world.clean("formulas")
    world.picture("looked-math")

    world.open("storage/looked?open=page.html")
    page.see("Iframe", "page.html")
    check.equal("it may do nothing", world.script("return document.querySelector('iframe').getAttribute('sandbox')"), "")
    world.settle()
    world.picture("looked-page")
    page.click("button", "Source")
    page.see("textbox", "page.html")
    # A script that was not run is told by the browser.
    world.errors()

    world.open("storage/looked?open=old.csv")
    page.see("cell", "Köln")
    world.open("storage/looked?open=large.log")
    page.see("button", "Show more")
    page.click("button", "Show more")
    check.until("there is more", lambda: world.script("return document.querySelectorAll('.parts pre').length") == 2)

    world.open("storage/looked?open=too%20large.docx")
    check.until("it is said that it is too large", lambda: page.says("With 51 MB this file is too large for a preview."))
    page.see("link", "Download the file")
    world.clean("a file that is too large")

    world.open("storage/looked?open=data.sqlite")
    first = "return document.querySelector('tbody td')?.textContent"
    check.until("the rows are there", lambda: world.script(first) == "Grace")
    page.click("button", "name")
    check.until("they are sorted", lambda: world.script(first) == "Ada")
    page.write("textbox", "Query", "SELECT count(*) AS number FROM people;")
    page.click("button", "Run")
    page.see("columnheader", "number")
    check.until("a query is answered", lambda: world.script(first) == "2")
    world.clean("a database")
    world.errors()
    page.write("textbox", "Query", "DELETE FROM people")
    page.click("button", "Run")
    check.until("it is refused", lambda: "syntax error" in world.told_by_page())
    counted = world.call("shed_sqlite", zone="storage", path="looked/data.sqlite", query="SELECT count(*) AS number FROM people")
    check.equal("no query changes anything", counted["rows"], [{"number": 2}])
    # The browser, too, reports the refused request.
    world.errors()

    world.open("storage/looked?open=pack.zip")
    page.click("link", "old.csv")
    check.equal("a file comes out of an archive", world.window.downloaded("old.csv"), "größe;ort\n1,5;Köln\n".encode("cp1252"))
    check.equal("the page reports no error", world.errors(), [])


def played(world: World) -> None:
    """Sound and films play, a PDF shows, code has colours."""
    page = world.page
    world.store("storage", "played/tone.wav", samples.tone())
    world.store("storage", "played/film.webm", _film(world))
    world.store("storage", "played/paper.pdf", PAPER)
    for name in ("code.py", "more.py"):
        world.store("storage", f"played/{name}", b"def answer():\n    return 42  # of course\n")
    world.open("storage/played?open=tone.wav")
    seconds = "function () { return this.readyState > 0 && this.duration; }"
    check.until("it is a second of sound", lambda: page.ask("Audio", "tone.wav", seconds) == 1)
    world.open("storage/played?open=film.webm")
    width = "function () { return this.videoWidth; }"
    check.until("it is a film", lambda: page.ask("Video", "film.webm", width) == 32)
    world.open("storage/played?open=code.py")
    colours = "function () { return new Set([...this.querySelectorAll('span')].map((one) => getComputedStyle(one).color)).size; }"
    check.until("it has colours", lambda: page.ask("textbox", "code.py", colours) > 2)
    world.script("location.hash = '#/storage/played?open=more.py'")
    check.until("the next text has them, too", lambda: page.ask("textbox", "more.py", colours) > 2)
    world.open("storage/played?open=paper.pdf")
    page.see("Iframe", "paper.pdf")
    check.until("it is shown as what it is", lambda: world.window.frame_kind() == "application/pdf")


def _film(world: World) -> bytes:
    """A short film, which the browser makes itself."""
    world.open("storage")
    made = world.window.run("""
        const done = arguments[0], canvas = document.createElement("canvas");
        canvas.width = canvas.height = 32;
        const pen = canvas.getContext("2d"), recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
        let frames = 0;
        const draw = () => {
            pen.fillStyle = frames % 2 ? "red" : "blue";
            pen.fillRect(0, 0, 32, 32);
            ++frames < 60 ? requestAnimationFrame(draw) : recorder.stop();
        };
        recorder.ondataavailable = async ({ data }) => {
            done(btoa(String.fromCharCode(...new Uint8Array(await data.arrayBuffer()))));
        };
        recorder.start();
        draw();
    """)
    return base64.b64decode(made)


def edit(world: World) -> None:
    """Text is edited under a lock, and somebody else's lock is respected."""
    page = world.page
    world.store("documents", "editing/note.md", b"before\n")
    world.open("documents/editing?open=note.md")
    page.click("button", "Edit")
    page.write("textbox", "note.md", "after\n")
    world.clean("the editor")
    refused = world.server.call(
        "shed_patch_text",
        {"zone": "documents", "path": "editing/note.md", "content": "x"},
        headers={"X-OpenWebUI-Chat-Id": "another"},
    )
    check.equal("nobody else may change it meanwhile", refused.json()["error"]["code"], "FILE_LOCKED")
    page.click("button", "Save")
    page.see("button", "Edit")
    check.equal("it is saved", world.content("documents", "editing/note.md"), b"after\n")
    page.click("button", "Close")
    for name, encoding in (("old.txt", "cp1252"), ("wide.txt", "utf-16"), ("chinese.txt", "gbk")):
        word = "文件" if encoding == "gbk" else "größer"
        world.store("documents", f"editing/{name}", f"{word} 1\r\n{word} 2\r\n".encode(encoding))
        world.open(f"documents/editing?open={name}")
        page.click("button", "Edit")
        # The text that was shown has the same name until then.
        page.see("button", "Save")
        page.write("textbox", name, f"{word} 3\n{word} 4\n")
        page.click("button", "Save")
        page.see("button", "Edit")
        kept = f"{word} 3\r\n{word} 4\r\n".encode(encoding)
        check.equal(f"{name} keeps its encoding and line ends", world.content("documents", f"editing/{name}"), kept)
        page.click("button", "Close")
    world.store("documents", "editing/bytes.txt", bytes(range(256)))
    world.open("documents/editing?open=bytes.txt")
    page.click("button", "Edit")
    check.until("the page says that it is no text", lambda: "not text" in world.told_by_page())
    page.click("button", "Close")
    written = {"zone": "documents", "path": "editing/bytes.txt", "content": "x", "overwrite": True}
    unlocked = world.server.call("shed_patch_text", written, headers={"X-OpenWebUI-Chat-Id": "another"})
    check.equal("it is not locked", unlocked.status, 200)
    other = {"X-OpenWebUI-Chat-Id": "another"}
    locked = world.server.call("shed_lockedit_open", {"zone": "documents", "path": "editing/note.md"}, headers=other)
    check.equal("somebody else has it", locked.status, 200)
    world.open("documents/editing?open=note.md")
    page.click("button", "Edit")
    check.until("the page says so", lambda: "lock" in world.told_by_page())
    check.equal("it is not edited", page.count("button", "Save"), 0)


def history(world: World) -> None:
    """Earlier versions of a file are shown, with who changed it and how, and brought back."""
    page = world.page
    world.store("documents", "past/notes.txt", b"text\n")
    world.store("documents", "past/plan.md", b"first\n")
    written_in_chat(world, "past/plan.md", "second\n")
    world.open("documents/past")
    world.menu("notes.txt", "Open")
    page.see("textbox", "notes.txt")
    page.click("button", "Close")
    page.gone("dialog", "notes.txt")
    world.menu("plan.md", "History")
    page.see("dialog", "History: plan.md")
    # Firefox has to be told of styles that come after the first text.
    corner = "function () { const { x, y } = this.getBoundingClientRect(); return [x, y]; }"
    corners = lambda: [page.ask("textbox", f"past/plan.md {side}", corner) for side in ("(1)", "(2)")]
    check.until("one is beside the other", lambda: corners()[0][0] < corners()[1][0] and corners()[0][1] == corners()[1][1])
    for side, text in (("(1)", "first"), ("(2)", "second")):
        check.until(f"{side} is {text}", lambda: page.text("textbox", f"past/plan.md {side}").strip() == text)
    world.picture("history")
    versions = [name for name in page.names("button") if name.endswith("past/plan.md")]
    check.equal("there are two versions", versions, ["M past/plan.md", "A past/plan.md"])
    before = ["by model, chat chat-77", "by you with a program"]
    check.equal("it says who changed it", ways(world), before)
    page.click("button", "A past/plan.md")
    page.click("button", "Restore this version")
    check.until("the first is back", lambda: world.content("documents", "past/plan.md") == b"first\n")
    check.until("it says who brought it back", lambda: ways(world) == ["by you on the page", *before])
    world.store("documents", "past/sums.csv", b"item,sum\npen,1\ndesk,120\n")
    world.store("documents", "past/sums.csv", b"item,sum\npen,2\ndesk,120\nlamp,30\n")
    world.open("documents/past")
    world.menu("sums.csv", "History")
    page.see("region", "past/sums.csv")
    beside = "return [...document.querySelectorAll('.beside tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    rows = [["item", "sum"] * 2, ["pen", "1", "pen", "2"], ["desk", "120"] * 2, ["", "", "lamp", "30"]]
    check.until("the table is beside what it was", lambda: world.script(beside)[1:] == rows)
    world.picture("history-table")
    world.open("documents")
    page.click("button", "More actions")
    page.click("menuitem", "History of this place")
    page.see("dialog", "History: Documents")
    check.until("the place says so too", lambda: "by model, chat chat-77" in ways(world))


def ways(world: World) -> list[str]:
    """Returns the author and the way of each version in the history, the latest first."""
    versions = [name for name in world.page.names("heading") if " · " in name]
    return [" · ".join(name.split(" · ")[1:]) for name in versions]


def written_in_chat(world: World, path: str, content: str) -> None:
    """As a model writes it, in a conversation."""
    arguments = {"zone": "documents", "path": path, "content": content}
    answer = world.server.call("shed_create_file", arguments, headers={"X-OpenWebUI-Chat-Id": "chat-77"})
    check.equal(f"{path}: {answer.text}", answer.status, 200)

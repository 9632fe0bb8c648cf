"""Names and contents in German and Japanese, whatever a person does with them."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path
from urllib.parse import quote

from harness import check
from people.world import World

#: Names in the order of their languages.
NAMES = [
    "Apfel.txt", "Ärger.txt", "straße.txt", "Strauß.txt", "Übersicht März.csv", "zebra.txt", "あいさつ.txt", "ガイド.txt",
    "ギター.txt", "報告書 2026年.md",
]

TEXT = "# Größe\n\n報告書: ガイド, Straße\n"


def languages(world: World) -> None:
    """Names in German and Japanese are brought, sorted, renamed, found, shown and downloaded."""
    with world.another(api_keys="") as here, tempfile.TemporaryDirectory() as directory:
        page = here.page
        # As a Mac has it.
        files = [Path(directory) / unicodedata.normalize("NFD", name) for name in NAMES]
        for file in files:
            file.write_text("Größe;名前\n3;ガ\n" if file.suffix == ".csv" else TEXT)
        here.call("shed_exec", zone="storage", cmd="mkdir", args=["Ordner ü"])
        here.open(f"storage/{quote('Ordner ü')}")
        page.choose_files("button", "Upload files", files)
        for name in NAMES:
            here.row(name)
        check.equal("in the order of their languages", here.listed(), NAMES)
        here.picture("languages")

        here.choose("zebra.txt")
        page.click("button", "Rename")
        page.write("textbox", "Name", "ズボン ß.txt")
        page.keys("ENTER")
        here.row("ズボン ß.txt")
        check.equal("it is there", here.content("storage", "Ordner ü/ズボン ß.txt"), TEXT.encode())

        for name, role, label in [
            ("報告書 2026年.md", "heading", "Größe"),
            ("Übersicht März.csv", "cell", "ガ"),
            ("straße.txt", "textbox", "straße.txt"),
        ]:
            here.open(f"storage/{quote('Ordner ü')}?open={quote(name)}")
            page.see("dialog", name)
            page.see(role, label)
            here.picture(f"languages-{Path(name).suffix[1:]}")

        for query, name in [("ubersicht", "Übersicht März.csv"), ("報告", "報告書 2026年.md"), ("STRASSE", "straße.txt")]:
            here.open("storage")
            page.write("searchbox", "Search names and contents", query)
            page.keys("ENTER")
            page.see("heading", f"Results for “{query}”")
            check.until(f"{query} is found", lambda: any(name in link for link in page.names("link")))

        here.open(f"storage/{quote('Ordner ü')}")
        here.menu("報告書 2026年.md", "Download")
        check.equal("with its name", here.window.downloaded("報告書 2026年.md").decode(), TEXT)

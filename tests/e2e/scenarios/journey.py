"""One chat from a new file to a link: create, edit, run a command, query, pack, hand out."""

from __future__ import annotations

import io
import zipfile

from harness import check, web
from harness.world import World

TABLE = "city,people\nBern,134\nBasel,175\nZug,31\n"


def run(world: World) -> None:
    with world.connected():
        answer = world.ask(
            world.webui.ada,
            [
                [("shed_create_file", {"zone": "storage", "path": "data/cities.csv", "content": TABLE})],
                [_patch("Zug,31", "Zug,32")],
                [("shed_exec", {"zone": "storage", "cmd": "sort", "args": ["data/cities.csv"]})],
                [_import(), _query()],
                [("shed_zip", {"zone": "storage", "src": "data", "dest": "cities.zip"})],
                [("shed_link_create", {"zone": "storage", "path": "cities.zip"})],
            ],
        )
        made, patched, ran, imported, queried, packed, linked = [result.data for result in answer.results]
        check.equal("the file is new", (made["created"], made["lines_affected"]), (True, 4))
        check.equal("one place matches", patched["pattern_matches"], 1)
        check.equal("the command sees the edit", ran["stdout"], "Basel,175\nBern,134\nZug,32\ncity,people\n")
        check.equal("all rows are imported", imported["rows_imported"], 3)
        check.equal("SQL sees them", queried["rows"], [{"city": "Basel", "people": 175}])
        check.that("there is an archive", packed["size_bytes"] > 0, packed)
        check.equal("the link is for the archive", linked["filename"], "cities.zip")
        _open(linked["download_url"])


def _patch(old: str, new: str) -> tuple[str, dict]:
    edit = {"position": "replace", "pattern": old, "content": new}
    return "shed_patch_text", {"zone": "storage", "path": "data/cities.csv", **edit}


def _import() -> tuple[str, dict]:
    return "shed_sqlite", {
        "zone": "storage",
        "path": "cities.db",
        "import_csv": "data/cities.csv",
        "table": "cities",
    }


def _query() -> tuple[str, dict]:
    query = "SELECT city, people FROM cities ORDER BY people DESC LIMIT 1"
    return "shed_sqlite", {"zone": "storage", "path": "cities.db", "query": query}


def _open(address: str) -> None:
    """Anybody with the link gets the archive, and it holds the edited table."""
    answer = web.request("GET", address)
    check.equal("the link gives the archive", answer.status, 200)
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        names = [name for name in archive.namelist() if name.endswith("cities.csv")]
        check.equal("the table is in it", len(names), 1)
        check.equal("as it was edited", archive.read(names[0]).decode(), TABLE.replace("31", "32"))

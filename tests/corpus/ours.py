"""The content of a file as fileshed reads it, through the results that its callers see."""

from __future__ import annotations

import base64
import dataclasses
import re
import sqlite3
import uuid
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

from harness import web

_SHEET = re.compile(r"--- (.*) ---")
_ADDED = re.compile(
    r"^--- (Page|Slide|Notes) .*---$|^\[pages? .* no text: .*\]$"
    # The text of an image, up to the next page: the trusted tool recognises nothing.
    r"|^\[page \d+ of \d+ is an image: .*\]$(?:\n(?!--- Page ).*)*",
    re.MULTILINE,
)


class Refused(Exception):
    """fileshed says that it cannot read the file."""


class Failed(Exception):
    """fileshed does not answer as it should, whatever the file is."""


class Empty(Refused):
    """fileshed says that a table has no rows."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that an import made."""

    rows: list[list[object]]
    #: Names of the columns, or the headers that they were made of.
    headers: list[str]


@dataclasses.dataclass(frozen=True)
class Caller:
    """A user of the server, who reads one file."""

    url: str
    port: int
    key: str
    user: str
    token: str

    def _call(self, operation: str, **arguments: object) -> dict:
        headers = {"X-OpenWebUI-User-Id": self.user, "X-OpenWebUI-Chat-Id": "corpus", "Prefer": "return=representation"}
        answer = web.request("POST", f"{self.url}/{operation}", token=self.key, headers=headers, document=arguments)
        document = answer.json()
        if answer.status >= 500:
            raise Failed(f"{answer.status} {answer.text}")
        if answer.status != 200:
            code, message = document["error"]["code"], document["error"]["message"]
            raise (Empty if code == "CSV_EMPTY" else Refused)(f"{code}: {message}")
        return document

    def _files(self, method: str, path: str, body: bytes | None = None) -> bytes:
        login = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, f"/dav/storage/{quote(path)}", body, {"Authorization": f"Basic {login}"})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise Refused(f"{method} of {path}: {answer.status}")
        return content

    def _put(self, file: Path) -> str:
        """Brings a file into the storage, and gives its path there."""
        path = f"{uuid.uuid4().hex}{file.suffix.lower()}"
        self._files("PUT", path, file.read_bytes())
        return path

    def _text(self, file: Path) -> str:
        # In one answer; `shed_read` gives the same in parts.
        address = f"{self.url}/terminal/files/read?path=/storage/{self._put(file)}"
        answer = web.request("GET", address, token=self.key, headers={"X-User-Id": self.user})
        if answer.status != 200:
            raise (Refused if answer.status < 500 else Failed)(answer.json().get("detail"))
        return answer.json()["content"]

    def words(self, file: Path) -> str:
        """The text of a document without the lines that fileshed writes for its pages."""
        return _ADDED.sub("", self._text(file))

    def sheets(self, file: Path) -> dict[str, list[list[str]]]:
        """The cells of a workbook, as it is read."""
        found: dict[str, list[list[str]]] = {}
        rows: list[list[str]] = []
        for line in self._text(file).split("\n"):
            title = _SHEET.fullmatch(line)
            if title:
                rows = found.setdefault(title[1], [])
            else:
                rows.append(line.split("\t"))
        return found

    def table(self, file: Path) -> dict[str, Table]:
        """The table that a CSV file becomes."""
        return self.tables(file, table="t")

    def tables(self, file: Path, **chosen: str) -> dict[str, Table]:
        """The tables that a file becomes, by the names of their sheets."""
        path = self._put(file)
        database = f"{path}.db"
        data = self._call("shed_sqlite", zone="storage", path=database, import_csv=path, **chosen)["data"]
        headers = (data.get("import_info") or {}).get("headers") or {}
        connection = sqlite3.connect(":memory:")
        found = {}
        try:
            connection.deserialize(self._files("GET", database))
            for entry in data.get("tables") or [data]:
                rows = [list(row) for row in connection.execute(f"SELECT * FROM {_quoted(entry['table'])}")]
                names, sheet = entry["columns"], entry.get("sheet") or ""
                if entry is not data:
                    names = [column.rsplit(" ", 1)[0] for column in names.split(", ")]
                    sheet = sheet or entry["table"]
                found[sheet] = Table(rows, [headers.get(name, name) for name in names])
        finally:
            connection.close()
        return found

    def archive(self, file: Path) -> dict[str, bytes]:
        """The files that an archive becomes, by their names in the archive."""
        path = self._put(file)
        place = f"{path}.unpacked"
        data = self._call("shed_unzip", zone="storage", src=path, dest=place)["data"]
        renamed = {entry["to"]: entry["from"] for entry in data.get("renamed") or []}
        return {renamed.get(name, name): self._files("GET", f"{place}/{name}") for name in data["files"]}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

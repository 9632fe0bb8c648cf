"""Makes archives as other programs write them: makers.py KIND ARCHIVE [ARGUMENTS].

Prints what is in them as JSON: names, and contents in base64.
"""

import base64
import io
import json
import random
import struct
import sys
import warnings
import zipfile
import zlib

FILES = [
    ("text.txt", b"a line\n" * 500),
    ("empty", b""),
    ("sub/random.bin", random.Random(7).randbytes(70_000)),
    ("sub/deep/er/\u00e9t\u00e9 \u6f22\u5b57 \U0001f600.md", "\u00e9t\u00e9\n".encode()),
    ("na me (1) & co.txt", b"x"),
]


class Unseekable:
    """A pipe: what is written is gone."""

    def __init__(self, file):
        self.file = file

    def write(self, content):
        return self.file.write(content)

    def flush(self):
        self.file.flush()


def fill(archive, zip64=False):
    for name, content in FILES:
        about = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6))
        about.compress_type = archive.compression
        with archive.open(about, "w", force_zip64=zip64) as entry:
            entry.write(content)
    archive.mkdir("hollow") if hasattr(archive, "mkdir") else archive.writestr("hollow/", b"")


def stored(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        fill(archive)
    return FILES


def deflated(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    return FILES


def zip64(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive, zip64=True)
    return FILES


def streamed(path):
    with open(path, "wb") as file:
        with zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_DEFLATED) as archive:
            fill(archive)
    return FILES


def streamed_stored(path):
    with open(path, "wb") as file:
        with zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_STORED) as archive:
            fill(archive, zip64=True)
    return FILES


def comments(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
        # One that could be taken for the end of an archive.
        archive.comment = b"PK\5\6 a comment, " * 100
        archive.getinfo("text.txt").comment = b"about the text"
    return FILES


def prefixed(path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    with open(path, "wb") as file:
        file.write(b"#!/bin/sh\necho self-extracting\nexit 0\n" * 100 + inner.getvalue())
    return FILES


def appended(path):
    with open(path, "wb") as file:
        file.write(b"\x7fELF and so on" * 1000)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    return FILES


def macos(path):
    files = [
        ("A/x.txt", b"x"), ("__MACOSX/A/._x.txt", b"\0\5\x16\7" * 20),
        ("A/e\u0301te\u0301.txt", b"decomposed"), ("A/.DS_Store", b"\0\0\0\1Bud1"),
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            about = zipfile.ZipInfo(name)
            about.create_system = 3
            about.external_attr = 0o100644 << 16
            archive.writestr(about, content)
    kept = [files[0], files[2]]
    return [(name.replace("e\u0301", "\u00e9"), content) for name, content in kept]


def foreign(path):
    """Makes an archive with names that some systems accept and others do not, and a link."""
    link = zipfile.ZipInfo("repo/latest")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    entries = [
        ("repo/a.txt", b"a", "repo/a.txt"), (link, b"a.txt", None),
        ("repo/What now?.md", b"b", "repo/What now_.md"), ("repo/aux.c", b"c", "repo/_aux.c"),
        ("repo/dir /e.txt", b"d", "repo/dir/e.txt"), ("repo/Icon\r", b"e", "repo/Icon_"),
        ("repo/a.txt", b"f", "repo/a (2).txt"), ("repo/what now*.md", b"g", "repo/what now_.md"),
        ("repo/-", b"h", "repo/-"),
    ]
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content, _ in entries:
            archive.writestr(name, content)
    return [(there, content) for _, content, there in entries if there]


def backslashes(path):
    """As PowerShell 5 and old .NET write them, with the mark of DOS for directories."""
    entries = [(b"proj\\docs\\a.txt", b"a", b""), (b"proj\\empty\\", b"", b""), (b"proj\\b.txt", b"b", b"")]
    raw(path, entries)
    return [("proj/docs/a.txt", b"a"), ("proj/b.txt", b"b")]


def encoded(path, encoding, *names):
    """Names in an encoding that nobody declares."""
    raw(path, [(name.encode(encoding), name.encode(), b"") for name in names])
    return [(name, name.encode()) for name in names]


def raw(path, entries):
    """Names as bytes, without the flag of UTF-8."""
    body, central = b"", b""
    for name, content, extra in entries:
        about = struct.pack("<HHHIII", 0, 0, 0x21, zlib.crc32(content), len(content), len(content))
        names = struct.pack("<HH", len(name), len(extra))
        at = len(body)
        body += b"PK\3\4" + struct.pack("<HH", 20, 0) + about + names + name + extra + content
        central += (b"PK\1\2" + struct.pack("<HHH", 20, 20, 0) + about + names
                    + struct.pack("<HHHII", 0, 0, 0, 0, at) + name + extra)
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(central), len(body), 0)
    with open(path, "wb") as file:
        file.write(body + central + b"PK\5\6" + end)


def cp437(path):
    names = ["\u00fc\u00df.txt", "caf\u00e9/\u03b1\u221a.txt", "\u2551box.txt"]
    raw(path, [(name.encode("cp437"), name.encode(), b"") for name in names])
    return [(name, name.encode()) for name in names]


def unflagged(path):
    """UTF-8 without saying so, as macOS and old Unix programs write it."""
    names = ["\u00fc.txt", "\u6f22\u5b57.txt"]
    raw(path, [(name.encode(), b"x", b"") for name in names])
    return [(name, b"x") for name in names]


def unicode_field(path):
    """Info-ZIP's field beside a name that says less; a stale one is not believed."""
    def field(name, plain):
        content = b"\1" + struct.pack("<I", zlib.crc32(plain)) + name.encode()
        return struct.pack("<HH", 0x7075, len(content)) + content
    stale = field("never.txt", b"another name")
    raw(path, [
        (b"??.txt", b"x", field("\u6f22\u5b57.txt", b"??.txt")),
        (b"plain.txt", b"y", stale),
    ])
    return [("\u6f22\u5b57.txt", b"x"), ("plain.txt", b"y")]


def modes(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in [
            ("plain", 0o100644), ("private", 0o100600), ("run", 0o100755), ("setuid", 0o106755),
            ("sticky", 0o101666), ("world", 0o100777), ("dos", 0), ("sub/", 0o047777),
        ]:
            about = zipfile.ZipInfo(name)
            about.external_attr = mode << 16
            about.create_system = 0 if name == "dos" else 3
            archive.writestr(about, b"")
    return []


def zeros(path, files, megabytes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(int(files)):
            with archive.open(f"{number}", "w") as entry:
                for _ in range(int(megabytes)):
                    entry.write(bytes(1024**2))
    return []


made = globals()[sys.argv[1]](*sys.argv[2:])
print(json.dumps({name: base64.b64encode(content).decode() for name, content in made}))

"""Writes archives that must be refused with one code: hostile.py CODE DIRECTORY.

Prints a JSON list of [file name, zone, what the message names].
"""

import io
import json
import os
import random
import struct
import sys
import zipfile
import zlib

FILE = 0o100644 << 16


def field(number, content):
    return struct.pack("<HH", number, len(content)) + content


class Raw:
    """An archive, byte by byte: whatever is said need not be true."""

    def __init__(self):
        self.body = b""
        self.central = b""
        self.count = 0

    def add(self, name, content=b"", packed=None, method=0, size=None, crc=None, flags=0,
            attributes=FILE, extra=b"", at=None, system=3):
        name = name if isinstance(name, bytes) else name.encode()
        if any(byte > 127 for byte in name):
            flags |= 0x800
        packed = content if packed is None else packed
        size = len(content) if size is None else size
        crc = zlib.crc32(content) if crc is None else crc
        about = struct.pack("<HHHIII", method, 0, 0x21, crc, len(packed), size)
        names = struct.pack("<HH", len(name), len(extra))
        at = len(self.body) if at is None else at
        local = b"PK\3\4" + struct.pack("<HH", 20, flags) + about + names + name + extra
        self.body += local + packed
        self.central += (b"PK\1\2" + struct.pack("<BBHH", 20, system, 20, flags) + about + names
                         + struct.pack("<HHHII", 0, 0, 0, attributes, at) + name + extra)
        self.count += 1
        return self

    def bytes(self):
        count = min(self.count, 0xFFFF)
        return (self.body + self.central + b"PK\5\6"
                + struct.pack("<HHHHIIH", 0, 0, count, count, len(self.central), len(self.body), 0))


def deflated(content):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def plain(entries, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def named(name, **about):
    """An archive that has a harmless entry before the one of this name."""
    return Raw().add("fine.txt", b"fine").add(name, b"x", **about).bytes()


def escapes():
    for number, name in enumerate([
        "../x", "a/../../x", "a/../b", "..", "a/..", "/etc/x", "//x", "C:\\x", "c:/x", "C:x",
        "..\\x", "a\\..\\..\\x", "\\\\host\\share\\x", "\\x",
    ]):
        yield f"way-{number}.zip", "storage", named(name), [f"`{name}`"]
    yield "link.zip", "storage", named("../link", attributes=0o120777 << 16), ["`../link`"]
    hidden = field(0x7075, b"\1" + struct.pack("<I", zlib.crc32(b"harmless")) + b"../x")
    yield "renamed.zip", "storage", named("harmless", extra=hidden), ["`../x`"]


def invalid_paths():
    for number, (name, shown) in enumerate([
        (b"a\0b", "U+0000"), (b"__MACOSX/a\0b", "U+0000"), ("x/" * 1540 + "y", "too long"),
    ]):
        yield f"name-{number}.zip", "storage", named(name), [shown]


def protected():
    for number, name in enumerate([".lfsig", "a/.FS_PEPPER/x"]):
        yield f"own-{number}.zip", "storage", named(name), [f"`{name}`"]
    for number, name in enumerate([
        ".git/config", "a/.GIT/hooks/pre-commit", "git~1/x", ".git./x", ".g\u200cit/x", ".git",
        "a\\.git\\config", "__MACOSX/.git/config",
    ]):
        yield f"git-{number}.zip", "documents", named(name), [f"`{name}`"]


def bombs():
    many = Raw()
    for number in range(10_001):
        many.add(f"{number}")
    yield "many.zip", "storage", many.bytes(), ["10001 entries"]
    says = Raw().add("zeros", method=8, packed=deflated(b""), size=500 * 1024**2 + 1)
    yield "says.zip", "storage", says.bytes(), ["500.0 MB"]
    zeros = bytes(5_000_000)
    yield "ratio.zip", "storage", plain([("zeros", zeros)], zipfile.ZIP_DEFLATED), ["100 times"]
    lies = Raw().add("fine.txt", b"fine")
    lies.add("lie", zeros, packed=deflated(zeros), method=8, size=100)
    yield "lies.zip", "storage", lies.bytes(), ["`lie`", "100 bytes"]
    stored = Raw().add("lie", zeros[:100], packed=zeros[:1000], size=100)
    yield "stored.zip", "storage", stored.bytes(), ["`lie`", "100 bytes"]
    # One kernel, many names: each entry shares its bytes.
    kernel = Raw().add("0", zeros[:10_000], packed=deflated(zeros[:10_000]), method=8)
    for number in range(1, 50):
        kernel.add(f"{number}", zeros[:10_000], packed=deflated(zeros[:10_000]), method=8, at=0)
    yield "same.zip", "storage", kernel.bytes(), ["overlaps"]
    # An entry whose content is the header and the content of the next one.
    inner = Raw().add("inner", b"x" * 1000)
    outer = Raw().add("outer", inner.body)
    outer.central += inner.central.replace(
        struct.pack("<I", 0) + b"inner", struct.pack("<I", 35) + b"inner")
    outer.count += 1
    yield "quoted.zip", "storage", outer.bytes(), ["`inner`", "overlaps"]
    behind = Raw().add("a", b"x")
    behind.central = behind.central.replace(
        struct.pack("<II", 1, 1), struct.pack("<II", 30, 30))
    yield "behind.zip", "storage", behind.bytes(), ["`a`", "overlaps"]
    deep = Raw()
    for number in range(20):
        deep.add(f"{number}" + "/x" * 600)
    yield "deep.zip", "storage", deep.bytes(), ["directories"]


def strange():
    whole = plain([("a.txt", "a text\n" * 1000), ("b.txt", "b")], zipfile.ZIP_DEFLATED)
    yield "text.zip", "storage", b"only a text\n" * 100, ["not a ZIP archive"]
    yield "empty.zip", "storage", b"", ["not a ZIP archive"]
    yield "begins.zip", "storage", b"PK\3\4 and no more", ["`begins.zip`", "damaged"]
    yield "cut.zip", "storage", whole[:-30], ["`cut.zip`", "damaged"]
    yield "head.zip", "storage", whole[40:], ["`head.zip`"]
    spoilt = bytearray(whole)
    spoilt[38] ^= 0xFF
    yield "spoilt.zip", "storage", bytes(spoilt), ["`a.txt`", "damaged"]
    yield "crc.zip", "storage", Raw().add("a", b"x", crc=1).bytes(), ["`a`", "damaged"]
    more = Raw().add("a", b"x" * 10, packed=deflated(b"x" * 10), method=8, size=20, crc=0)
    yield "more.zip", "storage", more.bytes(), ["`a`", "damaged"]
    secret = Raw().add("fine.txt", b"fine").add("secret", b"x" * 13, flags=1)
    yield "secret.zip", "storage", secret.bytes(), ["`secret`", "encrypted"]
    for name, method in [("Bzip2", zipfile.ZIP_BZIP2), ("LZMA", zipfile.ZIP_LZMA)]:
        other = plain([("a", "x" * 100)], method)
        yield f"{name}.zip", "storage", other, ["`a`", name]
    for number, (names, at) in enumerate([
        (["a", "a/b"], "a/b"), (["a/", "a"], "a"), (["a", "a/"], "a"), (["d/e/f", "d/e"], "d/e/f"),
        (["a", "a\\b"], "a/b"),
    ]):
        archive = Raw()
        for name in names:
            archive.add(name)
        yield f"two-{number}.zip", "storage", archive.bytes(), [f"`{at}`"]
    for name, kind in [("fifo", 0o1), ("device", 0o2), ("block", 0o6), ("socket", 0o14)]:
        special = named(name, attributes=(kind << 12 | 0o644) << 16)
        yield f"{name}.zip", "storage", special, [f"`{name}`", "neither a file nor a directory"]
    yield "content.zip", "storage", named("d/"), ["`d/`", "has content"]
    yield "nameless.zip", "storage", named(""), ["no name"]
    yield "dot.zip", "storage", named("."), ["`.`", "no name"]


def too_large():
    content = random.Random(1).randbytes(1024**2 + 1)
    yield "large.zip", "storage", plain([("fine", "x"), ("large", content)]), ["`large/large`"]


def too_much():
    content = random.Random(1).randbytes(900_000)
    files = [(f"{number}", content[number:]) for number in range(3)]
    yield "much.zip", "storage", plain(files), ["quota"]


CASES = {
    "PATH_ESCAPE": escapes,
    "INVALID_PATH": invalid_paths,
    "PROTECTED_PATH": protected,
    "ZIP_BOMB": bombs,
    "INVALID_FORMAT": strange,
    "FILE_TOO_LARGE": too_large,
    "QUOTA_EXCEEDED": too_much,
}

written = []
for name, zone, content, words in CASES[sys.argv[1]]():
    with open(os.path.join(sys.argv[2], name), "wb") as file:
        file.write(content)
    written.append([name, zone, words])
print(json.dumps(written))

"""Has programs of others use the files over WebDAV: the conformance suite litmus, rclone, cadaver and
davfs2, as Debian has them.

webdav.py [--files NUMBER] [part ...]

The parts are litmus, rclone, cadaver and davfs2. A program that is not installed, and a mount that the
machine does not allow, is skipped by a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import check, fileshed, install, parts

#: Zones in which each program has to work: without and with history, and a group's.
ZONES = ("storage", "documents", "groups/team")


class World:
    """A server with two users and a group, and a token for each."""

    def __init__(self, directory: Path):
        self.directory = directory
        settings = {"FILESHED_GROUPS": "local", "FILESHED_LOG_LEVEL": "warn"}
        self.server = fileshed.Fileshed(fileshed.binary(), directory, settings)
        self.tokens: dict[str, str] = {}

    def __enter__(self) -> "World":
        with contextlib.ExitStack() as started:
            started.enter_context(self.server)
            for user in ("ada", "grace"):
                self.tokens[user] = self._run("token", "create", "--user", user).strip()
            self._run("group", "create", "--name", "team", "--members", "ada,grace")
            # Whatever fails before this ends the server.
            started.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        self.server.__exit__(*failure)

    def _run(self, *words: str) -> str:
        done = self.server.run(*words)
        check.equal(f"fileshed {' '.join(words)}: {done.stderr}", done.returncode, 0)
        return done.stdout

    def url(self, path: str = "") -> str:
        return f"{self.server.url}/dav/{path}"


def run(what: str, command: list[object], **more: object) -> str:
    """Runs a program to its end, which must be a good one; gives what it said."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=check.PATIENCE,
        **more,
    )
    check.equal(f"{what}: {done.stdout[-3000:]}", done.returncode, 0)
    return done.stdout


def tree(directory: Path, number: int) -> Path:
    """A tree of so many files, of all sizes and with names of all kinds."""
    chance = random.Random(number)
    for place in range(number):
        file = directory / f"part {place % 7}" / f"größe-{place % 13}" / f"file #{place}? 100% \"a|b\" ."
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chance.randbytes(chance.choice((0, 1, 100, 5_000, 20_000))))
    (directory / "large").write_bytes(chance.randbytes(20_000_000))
    return directory


def same(one: Path, other: Path) -> None:
    """Fails where two trees differ."""
    paths = [{path.relative_to(top) for path in top.rglob("*")} for top in (one, other)]
    check.equal("the names", paths[0] ^ paths[1], set())
    files = [str(path) for path in paths[0] if (one / path).is_file()]
    _, differ, failed = filecmp.cmpfiles(one, other, files, shallow=False)
    check.equal("the contents", differ + failed, [])


def litmus(world: World, _files: int) -> None:
    suite = install.program("litmus")
    for zone in ZONES:
        directory = world.directory / f"litmus-{zone.replace('/', '-')}"
        directory.mkdir()
        command = [suite, "--keep-going", world.url(f"{zone}/"), "ada", world.tokens["ada"]]
        said = run(f"litmus in {zone}", command, cwd=directory)
        summaries = [line for line in said.splitlines() if line.startswith("<- summary")]
        check.equal("the suites", len(summaries), 5)
        for line in summaries:
            check.that(line, " 0 failed" in line, said[-3000:])
            print(f"  {zone}: {line[3:]}", flush=True)


def rclone(world: World, files: int) -> None:
    command = install.program("rclone")
    environment = {
        **os.environ,
        "RCLONE_CONFIG": str(world.directory / "rclone.conf"),
        "RCLONE_CONFIG_SHED_TYPE": "webdav",
        "RCLONE_CONFIG_SHED_URL": world.url(),
        "RCLONE_CONFIG_SHED_VENDOR": "other",
        "RCLONE_CONFIG_SHED_USER": "ada",
        "RCLONE_CONFIG_SHED_PASS": run("rclone obscure", [command, "obscure", world.tokens["ada"]]).strip(),
    }
    sent = tree(world.directory / "sent", files)
    for zone in ZONES:
        there, begun = f"shed:{zone}/tree", time.monotonic()
        run("copy up", [command, "copy", "--transfers", 16, sent, there], env=environment)
        up = time.monotonic() - begun
        begun = time.monotonic()
        fetched = world.directory / f"fetched-{zone.replace('/', '-')}"
        run("copy down", [command, "copy", "--transfers", 16, there, fetched], env=environment)
        down = time.monotonic() - begun
        same(sent, fetched)
        run("check", [command, "check", "--size-only", sent, there], env=environment)
        run("move", [command, "moveto", there, f"shed:{zone}/moved"], env=environment)
        run("purge", [command, "purge", f"shed:{zone}/moved"], env=environment)
        left = run("list", [command, "lsf", f"shed:{zone}"], env=environment)
        check.that("the tree is gone", "moved" not in left and "tree" not in left, left)
        print(f"  {zone}: {files} files up in {up:.0f} s, down in {down:.0f} s", flush=True)
    uploads_of_chats(world, command, environment)


def uploads_of_chats(world: World, command: str, environment: dict[str, str]) -> None:
    """Uploads are by chat; `default` is for what belongs to none."""
    note = world.directory / "note.txt"
    note.write_text("for a chat\n")
    there, kept = "shed:uploads/default/note.txt", "shed:storage/note.txt"
    run("upload", [command, "copyto", note, there], env=environment)
    chats = run("list", [command, "lsf", "shed:uploads"], env=environment)
    check.that("the chat is a directory", "default/" in chats, chats)
    run("move out", [command, "moveto", there, kept], env=environment)
    content = run("read", [command, "cat", kept], env=environment)
    check.that("what was moved is there", "for a chat" in content, content)
    chats = run("list", [command, "lsf", "shed:uploads"], env=environment)
    check.that("no chat has uploads", "default/" not in chats, chats)
    run("delete", [command, "deletefile", kept], env=environment)


def cadaver(world: World, _files: int) -> None:
    command = install.program("cadaver")
    home = world.directory / "cadaver"
    home.mkdir()
    host = world.server.url.removeprefix("http://").split(":")[0]
    (home / "note.txt").write_text("from cadaver\n")
    for zone in ZONES:
        (home / ".netrc").write_text(f"machine {host} login ada password {world.tokens['ada']}\n")
        (home / ".netrc").chmod(0o600)
        (home / "back.txt").unlink(missing_ok=True)
        session = [
            "mkcol desk", "put note.txt desk/note.txt", "lock desk/note.txt", "discover desk/note.txt",
            "put note.txt desk/note.txt", "unlock desk/note.txt", "copy desk/note.txt desk/copy.txt",
            "move desk/copy.txt desk/moved.txt", "propset desk/moved.txt colour red",
            "propget desk/moved.txt colour", "get desk/moved.txt back.txt", "ls desk",
            "delete desk/moved.txt", "rmcol desk", "quit",
        ]  # fmt: skip
        said = run(
            f"cadaver in {zone}",
            [command, world.url(f"{zone}/")],
            cwd=home,
            env={**os.environ, "HOME": str(home)},
            input="\n".join(session) + "\n",
        )
        check.that("every step succeeds", "failed" not in said.lower() and "red" in said, said)
        check.equal("what came back", (home / "back.txt").read_text(), "from cadaver\n")


def davfs2(world: World, _files: int) -> None:
    mount, unmount = install.program("mount.davfs"), install.program("umount")
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        raise install.Missing("only root mounts, and /dev/fuse must be there")
    sent = tree(world.directory / "few", 40)
    # The program drops its rights, and must still reach where it mounts.
    with tempfile.TemporaryDirectory(prefix="fileshed-davfs2-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(0o755)
        settings = place / "davfs2.conf"
        settings.write_text("delay_upload 0\n")
        for number, zone in enumerate(ZONES):
            drive = place / f"drive-{number}"
            drive.mkdir()
            mounted = subprocess.run(
                [mount, world.url(zone), drive, "-o", f"conf={settings},uid=0,gid=0"],
                input=f"ada\n{world.tokens['ada']}\n",
                capture_output=True,
                text=True,
                timeout=check.PATIENCE,
            )
            if mounted.returncode != 0:
                raise install.Missing(f"this machine does not mount: {mounted.stderr.strip()[-300:]}")
            try:
                shutil.copytree(sent, drive / "tree")
                (drive / "tree" / "large").rename(drive / "tree" / "renamed")
                (drive / "tree" / "renamed").rename(drive / "tree" / "large")
            finally:
                run("umount", [unmount, drive])
            back = place / f"large-{number}"
            fetch = ["curl", "-sSf", "-u", f"ada:{world.tokens['ada']}", "-o", back]
            run("what the server has", [*fetch, world.url(f"{zone}/tree/large")])
            check.that("the same content", filecmp.cmp(sent / "large", back, shallow=False))


PARTS = {"litmus": litmus, "rclone": rclone, "cadaver": cadaver, "davfs2": davfs2}


def main() -> int:
    parser = argparse.ArgumentParser(prog="webdav.py", description="Test programs that speak WebDAV.")
    parser.add_argument("--files", type=int, default=200, help="how many files a tree has")
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="which; all, if none is named")
    arguments = parser.parse_args()
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    went_well = True
    with tempfile.TemporaryDirectory(prefix="fileshed-webdav-", ignore_cleanup_errors=True) as directory, World(Path(directory)) as world:
        for name in arguments.part or list(PARTS):
            went_well &= parts.attempt("WebDAV", name, lambda: PARTS[name](world, arguments.files))
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())

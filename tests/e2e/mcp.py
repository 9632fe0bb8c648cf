"""Has the official clients of the Model Context Protocol list and call every tool of fileshed, over
HTTP and on standard streams, and runs the protocol's conformance suite.

mcp.py [--install-only] [part ...]

The parts are python, inspector and conformance; filesystem installs the server that
`cargo bench --bench mcp` measures beside this one. What comes from a registry that cannot be reached is
skipped by a line that begins with SKIP.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from clients.inspector import Inspector
from harness import check, fileshed, install, npm, parts, web

PYTHON_SDK = "mcp==2.3.0"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
FILESYSTEM = "@modelcontextprotocol/server-filesystem@2026.8.31"

#: Revisions as the Python client chooses them: the newest, and the handshake of those before.
MODES = ("auto", "legacy")


#: The other toolsets than `shed`, with their addresses.
TOOLSETS = {"core": "/mcp/core", "fs": "/mcp/fs", "terminal": "/mcp/terminal"}


class World:
    """A server with users, and the same data for processes of one person."""

    def __init__(self, directory: Path):
        self.directory = directory
        settings = {
            "FILESHED_GROUPS": "local",
            "FILESHED_MAX_CONCURRENT_CALLS": "32",
            "FILESHED_LOG_LEVEL": "warn",
        }
        self.server = fileshed.Fileshed(fileshed.binary(), directory, settings)
        self.environment = {
            **settings,
            "FILESHED_PUBLIC_URL": self.server.url,
            "FILESHED_API_KEYS": self.server.key,
            "PATH": os.environ["PATH"],
        }
        self.token = ""

    def __enter__(self) -> "World":
        with contextlib.ExitStack() as started:
            started.enter_context(self.server)
            self.token = self._run("token", "create", "--user", "ada").strip()
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

    def mark(self, name: str) -> str:
        """The name of a directory for one run, which has its uploads."""
        for number in (1, 2):
            file = (f"{name}-{number}.txt", b"brought\n", "text/plain")
            address = f"{self.server.url}/files/upload?zone=uploads"
            answer = web.request("POST", address, token=self.token, file=file)
            check.equal(f"an upload: {answer.text}", answer.status, 200)
        return name

    def person(self, *more: str) -> list[str]:
        """The command of a process of one person."""
        return [str(self.server.program), "mcp", "--user", "ada", *more]


def python(world: World, directory: Path) -> None:
    programs = INSTALLED["python"](directory)
    for toolset, path in (("shed", "/mcp"), ("fs", "/mcp/fs"), ("terminal", "/mcp/terminal")):
        for mode in MODES:
            job = {"mode": mode, "toolset": toolset}
            over_http = {"url": f"{world.server.url}{path}", "token": world.token}
            person = {
                "command": world.person("--toolset", toolset),
                "environment": world.environment,
                "cwd": str(world.directory),
            }
            for way, server in (("http", over_http), ("stdio", person)):
                job["mark"] = world.mark(f"python-{toolset}-{mode}-{way}")
                done = subprocess.run(
                    [programs / "python", Path(__file__).parent / "clients/python_sdk.py", json.dumps(job | server)],
                    capture_output=True,
                    text=True,
                    timeout=check.PATIENCE,
                )
                shown = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
                check.equal(f"{job['mark']}: {shown}", done.returncode, 0)
                print(f"  {job['mark']}: {done.stdout.strip()}")


def inspector(world: World, directory: Path) -> None:
    programs = INSTALLED["inspector"](directory)
    over_http = Inspector(
        programs,
        [f"{world.server.url}/mcp"],
        ["--transport", "http", "--header", f"Authorization: Bearer {world.token}"],
        world.directory,
    )
    variables = [word for pair in world.environment.items() for word in ("-e", "=".join(pair))]
    on_streams = Inspector(programs, [*variables, *world.person()], [], world.directory)
    for way, one in (("http", over_http), ("stdio", on_streams)):
        done = one.call_every_tool(world.mark(f"inspector-{way}"))
        print(f"  inspector-{way}: {done} calls")
    for toolset, path in TOOLSETS.items():
        options = ["--transport", "http", "--header", f"Authorization: Bearer {world.token}"]
        over_http = Inspector(programs, [f"{world.server.url}{path}"], options, world.directory)
        on_streams = Inspector(programs, [*variables, *world.person("--toolset", toolset)], [], world.directory)
        for way, one in (("http", over_http), ("stdio", on_streams)):
            names = {tool["name"] for tool in one.ask("tools/list")["tools"]}
            check.that(f"tools of {toolset} are listed over {way}", len(names) >= 8, names)
            if toolset == "core":
                result = one.ask("tools/call", "--tool-name", "shed_tree", "--tool-arg", 'zone="storage"')
            else:
                write = ('path="inspector.md"', f'content="{way}"')
                result = one.ask("tools/call", "--tool-name", "write_file", "--tool-arg", *write)
                check.equal(f"a file is written: {result}", result.get("isError", False), False)
                result = one.ask("tools/call", "--tool-name", "read_file", "--tool-arg", 'path="inspector.md"')
                check.that("it is read", way in result["content"][0]["text"], result)
            check.equal(f"a call of {toolset}: {result}", result.get("isError", False), False)
        print(f"  inspector-{toolset}: {len(names)} tools, over http and stdio")
    over_http = Inspector(
        programs,
        [f"{world.server.url}/mcp"],
        ["--transport", "http", "--header", f"Authorization: Bearer {world.token}"],
        world.directory,
    )
    for era in ("legacy", "modern"):
        listed = over_http.ask("tools/list", "--protocol-era", era)["tools"]
        check.that(f"tools are listed in the {era} era", len(listed) > 30, listed)
    content = over_http.ask("resources/read", "--uri", "fileshed://storage/inspector-http/todo.md")
    check.that("a resource is read", "- new" in content["contents"][0]["text"], content)


def conformance(world: World, directory: Path) -> None:
    programs = INSTALLED["conformance"](directory)
    # The suite has no credential.
    place = world.directory / "shared"
    place.mkdir()
    baseline = Path(__file__).parent / "conformance.yml"
    with fileshed.Fileshed(world.server.program, place, {"FILESHED_API_KEYS": ""}) as server:
        # The suite speaks over HTTP alone.
        for toolset, path in {"shed": "/mcp", **TOOLSETS}.items():
            done = subprocess.run(
                [*programs.command("conformance"), "server", "--url", f"{server.url}{path}",
                 "--expected-failures", str(baseline), "--output-dir", str(place / "results" / toolset)],
                cwd=place,
                env=programs.environment(),
                capture_output=True,
                text=True,
                timeout=check.PATIENCE,
            )
            summary = done.stdout.partition("=== SUMMARY ===")[2]
            said = f"{done.stdout[-4000:]}{done.stderr[-2000:]}"
            check.equal(f"the conformance suite, {toolset}: {said}", done.returncode, 0)
            lines = summary.splitlines()
            passed = [line.split(":")[0].strip("✓ ") for line in lines if line.startswith("✓") and ": 0 passed" not in line]
            print(f"  {toolset}: passed: {', '.join(passed)}")


def filesystem(_world: World, directory: Path) -> None:
    """Only for `cargo bench --bench mcp`, which measures both."""
    INSTALLED["filesystem"](directory)


#: Not among those that are run where none is named.
MORE = {"filesystem": filesystem}

PARTS = {"python": python, "inspector": inspector, "conformance": conformance}

#: The packages of each.
INSTALLED = {
    "python": lambda directory: install.package(PYTHON_SDK, directory),
    "inspector": lambda directory: npm.package(INSPECTOR, directory),
    "conformance": lambda directory: npm.package(CONFORMANCE, directory),
    "filesystem": lambda directory: npm.package(FILESYSTEM, directory),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="mcp.py", description="Test the clients of MCP.")
    parser.add_argument("part", nargs="*", choices=[*PARTS, *MORE, []], help="which; all, if none is named")
    parser.add_argument("--install-only", action="store_true", help="install what is not installed yet, and test nothing")
    arguments = parser.parse_args()
    chosen = arguments.part or list(PARTS)
    # A SystemExit unwinds, so everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory = fileshed.target() / "e2e"
    if arguments.install_only:
        wanted = [(name, INSTALLED[name]) for name in chosen]
        return 0 if all([parts.attempt("MCP clients", name, lambda: get(directory)) for name, get in wanted]) else 1
    went_well = True
    with tempfile.TemporaryDirectory(prefix="fileshed-mcp-", ignore_cleanup_errors=True) as directory, World(Path(directory)) as world:
        for name in chosen:
            part = (PARTS | MORE)[name]
            went_well &= parts.attempt("MCP clients", name, lambda: part(world, fileshed.target() / "e2e"))
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())

"""The inspector of the TypeScript SDK, on the command line: lists and calls every tool."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from clients.calls import calls, filled, learned
from harness import check
from harness.npm import Programs


class Inspector:
    """One server, reached in one way."""

    def __init__(self, programs: Programs, server: list[str], options: list[str], directory: Path):
        self._command = [*programs.command("mcp-inspector"), "--cli", *server]
        self._options = options
        self._environment = {**programs.environment(), "HOME": str(directory)}
        self._directory = directory

    def ask(self, method: str, *more: str) -> dict:
        """The result of a request. A tool that fails is a result, too."""
        done = subprocess.run(
            [*self._command, *self._options, "--method", method, *more],
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=check.PATIENCE,
        )
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise check.Failed(f"{method} {more}: {done.stdout[-1000:]}\n{done.stderr[-2000:]}") from None

    def call_every_tool(self, mark: str) -> int:
        offered = {tool["name"] for tool in self.ask("tools/list")["tools"]}
        made = calls(mark)
        missing = offered - {call.tool for call in made}
        check.that("a call of every tool is in calls.py", not missing, missing)
        known: dict[str, str] = {}
        for call in made:
            arguments = filled(call.arguments, known)
            pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
            more = ["--tool-arg", *pairs] if pairs else []
            result = self.ask("tools/call", "--tool-name", call.tool, *more)
            seen = f"{call.tool} {arguments}"
            check.equal(seen, not result.get("isError", False), call.succeeds)
            if call.succeeds:
                known.update(learned(call.tool, json.loads(result["content"][0]["text"])))
        return len(made)

"""Deliberate differences between the answers of fileshed and open-terminal, with the reasons. A line that no
longer differs fails."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Deliberate:
    """Differences with one reason."""

    reason: str
    #: Names of steps; none: every step.
    steps: tuple[str, ...]
    #: A pattern for the whole line of the difference.
    line: str

    def covers(self, step: str, line: str) -> bool:
        return (not self.steps or step in self.steps) and re.fullmatch(self.line, line) is not None


DELIBERATE = [
    Deliberate("a failure has a code that programs can tell apart", (), r"\.code is more"),
    Deliberate(
        "a wrong argument is a bad request, as everywhere else on this server",
        (),
        "status 400, not 422",
    ),
    Deliberate(
        "there are no notebooks: cells would run outside of what confines commands",
        ("features, to whoever asks",),
        r"\.features\.notebooks: false, not true",
    ),
    Deliberate(
        "/health tells whoever watches how commands are confined",
        ("health, to whoever asks",),
        r"\.(isolation|memory_limit|namespaces|sandbox|version) is more",
    ),
    Deliberate(
        "a limit out of its range is the nearest in it: a model meant as many as it may have",
        ("grep for 0 results", "grep for 501 results", "search for 101", "matches from -1"),
        "status 200, not 422",
    ),
    Deliberate(
        "every failure says `detail`, also where open-terminal itself says `error`",
        ("a shell that is not there", "close it again"),
        r"\.(detail is more|error is missing)",
    ),
    Deliberate(
        "the tree begins above the home: the browser shows the other zones, too",
        ("where one is", "be there"),
        r"\.root is missing",
    ),
    Deliberate(
        "text in another encoding than UTF-8 is text",
        ("read Latin 1",),
        "status 200, not 415",
    ),
    Deliberate(
        "open-terminal itself fails",
        ("replace in what is no text",),
        "status 400, not 500",
    ),
    Deliberate(
        "commands write into pipes, so that output and errors can be told apart, and no line ends in CR",
        ("run", "run a pipe", "run elsewhere", "run with a variable", "read on"),
        r"\.(output|next_offset)\b.*",
    ),
    Deliberate(
        "a model that starts a command reads what it cannot know; who asks for its status reads all of it",
        (
            "run",
            "run to a failure",
            "run what is not there",
            "run a pipe",
            "run and keep a file",
            "run elsewhere",
            "run with a variable",
            "run by its end",
            "start",
            "start another",
        ),
        r"\.(command|exit_code|id|log_path|next_offset|truncated) is missing",
    ),
    Deliberate(
        "a number for a variable is its digits",
        ("run with a number",),
        "status 200, not 422",
    ),
    Deliberate(
        "the status says where the command runs",
        ("look at it", "wait for its end", "read on", "see it dead"),
        r"\.cwd is more",
    ),
    Deliberate(
        "what had ended by itself was not killed",
        ("kill it too late",),
        r"\.status: .*",
    ),
    Deliberate(
        "models write 0 where they mean no line",
        ("replace from line 0",),
        "status 200, not 422",
    ),
    Deliberate(
        "numbers of processes are the server's own",
        ("open a shell", "shells", "a shell"),
        r"(\[\])?\.pid is missing",
    ),
]

"""A middling model at work: it makes the calls of a flow, and where one fails it makes the first call of the
hint as it stands, which has to succeed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from typing import Callable, Generator, Union
from urllib.parse import urljoin

from harness import check, web
from harness.chat import Answer, Result, attachment
from harness.model import Call, Steps
from harness.webui import Account
from harness.world import World
from scenarios import costs
from scenarios.costs import Cost

#: Whether each call is shown with what is told.
_TRACE = bool(os.environ.get("WORK_TRACE"))

_REPEAT = re.compile(r"repeat the (?:same )?call(?: with (?=\w+=)|(?=,? without )|$|;|,)")
_CALL = re.compile(r"\b([a-z]+(?:_[a-z]+)+)\((?=\)|[a-z_]+=)")
_NAME = re.compile(r"(?:, )?([a-z_]+)=")
_WITHOUT = re.compile(r",? without (\w+(?:(?:, | and )\w+)*)")


@dataclasses.dataclass
class Chat:
    """A question of somebody: in a new chat, or in that of another question."""

    who: Account
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)
    after: "Chat | None" = None
    terminal: bool = False
    #: What came of it, once all is done.
    answer: Answer | None = None


@dataclasses.dataclass
class Use:
    """A call as the model makes it after reading what it is offered."""

    tool: str
    arguments: dict
    #: The reason that it fails for.
    reason: str = ""
    #: What follows a failure: the call of the hint; nothing, since it has none; or nothing, since the limit
    #: was the point.
    after: str = "hint"

    def fails(self, reason: str) -> "Use":
        """It fails, and the hint leads back."""
        return dataclasses.replace(self, reason=reason)

    def refused(self, reason: str) -> "Use":
        """It fails, and the hint has no call: the user is told, or the model knows better by itself."""
        return dataclasses.replace(self, reason=reason, after="nothing")

    def limited(self, reason: str) -> "Use":
        """It fails at a limit, which is the point: no hint is followed."""
        return dataclasses.replace(self, reason=reason, after="limit")


#: Yields chats and calls, and receives what came of each.
Flow = Generator[Union[Chat, Use], Union[Chat, Result, None], None]


def use(tool: str, **arguments) -> Use:
    """A call of an operation."""
    return Use(f"shed_{tool}", arguments)


def execute(zone: str, command: str, *arguments: str, **named) -> Use:
    """A command in a zone."""
    return use("exec", zone=zone, cmd=command, args=list(arguments), **named)


class Work:
    """One flow as it is played."""

    def __init__(self, world: World):
        self.world = world
        self.cost = Cost()
        self._next: Chat | None = None

    @property
    def ada(self) -> Account:
        return self.world.webui.ada

    @property
    def bob(self) -> Account:
        return self.world.webui.bob

    def play(self, flow: Callable[["Work"], Flow]) -> Cost:
        steps = flow(self)
        chat = next(steps)
        while chat:
            self._next = None
            kinds = [(name, content, _kind(name)) for name, content in chat.files.items()]
            files = [attachment(self.world.webui.upload(chat.who, *file)) for file in kinds]
            after = chat.after.answer if chat.after else None
            terminal = "computer" if chat.terminal else ""
            chat.answer = self.world.ask(
                chat.who, self._script(steps, chat), files=files, after=after, terminal=terminal
            )
            chat = self._next
        return self.cost

    def opened(self, link: Result, who: Account | None = None) -> bytes:
        """Returns the content that the browser of a user gets from the link of an answer."""
        found = re.search(r"\]\(([^)\s]+)\)", link.text)
        check.that("the answer has a link", found, link.text)
        token = (who or self.ada).token
        opened = web.request("GET", urljoin(self.world.webui.url, found.group(1)), headers={"Cookie": f"token={token}"})
        check.equal("the link opens", opened.status, 200)
        return opened.body

    def _script(self, steps: Flow, chat: Chat) -> Steps:
        """The calls up to the next chat."""
        told: Chat | Result = chat
        while True:
            try:
                step = steps.send(told)
            except StopIteration:
                return
            if isinstance(step, Chat):
                self._next = step
                return
            told = yield from self._made(step)

    def _made(self, step: Use) -> Generator[Call, str, Result]:
        """The call, and where it fails that of the hint."""
        told = yield from self._told(step.tool, step.arguments)
        failure = failure_of(told)
        called = f"{step.tool} {json.dumps(step.arguments, ensure_ascii=False)[:600]}"
        strict = costs.WRITE != "before"
        if failure is None:
            check.that(f"{called} fails as declared: {step.reason}", not (strict and step.reason), told)
            return Result(told)
        self.cost.fail(step.reason)
        check.that(f"{called} does not fail", step.reason or not strict, told)
        follow = next_call(failure, (step.tool, step.arguments))
        if step.after != "hint" or (follow is None and not strict):
            is_led_back = strict and follow and step.after == "nothing"
            check.that(f"{called}: its hint has a call, which is to be followed", not is_led_back, told)
            return Result(told)
        check.that(f"{called}: the hint has a call", follow, told)
        again = yield from self._told(*follow)
        check.that(f"{called}: its hint succeeds: {follow}", failure_of(again) is None, f"{told}\n  then: {again}")
        return Result(again)

    def _told(self, tool: str, arguments: dict) -> Generator[Call, str, str]:
        told = yield tool, arguments
        if _TRACE:
            print(f"> {tool} {json.dumps(arguments, ensure_ascii=False)[:2000]}\n{told[:4000]}", flush=True)
        self.cost.add(tool, arguments, told)
        return told


def failure_of(told: str) -> str | None:
    """Returns the advice of a failed call, or of the failed program that it ran; None if it succeeded."""
    if told.startswith("Error: Tool"):
        return told
    try:
        answer = json.loads(told)
    except ValueError:
        return None
    if not isinstance(answer, dict):
        return None
    if "HTTP error" in str(answer.get("error", "")):
        try:
            sent = json.loads(str(answer["error"]).split(": ", 1)[1])
        except ValueError:
            return str(answer["error"])
        return sent["error"].get("hint", "") if isinstance(sent.get("error"), dict) else str(sent.get("detail", ""))
    if answer.get("error"):
        return str(answer["error"])
    status = answer.get("returncode", answer.get("exit_code"))
    return str(answer.get("note", answer.get("stderr", ""))) if status else None


def next_call(hint: str, failed: Call) -> Call | None:
    """The first call of a hint, complete as it stands."""
    found = []
    for repeat in _REPEAT.finditer(hint):
        changes, end = _arguments(hint, repeat.end())
        without = _WITHOUT.match(hint, end)
        dropped = re.split(", | and ", without.group(1)) if without else []
        kept = {name: value for name, value in failed[1].items() if name not in dropped}
        found.append((repeat.start(), (failed[0], kept | changes)))
    for call in _CALL.finditer(hint):
        arguments, end = _arguments(hint, call.end())
        if hint[end : end + 1] == ")":
            found.append((call.start(), (call.group(1), arguments)))
    return min(found, key=lambda each: each[0])[1] if found else None


def _arguments(text: str, at: int) -> tuple[dict, int]:
    """Values by name, and where they end."""
    values, decoder = {}, json.JSONDecoder()
    while named := _NAME.match(text, at):
        try:
            values[named.group(1)], at = decoder.raw_decode(text, named.end())
        except ValueError:
            break
    return values, at


def _kind(name: str) -> str:
    """Of text, Open WebUI reads the content at once."""
    return "text/plain" if name.endswith((".txt", ".md", ".csv")) else "application/octet-stream"

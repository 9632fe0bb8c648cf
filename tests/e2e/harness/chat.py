"""A question in a chat, asked as the browser asks it, and what came of it."""

from __future__ import annotations

import dataclasses
import json
import re
import time
import uuid

from harness import check, model
from harness.model import Final, Model, Script, Steps, Turn
from harness.webui import Account, OpenWebUI

_ERROR = re.compile(r"HTTP error (\d+): (.*)", re.DOTALL)


@dataclasses.dataclass
class Result:
    """The result of one call, as the model got it."""

    text: str

    @property
    def data(self) -> dict:
        """`data` of a success; all of it where the answer is short."""
        answer = json.loads(self.text)
        check.that("the call succeeds", isinstance(answer, dict) and "error" not in answer, self.text)
        return answer["data"] if answer.get("success") is True else answer

    @property
    def error(self) -> dict:
        """`error` of a failure, as fileshed sent it."""
        match = _ERROR.fullmatch(str(json.loads(self.text).get("error")))
        check.that("the call fails with an answer of fileshed", match, self.text)
        return json.loads(match.group(2))["error"]


@dataclasses.dataclass
class Answer:
    """One answer of the assistant, as it is stored."""

    chat: str
    message: dict
    script: Script

    @property
    def results(self) -> list[Result]:
        return [Result(text) for text in self.script.results]

    @property
    def last(self) -> Result:
        return self.results[-1]


def ask(
    webui: OpenWebUI,
    scripted: Model,
    who: Account,
    turns: list[Turn] | Steps,
    *,
    question: str = "",
    final: Final = "Done.",
    files: list[dict] | None = None,
    after: Answer | None = None,
    credential: str = "",
    tools: str = "fileshed",
    terminal: str = "",
) -> Answer:
    """Asks, and waits for the end of the answer. `after` goes on with a chat. A `terminal` is offered
    instead of the tools."""
    question = question or f"Question {uuid.uuid4().hex}."
    script = scripted.script(question, turns, final)
    asked, answered = str(uuid.uuid4()), str(uuid.uuid4())
    token = credential or who.token
    choice = {"terminal_id": terminal, "tool_ids": []} if terminal else {}
    # The browser asks this first, and only then is the model known.
    webui.ask("GET", "/api/models", token)
    sent = webui.ask(
        "POST",
        "/api/chat/completions",
        token,
        document=_request(question, asked, answered, files or [], after, tools) | choice,
    )
    chat = sent.get("chat_id") or after.chat
    message = _finished(webui, who, chat, answered)
    if script.fault:
        raise script.fault
    check.that("the chat has no error", not message.get("error"), message.get("error"))
    return Answer(chat, message, script)


def ask_without_trace(
    webui: OpenWebUI, scripted: Model, who: Account, turns: list[Turn], *, tools: str = "fileshed"
) -> list[Result]:
    """Asks in a temporary chat, of which Open WebUI keeps nothing."""
    question = f"Question {uuid.uuid4().hex}."
    script = scripted.script(question, turns)
    chat = f"{webui.version.temporary}{uuid.uuid4().hex}"
    webui.ask("GET", "/api/models", who.token)
    document = {**_request(question, str(uuid.uuid4()), str(uuid.uuid4()), [], None, tools), "chat_id": chat}
    webui.ask("POST", "/api/chat/completions", who.token, document=document)
    check.until(
        "the model says its last word",
        lambda: len(script.requests) > len(turns) and len(script.results) >= len(turns),
    )
    return [Result(text) for text in script.results]


def _request(
    question: str, asked: str, answered: str, files: list[dict], after: Answer | None, tools: str
) -> dict:
    parent = after.message["id"] if after else None
    message = {
        "id": asked,
        "parentId": parent,
        "childrenIds": [answered],
        "role": "user",
        "content": question,
        "timestamp": int(time.time()),
        "models": [model.NAME],
        "files": files,
    }
    return {
        "stream": True,
        "model": model.NAME,
        "messages": [{"role": "user", "content": question}],
        "user_message": message,
        "params": {},
        "features": {},
        "variables": {},
        "background_tasks": {},
        "tool_ids": [f"server:{tools}"],
        "files": files,
        "session_id": uuid.uuid4().hex,
        "id": answered,
        "parent_id": parent,
        **({"chat_id": after.chat} if after else {}),
    }


def _finished(webui: OpenWebUI, who: Account, chat: str, message: str) -> dict:
    def look() -> dict | None:
        stored = webui.ask("GET", f"/api/v1/chats/{chat}", who.token)
        seen = stored["chat"]["history"]["messages"].get(message, {})
        return seen if seen.get("done") or seen.get("error") else None

    return check.until("the answer is finished", look)


def attachment(record: dict) -> dict:
    """The item that the browser puts into a message for an uploaded file."""
    meta = record["meta"]
    return {
        "type": "file",
        "id": record["id"],
        "url": record["id"],
        "name": meta["name"],
        "size": meta["size"],
        "content_type": meta["content_type"],
        "collection_name": meta.get("collection_name", ""),
        "status": "uploaded",
        "file": record,
    }

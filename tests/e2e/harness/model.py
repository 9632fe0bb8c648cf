"""A model that follows a script, behind the API of OpenAI.

A script belongs to the text of a user's message. It is a list of turns; a turn is a list of tool
calls, or a function that makes them from the results so far. Or it is a generator that yields one call
after another, and receives what the model is told about each. When no turn is left, the model says its
final text. How far a script is can be read from the conversation that Open WebUI sends, so the
server keeps nothing but what it was sent.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Generator, Union

from harness.process import LOOPBACK

NAME = "assistant"

#: The name of a tool and its arguments.
Call = tuple[str, dict]
Turn = Union[list[Call], Callable[[list[str]], list[Call]]]
#: Yields calls, and receives their results.
Steps = Generator[Call, str, None]
Final = Union[str, Callable[[list[str]], str]]


@dataclasses.dataclass
class Script:
    turns: list[Turn] | Steps
    final: Final
    #: Every request for this script, as it came.
    requests: list[dict] = dataclasses.field(default_factory=list)
    #: What the model was told about its calls, in their order.
    results: list[str] = dataclasses.field(default_factory=list)
    #: A fault of the script itself.
    fault: Exception | None = None

    def offered(self) -> list[dict]:
        """The functions that the model may call."""
        tools = self.requests[0].get("tools") or [] if self.requests else []
        return [tool["function"] for tool in tools]

    def prompt(self) -> str:
        """The user's message as the model saw it."""
        sent = [message for message in self.requests[0]["messages"] if message["role"] == "user"]
        return text_of(sent[-1])

    def next(self, since: list[dict]) -> dict:
        """The assistant's message after those that came since the question."""
        self.results = [text_of(message) for message in since if message["role"] == "tool"]
        done = sum(1 for message in since if message.get("tool_calls"))
        calls = self._turn(done)
        if calls:
            return {"role": "assistant", "content": None, "tool_calls": _tool_calls(calls)}
        final = self.final if isinstance(self.final, str) else self.final(self.results)
        return {"role": "assistant", "content": final}

    def _turn(self, done: int) -> list[Call]:
        """The calls after so many turns; none at the end."""
        if not isinstance(self.turns, list):
            try:
                return [self.turns.send(self.results[-1] if done else None)]
            except StopIteration:
                return []
        turn = self.turns[done] if done < len(self.turns) else []
        return turn if isinstance(turn, list) else turn(self.results)


def text_of(message: dict) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _tool_calls(calls: list[Call]) -> list[dict]:
    return [
        {
            "index": index,
            "id": f"call_{uuid.uuid4().hex}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(calls)
    ]


class Model:
    """The server. It answers what the scripts say, and keeps every request."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer((LOOPBACK, 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://{LOOPBACK}:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(self, question: str, turns: list[Turn] | Steps, final: Final = "Done.") -> Script:
        """Sets the script for a question of a user."""
        script = Script(turns, final)
        with self._lock:
            self._scripts[question] = script
        return script

    def answer(self, sent: dict) -> dict:
        """The message of the assistant that comes next in a conversation."""
        script, since = self._find(sent["messages"])
        if script is None or (script.turns and not sent.get("tools")):
            return {"role": "assistant", "content": "I follow a script, and this is not in it."}
        script.requests.append(sent)
        try:
            return script.next(since)
        except Exception as fault:
            script.fault = fault
            return {"role": "assistant", "content": "The script has a fault."}

    def _find(self, messages: list[dict]) -> tuple[Script | None, list[dict]]:
        """The script of the newest question, and what came since. Pictures of tools are no question."""
        with self._lock:
            scripts = list(self._scripts.items())
        for index in range(len(messages) - 1, -1, -1):
            if messages[index]["role"] == "user":
                for question, script in scripts:
                    if text_of(messages[index]).endswith(question):
                        return script, messages[index + 1 :]
        return None, []


class _Handler(BaseHTTPRequestHandler):
    model: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: object) -> None:
        """Prints nothing, because the requests are kept."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": NAME, "object": "model", "owned_by": "test"}]})

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = self.model.answer(sent)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if sent.get("stream"):
            self._stream(message, reason)
        else:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send({"object": "chat.completion", "model": NAME, "choices": [choice]})

    def _stream(self, message: dict, reason: str) -> None:
        pieces = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": reason}]
        lines = [
            json.dumps({"object": "chat.completion.chunk", "model": NAME, "choices": [{"index": 0, **piece}]})
            for piece in pieces
        ]
        body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
        self._send_bytes(body.encode(), "text/event-stream")

    def _send(self, document: dict) -> None:
        self._send_bytes(json.dumps(document).encode(), "application/json")

    def _send_bytes(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

"""A request that both servers get, and what is seen of the answer."""

from __future__ import annotations

import dataclasses
import json
from urllib.parse import quote, urlencode

from harness import web


@dataclasses.dataclass(frozen=True)
class Step:
    """In its texts `{home}` is the directory where the server begins, and every other name in braces a
    field that an earlier step kept."""

    name: str
    method: str
    path: str
    #: Pairs, because a name may come more than once.
    query: tuple[tuple[str, str], ...] = ()
    document: object = None
    file: tuple[str, bytes, str] | None = None
    #: The text of the body, where it is no JSON.
    raw: bytes | None = None
    #: Field of the answer, and the name under which it is kept.
    keep: tuple[str, str] | None = None
    #: Whether the caller shows a credential.
    credential: bool = True
    #: Whether values are compared, and not only the names and types of fields.
    values: bool = True


@dataclasses.dataclass
class Side:
    """One of the two servers."""

    url: str
    key: str
    kept: dict[str, str]
    user: str = "ada"
    chat: str = "chat-1"

    def send(self, step: Step) -> web.Response:
        path = "/".join(quote(self.fill(part)) for part in step.path.split("/"))
        query = urlencode([(name, self.fill(value)) for name, value in step.query])
        answer = web.request(
            step.method,
            f"{self.url}{path}" + (f"?{query}" if query else ""),
            token=self.key if step.credential else None,
            headers={"X-User-Id": self.user, "X-Session-Id": self.chat},
            document=json.loads(self.fill(json.dumps(step.document))) if step.document is not None else None,
            file=step.file,
            raw=step.raw,
        )
        if step.keep:
            field, name = step.keep
            self.kept[name] = str(answer.json()[field]) if answer.status == 200 else "none"
        return answer

    def fill(self, text: str) -> str:
        for name, value in self.kept.items():
            text = text.replace("{" + name + "}", value)
        return text

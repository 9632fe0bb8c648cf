"""One HTTP request, as it is: no redirects are followed, and no answer is a failure by itself."""

from __future__ import annotations

import dataclasses
import json
import uuid
from http.client import HTTPConnection
from urllib.parse import urlsplit

from harness import check


@dataclasses.dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.body)


def request(
    method: str,
    url: str,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
    document: object = None,
    file: tuple[str, bytes, str] | None = None,
    raw: bytes | None = None,
    seconds: float = check.PATIENCE,
) -> Response:
    """`document` is sent as JSON, `file` (name, bytes, type) as the form field `file`,
    `raw` as if it were JSON."""
    address = urlsplit(url)
    path = address.path + (f"?{address.query}" if address.query else "")
    sent = dict(headers or {})
    if token:
        sent["Authorization"] = f"Bearer {token}"
    body = None
    if document is not None:
        body = json.dumps(document).encode()
        sent["Content-Type"] = "application/json"
    if raw is not None:
        body, sent["Content-Type"] = raw, "application/json"
    if file is not None:
        body, sent["Content-Type"] = _form(file)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=seconds)
    try:
        connection.request(method, path or "/", body=body, headers=sent)
        answer = connection.getresponse()
        received = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, received, answer.read())
    finally:
        connection.close()


def _form(file: tuple[str, bytes, str]) -> tuple[bytes, str]:
    """A body of one file, and its type."""
    boundary = uuid.uuid4().hex
    name, content, kind = file
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {kind}\r\n\r\n"
    )
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"

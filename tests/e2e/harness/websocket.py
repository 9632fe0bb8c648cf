"""The client's side of one WebSocket, without extensions."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from urllib.parse import urlsplit

from harness import check

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class WebSocket:
    """`with WebSocket(url, headers) as ours:` ends it."""

    def __init__(self, url: str, headers: dict[str, str], seconds: float = check.PATIENCE):
        address = urlsplit(url)
        self._socket = socket.create_connection((address.hostname, address.port), seconds)
        self._reader = self._socket.makefile("rb")
        asked = {
            "Host": address.netloc,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            **headers,
        }
        lines = [f"GET {address.path} HTTP/1.1", *(f"{name}: {value}" for name, value in asked.items())]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status = self._reader.readline().decode()
        check.that("the protocol is changed", " 101 " in status, status)
        while self._reader.readline() not in (b"\r\n", b""):
            pass

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_failure: object) -> None:
        self._reader.close()
        self._socket.close()

    def send(self, content: bytes | dict) -> None:
        """Bytes as they are, an object as JSON in a text message."""
        if isinstance(content, dict):
            self._frame(TEXT, json.dumps(content).encode())
        else:
            self._frame(BINARY, content)

    def receive(self) -> bytes | int:
        """The next message, or the code with which it was closed."""
        while True:
            kind, content = self._next()
            if kind == PING:
                self._frame(PONG, content)
            elif kind == CLOSE:
                return struct.unpack("!H", content[:2])[0]
            else:
                return content

    def _frame(self, kind: int, content: bytes) -> None:
        long = struct.pack("!BH", 0x80 | 126, len(content)) if len(content) > 125 else bytes([0x80 | len(content)])
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))
        self._socket.sendall(bytes([0x80 | kind]) + long + mask + masked)

    def _next(self) -> tuple[int, bytes]:
        """Servers send whole messages, unmasked."""
        kind, length = self._read(2)
        if length == 126:
            length = struct.unpack("!H", self._read(2))[0]
        elif length == 127:
            length = struct.unpack("!Q", self._read(8))[0]
        return kind & 0x0F, self._read(length)

    def _read(self, count: int) -> bytes:
        content = self._reader.read(count)
        check.equal("the server sends on", len(content), count)
        return content

"""A connection that can be cut: a small TCP proxy before a server, with a bounded rate."""

from __future__ import annotations

import socket
import threading
import time

from harness.process import LOOPBACK

#: Bytes that are passed on at once.
PIECE = 256 * 1024


class Proxy:
    """Passes connections on to `port`, up to `rate` bytes in a second. `with Proxy(...) as proxy:` ends it."""

    def __init__(self, port: int, rate: int):
        self.port = port
        self._rate = rate
        self._listener = socket.create_server((LOOPBACK, 0))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_cut = False
        self.url = f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """Every connection is lost, and none is made any more."""
        self._is_cut = True
        with self._lock:
            for one in self._open:
                self._reset(one)
            self._open.clear()

    def mend(self) -> None:
        """Connections are made again."""
        self._is_cut = False

    def _reset(self, one: socket.socket) -> None:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = None if self._is_cut else socket.create_connection((LOOPBACK, self.port))
            except OSError:
                server = None
            if server is None:
                client.close()
                continue
            with self._lock:
                self._open |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(PIECE):
                sink.sendall(piece)
                if len(piece) == PIECE:
                    time.sleep(PIECE / self._rate)
        except OSError:
            pass
        finally:
            self._reset(sink)
            with self._lock:
                self._open.discard(source)
            source.close()

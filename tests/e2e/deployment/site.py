"""Servers, PostgreSQL and a proxy in front of them, as processes of this machine."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import Iterable

from harness import check, fileshed, web
from harness.postgres import Postgres
from harness.process import LOOPBACK, free_port

from deployment.proxies import Caddy, Haproxy, Nginx

SERVERS = ("fileshed-0", "fileshed-1")
KEY, TERMINAL_KEY = "8f14e45fceea167a5a36", "c9f0f895fb98ab9159f5"


def as_user(user: str, **more: str) -> dict[str, str]:
    """Returns the headers of a gateway that calls for a user."""
    named = {"Authorization": f"Bearer {KEY}", "X-OpenWebUI-User-Id": user}
    return {**named, "X-OpenWebUI-Chat-Id": "chat", **more}


def at_terminal(user: str) -> dict[str, str]:
    """The same at the terminal."""
    return {"Authorization": f"Bearer {TERMINAL_KEY}", "X-User-Id": user, "X-Session-Id": "chat"}


class Site:
    """`with Site(directory) as site:` ends all that it started."""

    def __init__(
        self,
        directory: Path,
        settings: dict[str, str],
        proxy: Haproxy | Nginx | Caddy,
        names: tuple[str, ...] = SERVERS,
    ):
        self.proxy, self._names = proxy, names
        self._postgres = Postgres()
        self._directory, self._settings = directory, settings
        self._port = free_port()
        self.url = f"http://{LOOPBACK}:{self._port}"
        self.data = directory / "data"
        self.servers: dict[str, fileshed.Fileshed] = {}

    def __enter__(self) -> "Site":
        with contextlib.ExitStack() as started:
            postgres = started.enter_context(self._postgres)
            for name in self._names:
                place = self._directory / name
                place.mkdir()
                settings = {
                    "FILESHED_REGISTRY": postgres.url,
                    "FILESHED_STORAGE_BASE_PATH": str(self.data),
                    "FILESHED_INSTANCE_NAME": name,
                    "FILESHED_API_KEYS": KEY,
                    "FILESHED_TERMINAL_API_KEYS": TERMINAL_KEY,
                    "FILESHED_PUBLIC_URL": self.url,
                    "FILESHED_TRUSTED_PROXIES": LOOPBACK,
                    "FILESHED_LOG_LEVEL": "warn",
                    **self._settings,
                }
                self.servers[name] = fileshed.Fileshed(fileshed.binary(), place, settings)
                started.callback(self.servers[name].__exit__)
            addresses = {name: server.url.removeprefix("http://") for name, server in self.servers.items()}
            self._process = self.proxy.start(self._directory, self._port, addresses)
            started.callback(self._process.stop)
            for server in self.servers.values():
                server.__enter__()
            check.until("the proxy listens", self._is_reached)
            check.until("all servers get calls", lambda: self.has_served(self._names))
            self._started = started.pop_all()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._started.close()

    def _is_reached(self) -> bool:
        try:
            return web.request("GET", f"{self.url}/health").status == 200
        except ConnectionError:
            return False

    def proxy_said(self) -> list[str]:
        return self._process.log.read_text(errors="replace").splitlines()

    def has_served(self, names: Iterable[str]) -> bool:
        """Returns True if requests reach these servers, and no others."""
        seen = {self.server_of(f"somebody-{number}") for number in range(20)}
        return seen == set(names)

    def server_of(self, user: str, **headers: str) -> str:
        """The server that gets what a user asks, or whoever sends these headers."""
        if len(self._names) == 1:
            return self._names[0]
        sent = headers or as_user(user)
        mark = len(self.proxy_said())
        # No other caller uses HEAD; the log line of an earlier call may come after its answer.
        web.request("HEAD", f"{self.url}/health", headers=sent)
        return check.until("the proxy says so", lambda: self._served(mark, "HEAD"))[0]

    def a_user_of(self, server: str, beginning: str = "user") -> str:
        users = (f"{beginning}-{number}" for number in range(1000))
        return next(user for user in users if self.server_of(user) == server)

    def call(self, user: str, operation: str, **arguments: object) -> dict:
        """Returns the data of a successful and complete answer."""
        answer = web.request("POST", f"{self.url}/{operation}", headers=as_user(user), document=arguments)
        check.equal(f"{operation}: {answer.text}", answer.status, 200)
        data = answer.json()["data"]
        check.that(f"all of {operation} is in its answer", not data.get("truncated"), data)
        return data

    def is_draining(self, name: str) -> bool:
        try:
            answer = web.request("GET", f"{self.servers[name].url}/ready")
        except ConnectionError:
            return False
        return answer.status == 503 and json.loads(answer.body)["status"] == "draining"

    def counts(self, since: int) -> Counter[str]:
        """Calls to each server, from this line of the proxy on."""
        return Counter(self._served(since))

    def _served(self, since: int, method: str | None = None) -> list[str]:
        """The server of each call from this line of the proxy on, or of each by this method."""
        calls = filter(None, map(self.proxy.call_in, self.proxy_said()[since:]))
        return [server for called, server in calls if method in (None, called)]

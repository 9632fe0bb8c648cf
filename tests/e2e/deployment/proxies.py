"""The proxies that can be in front of servers, each with what this repository says for it."""

from __future__ import annotations

import re
import ssl
import subprocess
from http.client import HTTPSConnection
from pathlib import Path

from harness import check, fileshed, install
from harness.process import LOOPBACK, Process, free_port

ADMINISTRATION = fileshed.REPOSITORY / "docs" / "administration.md"
SEVERAL_SERVERS = fileshed.REPOSITORY / "docs" / "several-servers.md"


def _example(page: Path, language: str) -> str:
    """The only example in this language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    check.equal(f"examples for {language} in {page.name}", len(found), 1)
    return found[0]


def _with(text: str, changes: dict[str, str]) -> str:
    """The text with other places and names, each of which it has once."""
    for old, new in changes.items():
        check.equal(f"{old} in an example", text.count(old), 1)
        text = text.replace(old, new)
    return text


class Haproxy:
    """With deploy/haproxy.cfg."""

    CONFIGURATION = fileshed.REPOSITORY / "deploy" / "haproxy.cfg"

    def __init__(self) -> None:
        self._program = install.program("haproxy")

    def start(self, directory: Path, port: int, servers: dict[str, str]) -> Process:
        addresses = {f"SERVER_{number}": address for number, address in enumerate(servers.values())}
        environment = {"PROXY_BIND": f"{LOOPBACK}:{port}", **addresses}
        return Process("proxy", [self._program, "-db", "-f", self.CONFIGURATION], environment, directory)

    def call_in(self, line: str) -> tuple[str, str] | None:
        """The method of a call and the server that got it, by what the proxy said of it; nothing in lines
        of something else."""
        words = line.split()
        return (words[2], words[1]) if len(words) == 9 else None


class Nginx:
    """With the examples for it: the ports and the names of files are the test's, and it logs who got a
    call. It listens without TLS beside."""

    def __init__(self) -> None:
        self._program = install.program("nginx")
        self._names: dict[str, str] = {}

    def start(self, directory: Path, port: int, servers: dict[str, str]) -> Process:
        self._names = {address: name for name, address in servers.items()}
        addresses = list(servers.values())
        self._certificate, self._tls_port = _certificate(directory), free_port()
        key = self._certificate.with_suffix(".key")
        server = _with(
            _example(ADMINISTRATION, "nginx"),
            {
                "listen 443 ssl;": f"listen {LOOPBACK}:{self._tls_port} ssl; listen {LOOPBACK}:{port};",
                "/etc/ssl/files.example.org.pem": str(self._certificate),
                "/etc/ssl/files.example.org.key": str(key),
                "http://127.0.0.1:8000": f"http://{'fileshed' if len(addresses) > 1 else addresses[0]}",
                "access_log off;": "access_log /dev/stdout servers;",
            },
        )
        several = ""
        if len(addresses) > 1:
            places = dict(zip(("10.0.0.11:8000", "10.0.0.12:8000"), addresses, strict=True))
            several = _with(_example(SEVERAL_SERVERS, "nginx"), places)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        lines = [
            "daemon off;",
            f"pid {directory}/nginx.pid;",
            "error_log /dev/stderr warn;",
            "events {}",
            "http {",
            'log_format servers "call $request_method $upstream_addr";',
            *(f"{kind}_temp_path {directory}/{kind};" for kind in kinds),
            several,
            server,
            "}",
        ]
        configuration = directory / "nginx.conf"
        configuration.write_text("\n".join(lines))
        return Process("proxy", [self._program, "-p", directory, "-c", configuration], {}, directory)

    def call_in(self, line: str) -> tuple[str, str] | None:
        # One that takes no call is named before the one that takes it.
        words = line.split()
        is_call = words[:1] == ["call"] and words[-1] in self._names
        return (words[1], self._names[words[-1]]) if is_call else None

    def answers_with_tls(self) -> None:
        trusted = ssl.create_default_context(cafile=str(self._certificate))
        connection = HTTPSConnection("localhost", self._tls_port, timeout=check.PATIENCE, context=trusted)
        connection.request("GET", "/health")
        check.equal("an answer with TLS", connection.getresponse().status, 200)
        connection.close()


def _certificate(directory: Path) -> Path:
    """One for this machine that nobody signed, with its key beside it."""
    place = directory / "certificate.pem"
    options = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", f"subjectAltName=DNS:localhost,IP:{LOOPBACK}"]
    files = ["-keyout", str(place.with_suffix(".key")), "-out", str(place)]
    command = [install.program("openssl"), "req", "-x509", *options, *names, *files]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60)
    check.equal(f"a certificate: {made.stderr}", made.returncode, 0)
    return place


class Caddy:
    """With the example for it, without a certificate, which it gets from elsewhere."""

    def __init__(self) -> None:
        self._program = install.program("caddy")

    def start(self, directory: Path, port: int, servers: dict[str, str]) -> Process:
        (address,) = servers.values()
        changes = {"files.example.org": f"http://{LOOPBACK}:{port}", "127.0.0.1:8000": address}
        configuration = directory / "Caddyfile"
        # Two of them on one machine would want one address for orders.
        configuration.write_text("{\n    admin off\n}\n" + _with(_example(ADMINISTRATION, "caddyfile"), changes))
        command = [self._program, "run", "--adapter", "caddyfile", "--config", configuration]
        return Process("proxy", command, {"HOME": str(directory)}, directory)

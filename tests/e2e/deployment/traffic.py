"""Traffic through the proxy, while servers come and go."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import threading
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Callable
from urllib.parse import urlsplit

from harness import check, signature, web
from harness.websocket import WebSocket
from harness.webui import Account

from deployment.site import KEY, SERVERS, TERMINAL_KEY, Site, as_user, at_terminal

#: What is uploaded: more than anybody on the way holds.
UPLOAD_BYTES = 128 * 1024 * 1024
PIECE = bytes(range(256)) * 4096

#: Where a caller reads what it writes.
LOG = "/files/content?zone=storage&path=log.txt"

#: How long a command runs that is under way when its server is told to stop.
SLOW_SECONDS = 25


def one_server_for_a_user(site: Site) -> None:
    seen = set()
    for number in range(12):
        user = f"person-{number}"
        account = Account(user, user, f"{user}@example.org", "")
        session = _unsigned({"id": user, "typ": "session", "jti": f"{number}"})
        server = site.server_of(user)
        seen.add(server)
        for way in (
            {"X-OpenWebUI-User-Id": user},
            {"X-User-Id": user, "Authorization": f"Bearer {KEY}"},
            {"X-OpenWebUI-User-Jwt": signature.sign(account, "secret", iat=number)},
            {"Authorization": f"Bearer {session}"},
        ):
            check.equal(f"the server of {user} as {list(way)}", site.server_of(user, **way), server)
    check.equal("the servers that have users", seen, set(SERVERS))
    for way in ({"Authorization": "Bearer fst_abc"}, {"Cookie": "other=1; fileshed-session=abc"}):
        servers = {site.server_of("", **way) for _ in range(4)}
        check.equal(f"the servers of {way}", len(servers), 1)


def _unsigned(claims: dict) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({}, claims)]
    return ".".join([*parts, "c2lnbmF0dXJl"])


def a_session_of_the_page(site: Site) -> None:
    """The server compares Host, Origin and its public address: all three are the proxy's."""
    made = site.servers[SERVERS[0]].run("login-link", "--user", "ada")
    link = made.stdout.split()[-1]
    check.that("the link leads to the proxy", link.startswith(f"{site.url}/page/sign-in/"), made)
    own = {"Origin": site.url, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    signed = web.request("POST", link, headers=own)
    cookie = signed.headers.get("set-cookie", "").split(";")[0]
    check.that("a browser signs in", cookie.startswith("fileshed-session="), signed)
    page = {**own, "Cookie": cookie, "X-Fileshed-Page": "1"}
    shown = web.request("POST", f"{site.url}/shed_tree", headers=page, document={"zone": "storage"})
    check.equal(f"its files: {shown.text}", shown.status, 200)
    foreign = {**page, "Origin": "https://example.net", "Sec-Fetch-Site": "cross-site"}
    refused = web.request("POST", f"{site.url}/shed_tree", headers=foreign, document={"zone": "storage"})
    check.equal("another site", refused.status, 403)


def a_shell(site: Site) -> None:
    """A terminal over a socket, at the server that started it."""
    for server in site.servers:
        user = site.a_user_of(server)
        shells = f"{site.url}/terminal/api/terminals"
        opened = web.request("POST", shells, headers=at_terminal(user), document={})
        check.equal(f"a shell: {opened.text}", opened.status, 200)
        # As Open WebUI connects: without a credential in the request.
        known = {"X-User-Id": user, "X-Session-Id": "chat"}
        with WebSocket(f"{shells}/{opened.json()['id']}", known) as shell:
            shell.send({"type": "auth", "token": TERMINAL_KEY})
            shell.send(b"echo $((6 * 7)); exit\n")
            shown = b""
            while isinstance(told := shell.receive(), bytes):
                shown += told
            check.that("what the shell shows", b"42\r\n" in shown, shown)
            check.equal("why it was closed", told, 1000)


def an_answer_as_it_comes(site: Site) -> None:
    """A command waits for what is sent when its first line is there."""
    user = site.a_user_of(SERVERS[0])
    line = "echo first; until [ -e go ]; do sleep 0.1; done; echo second"
    connection, answer = _post(site, "/terminal/execute?stream=true", at_terminal(user), {"command": line})
    entries = []
    for text in answer:
        entries.append(json.loads(text))
        if "first" in text.decode():
            site.call(user, "shed_create_file", zone="storage", path="go", content="now")
    check.that("the second line", "second" in json.dumps(entries), entries)
    connection.close()


def _post(site: Site, path: str, headers: dict, document: dict) -> tuple[HTTPConnection, HTTPResponse]:
    address = urlsplit(site.url)
    connection = HTTPConnection(address.hostname, address.port, timeout=check.PATIENCE)
    sent = {**headers, "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(document), sent)
    answer = connection.getresponse()
    check.equal(path, answer.status, 200)
    return connection, answer


def a_call_of_mcp(site: Site) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = as_user("ada", Accept="application/json, text/event-stream")
    answer = web.request("POST", f"{site.url}/mcp", headers=headers, document=asked)
    check.that("the tools", answer.status == 200 and "shed_exec" in answer.text, answer)


def a_large_file(site: Site) -> None:
    """It is on the disk of the server while the rest is on its way, and comes back the same."""
    address = urlsplit(site.url)
    connection = HTTPConnection(address.hostname, address.port, timeout=check.PATIENCE)
    sent = hashlib.sha256()

    def content():
        for place in range(0, UPLOAD_BYTES, len(PIECE)):
            if place == UPLOAD_BYTES // 2:
                check.until("the first half arrives", lambda: _bytes_below(site.data) > UPLOAD_BYTES // 4)
            sent.update(PIECE)
            yield PIECE

    headers = as_user("ada", **{"Content-Length": str(UPLOAD_BYTES)})
    connection.request("PUT", "/files/content?zone=storage&path=large.bin", content(), headers)
    stored = connection.getresponse()
    check.equal(f"the upload: {stored.read()}", stored.status, 201)
    connection.request("GET", "/files/content?zone=storage&path=large.bin", headers=as_user("ada"))
    answer, received = connection.getresponse(), hashlib.sha256()
    while piece := answer.read(len(PIECE)):
        received.update(piece)
    check.equal("the content", received.hexdigest(), sent.hexdigest())
    connection.close()


def _bytes_below(place: Path) -> int:
    total = 0
    for directory, _, files in os.walk(place):
        for name in files:
            with contextlib.suppress(FileNotFoundError):
                total += os.stat(os.path.join(directory, name)).st_size
    return total


class Caller(threading.Thread):
    """One user who reads and writes without a pause, and what became of it."""

    def __init__(self, site: Site, user: str):
        super().__init__(daemon=True)
        self._site, self.user, self._over = site, user, threading.Event()
        site.call(user, "shed_create_file", zone="storage", path="log.txt", content="")
        self.reads = self.writes = 0
        self.unread: list[str] = []
        self.unwritten: list[str] = []
        self.written: list[str] = []

    def run(self) -> None:
        while not self._over.is_set():
            line = f"line {self.writes}"
            added = {"zone": "storage", "path": "log.txt", "content": f"{line}\n", "position": "end"}
            failed = self._failed("POST", "/shed_patch_text", added)
            self.writes += 1
            if failed:
                self.unwritten.append(f"{line}: {failed}")
            else:
                self.written.append(line)
            failed = self._failed("GET", LOG)
            self.reads += 1
            if failed:
                self.unread.append(failed)

    def _failed(self, method: str, path: str, document: object = None) -> str:
        """Why, or nothing."""
        try:
            answer = web.request(method, self._site.url + path, headers=as_user(self.user), document=document)
        except (OSError, HTTPException) as failure:
            return repr(failure)
        return "" if answer.status == 200 else f"{answer.status} {answer.text[:300]}"

    def end(self) -> None:
        self._over.set()
        self.join()

    def everything_is_there_once(self) -> None:
        # Read as a file, because the output of a command in an answer is limited, and a fast machine writes
        # more.
        answer = web.request("GET", self._site.url + LOG, headers=as_user(self.user))
        check.equal(f"the file: {answer.text[:300]}", answer.status, 200)
        lines = answer.text.splitlines()
        check.equal("lines that are there twice", len(lines) - len(set(lines)), 0)
        check.equal("lines that are lost", set(self.written) - set(lines), set())


def _with_callers(site: Site, work: Callable[[list[Caller]], None]) -> list[Caller]:
    """Two users of each server call while something happens; who they are, when it is over."""
    check.until("both servers get calls", lambda: site.has_served(SERVERS))
    # Names differ by server, too: a server that is taken for gone in between gives its users away.
    users = [site.a_user_of(server, f"{server}-{half}") for server in SERVERS for half in "ab"]
    callers = [Caller(site, user) for user in users]
    for caller in callers:
        caller.start()
    try:
        _all_go_on(callers)
        work(callers)
    finally:
        for caller in callers:
            caller.end()
    for caller in callers:
        caller.everything_is_there_once()
        check.equal(f"reads of {caller.user} that failed", caller.unread, [])
        print(f"  {caller.user}: {caller.writes} writes, {caller.unwritten or 'none failed'}", flush=True)
    return callers


def _all_go_on(callers: list[Caller], count: int = 10) -> None:
    before = [caller.reads for caller in callers]
    check.until(
        "everybody goes on", lambda: all(now.reads >= then + count for now, then in zip(callers, before))
    )


def a_server_that_dies(site: Site) -> None:
    died, _ = SERVERS

    def dies(callers: list[Caller]) -> None:
        site.servers[died].kill()
        _all_go_on(callers)
        # Its users come back with it.
        site.servers[died].start()
        mark = len(site.proxy_said())
        check.until("it gets calls again", lambda: site.counts(mark)[died] > 10)
        _all_go_on(callers)

    for caller in _with_callers(site, dies):
        # The call that it had, and none after it.
        check.that(f"changes of {caller.user} that failed", len(caller.unwritten) <= 1, caller.unwritten)
    check.until("both servers get calls", lambda: site.has_served(SERVERS))


def a_server_that_is_told_to_stop(site: Site) -> None:
    stopped, _ = SERVERS
    waits = site.a_user_of(stopped, "waits")
    # Longer than it drains, and a number that no other command has.
    seconds = f"{SLOW_SECONDS}.{os.getpid()}"

    def stops(callers: list[Caller]) -> None:
        ended: list[dict] = []
        asked = {"zone": "storage", "cmd": "sleep", "args": [seconds]}
        runs = threading.Thread(target=lambda: ended.append(site.call(waits, "shed_exec", **asked)), daemon=True)
        runs.start()
        check.until("the command runs", lambda: _runs(seconds))
        mark = len(site.proxy_said())
        site.servers[stopped].process.ask_to_end()
        check.until("it says that it drains", lambda: site.is_draining(stopped))
        down = f"Server servers/{stopped} is DOWN"
        check.until("the proxy sees it", lambda: any(down in line for line in site.proxy_said()[mark:]))
        # A call that was sent before that may yet be answered.
        _all_go_on(callers)
        mark = len(site.proxy_said())
        _all_go_on(callers)
        check.equal("calls to the server that drains", site.counts(mark)[stopped], 0)
        check.that("the command runs on", runs.is_alive() and not ended, ended)
        runs.join(check.PATIENCE)
        check.that("the command ended well", ended and ended[0]["returncode"] == 0, ended)
        check.until("the server ends", lambda: site.servers[stopped].process.status() is not None)
        check.equal("how it ended", site.servers[stopped].process.status(), 0)
        site.servers[stopped].start()
        check.until("it gets calls again", lambda: site.counts(mark)[stopped] > 10)

    for caller in _with_callers(site, stops):
        check.equal(f"changes of {caller.user} that failed", caller.unwritten, [])


def _runs(word: str) -> bool:
    """Returns True if a running command has this argument."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in place.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def a_server_that_listens_no_more(site: Site) -> None:
    """A proxy that asks no server whether it is ready finds out by a call that no server takes."""
    ended, other = SERVERS
    users = [site.a_user_of(server, beginning) for server in SERVERS for beginning in "ab"]
    site.servers[ended].kill()
    for number in range(8):
        for user in users:
            site.call(user, "shed_create_file", zone="storage", path=f"{number}.txt", content="now")
    check.that("the other one has all calls", site.has_served([other]))
    site.servers[ended].start()
    check.until("it gets calls again", lambda: site.has_served(SERVERS))


def an_answer_with_tls(site: Site) -> None:
    site.proxy.answers_with_tls()


def the_address_of_a_client(site: Site) -> None:
    """A client that names another address is known by its own."""
    connection = HTTPConnection(urlsplit(site.url).netloc, timeout=check.PATIENCE, source_address=("127.0.0.9", 0))
    headers = {"Authorization": "Bearer wrong", "X-Forwarded-For": "203.0.113.9"}
    connection.request("GET", "/dav/", headers=headers)
    check.equal("a wrong credential", connection.getresponse().status, 401)
    connection.close()
    logs = "".join(server.process.log.read_text(errors="replace") for server in site.servers.values())
    check.that("its address is logged", "a credential was refused address=127.0.0.9\n" in logs, logs[-2000:])


THROUGH_ANY_PROXY = [
    a_session_of_the_page,
    the_address_of_a_client,
    a_shell,
    an_answer_as_it_comes,
    a_call_of_mcp,
    a_large_file,
]

SCENARIOS = [
    one_server_for_a_user,
    *THROUGH_ANY_PROXY,
    a_server_that_dies,
    a_server_that_is_told_to_stop,
]

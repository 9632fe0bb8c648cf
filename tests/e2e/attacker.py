"""Measures what one user waits for while others take all that they can get.

attacker.py [--seconds N]

The server runs every program (`exec.programs=*`). The attackers hold watches of epoll, descriptors on
their way, streams of subscriptions, waits for processes, and files without a name, each in a loop. Every few
rounds they pause, so that the user is measured alone on the same machine under the same other load. It
fails if the user waits more than ten times as long as alone, by the median or by the slowest twentieth,
or is refused.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable

from harness import check, fileshed, web

#: How much longer than alone the other user may wait.
MOST = 10

#: Seconds that one round of an attack lasts.
ROUND = 20

#: Seconds between two pauses, and at least that long is what a pause measures.
SPELL, PAUSE = 3 * ROUND, 10

WATCHES = """
import os, select, socket, time
for _ in range(40):
    if os.fork() == 0:
        break
pairs, polls = [], []
try:
    while len(pairs) < 60:
        pairs.append(socket.socketpair())
    while True:
        polls.append(select.epoll())
        for pair in pairs:
            polls[-1].register(pair[0].fileno())
            polls[-1].register(pair[1].fileno())
except OSError:
    pass
try:
    while True:
        socket.send_fds(pairs[0][0], [b"x"], [0] * 20)
except OSError:
    pass
time.sleep(20)
"""

HELD = "exec 3>held; rm held; head -c 200M /dev/zero >&3; sleep 20"

LISTEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"resourceSubscriptions": ["fileshed://storage/a.txt"]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "attacker", "version": "1"},
        },
    },
}


class World:
    """A server, one quiet user and many attackers."""

    def __init__(self, server: fileshed.Fileshed):
        self.server = server
        self.over = threading.Event()

    def token(self, user: str, *more: str) -> str:
        made = self.server.run("token", "create", "--user", user, *more)
        check.equal(f"a token of {user}: {made.stderr}", made.returncode, 0)
        return made.stdout.strip()

    def line(self, token: str, command: str) -> str:
        """Begins a line in the background. Nothing comes back where it is refused."""
        address = f"{self.server.url}/terminal/execute"
        answer = web.request("POST", address, token=token, document={"command": command})
        return answer.json().get("id", "") if answer.status == 200 else ""

    def runs(self, token: str) -> bool:
        """Returns True if a command of the user still runs."""
        answer = web.request("GET", f"{self.server.url}/terminal/execute", token=token)
        return any(process["status"] == "running" for process in answer.json())

    def open(self, token: str, head: str, body: str = "") -> socket.socket:
        """Sends a request whose answer nobody reads."""
        connection = socket.create_connection(("127.0.0.1", self.server.port), 10)
        text = (
            f"{head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        connection.sendall(text.encode())
        return connection


def watches(world: World, token: str) -> None:
    for _ in range(2):
        world.line(token, f"python3 -c '{WATCHES}'")
    world.over.wait(ROUND)


def held_files(world: World, token: str) -> None:
    world.line(token, HELD)
    world.over.wait(ROUND)


def subscriptions(world: World, tokens: list[str]) -> None:
    with contextlib.ExitStack() as held:
        for token in tokens:
            held.enter_context(world.open(token, "POST /mcp", json.dumps(LISTEN)))
        world.over.wait(ROUND)


def waits(world: World, tokens: tuple[str, str]) -> None:
    writer, reader = tokens
    process = world.line(writer, f"sleep {ROUND}")
    with contextlib.ExitStack() as held:
        for _ in range(600):
            held.enter_context(world.open(reader, f"GET /terminal/execute/{process}/status?wait=300"))
        world.over.wait(ROUND)


def attack(world: World, one: Callable[[], None]) -> threading.Thread:
    def again() -> None:
        while not world.over.is_set():
            # A server that refuses an attacker does what it should.
            with contextlib.suppress(OSError, ValueError):
                one()
            world.over.wait(0.1)

    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    return thread


def calls(world: World, token: str) -> dict[str, Callable[[], web.Response]]:
    """The calls of the quiet user."""
    server = world.server
    note = {"zone": "storage", "path": "a.txt", "content": "x"}
    return {
        "health": lambda: web.request("GET", f"{server.url}/health"),
        "write": lambda: server.call("shed_create_file", note, token),
        "read": lambda: server.call("shed_read", {"zone": "storage", "path": "a.txt"}, token),
        "command": lambda: server.call("shed_exec", {"zone": "storage", "cmd": "true", "args": []}, token),
        "tree": lambda: web.request("GET", f"{server.url}/terminal/files/list", token=token),
    }


def measure(all_calls: dict[str, Callable[[], web.Response]], seconds: float, took: dict[str, list[float]]) -> None:
    """Adds how long each call takes, one after the other for so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, call in all_calls.items():
            begun = time.monotonic()
            answer = call()
            took.setdefault(name, []).append(time.monotonic() - begun)
            check.equal(f"{name}: {answer.text[:300]}", answer.status, 200)


def slowest(values: list[float]) -> float:
    """The fastest of the slowest twentieth."""
    return sorted(values)[len(values) * 19 // 20]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=int, default=60)
    seconds = arguments.parse_args().seconds
    settings = {"FILESHED_EXEC_PROGRAMS": "*", "FILESHED_LOG_LEVEL": "warn"}
    with tempfile.TemporaryDirectory() as place:
        with fileshed.Fileshed(fileshed.binary(), Path(place), settings) as server:
            world = World(server)
            quiet = world.token("quiet")
            quiet_calls = calls(world, quiet)
            writers = [world.token(f"attacker-{number}") for number in range(64)]
            reader = world.token("attacker-0", "--scope", "read")
            attacks = [
                lambda: watches(world, writers[1]),
                lambda: watches(world, writers[2]),
                lambda: held_files(world, writers[3]),
                lambda: subscriptions(world, writers),
                lambda: waits(world, (writers[0], reader)),
            ]
            alone: dict[str, list[float]] = {}
            beside: dict[str, list[float]] = {}
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                measure(quiet_calls, PAUSE, alone)
                world.over.clear()
                threads = [attack(world, one) for one in attacks]
                measure(quiet_calls, SPELL, beside)
                world.over.set()
                for thread in threads:
                    thread.join(check.PATIENCE)
                check.until("what the attackers began has ended", lambda: not any(map(world.runs, writers[:4])))
    too_slow = []
    print("call: milliseconds alone and beside the attackers (median, slowest twentieth), ratios")
    for name in alone:
        pairs = [
            (of(alone[name]) * 1000, of(beside[name]) * 1000) for of in (statistics.median, slowest)
        ]
        ratios = [after / before for before, after in pairs]
        shown = ", ".join(f"{before:.1f} {after:.1f}" for before, after in pairs)
        print(f"  {name}: {shown}; {ratios[0]:.1f} {ratios[1]:.1f}; {len(alone[name])} and {len(beside[name])} calls")
        if max(ratios) > MOST:
            too_slow.append(name)
    check.that(f"nobody waits more than {MOST} times as long", not too_slow, too_slow)
    return 0


if __name__ == "__main__":
    sys.exit(main())

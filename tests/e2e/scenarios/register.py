"""`fileshed openwebui register` makes the connection, and nothing else."""

from __future__ import annotations

import json

from harness import check
from harness.fileshed import Fileshed
from harness.world import World


def run(world: World) -> None:
    webui = world.webui
    others = [
        _other("first", headers=None),
        _other("second", headers={"X-Mine": "{{USER_ID}}"}, odd={"kept": [1]}),
    ]
    with world.fileshed() as fileshed:
        webui.connect(*others)
        before = _text(webui.connections())
        said = _register(world, fileshed, "--dry-run")
        check.that("a dry run says what it would do", said.strip(), said)
        check.equal("a dry run changes nothing", _text(webui.connections()), before)

        _register(world, fileshed)
        after = webui.connections()
        check.equal("the others are as they were", _text(after[:2]), before)
        check.equal("one is new", [connection["info"]["id"] for connection in after[2:]], ["fileshed"])
        check.that("it works", world.call(webui.ada, "shed_stats").data)
        check.that("a second run says so", "nothing" in _register(world, fileshed).lower())
        check.equal("and changes nothing", _text(webui.connections()), _text(after))

        group = webui.group("Registered", webui.ada)
        _register(world, fileshed, "--grant", f"group:{group}")
        check.equal("still one", len(webui.connections()), 3)
        _visible(world, ada=True, bob=False)
        _register(world, fileshed, "--grant", f"user:{webui.bob.id}")
        _visible(world, ada=False, bob=True)
        _register(world, fileshed, "--grant", "everyone")
        _visible(world, ada=True, bob=True)
        _refused(world, fileshed)


def _register(world: World, fileshed: Fileshed, *more: str) -> str:
    done = fileshed.register(world.webui.url, world.webui.admin.token, *more)
    check.equal(f"register {' '.join(more)}", (done.returncode, done.stderr), (0, ""))
    return done.stdout


def _refused(world: World, fileshed: Fileshed) -> None:
    before = _text(world.webui.connections())
    for token in ("made-up", world.webui.ada.token):
        done = fileshed.register(world.webui.url, token)
        check.that("who is no administrator registers nothing", done.returncode != 0, done.stdout)
        check.that("and is told so", done.stderr.strip(), done)
    check.equal("nothing changed", _text(world.webui.connections()), before)


def _visible(world: World, **users: bool) -> None:
    for name, expected in users.items():
        token = world.webui.accounts[name].token
        tools = world.webui.ask("GET", "/api/v1/tools/", token)
        check.equal(f"{name} has the tool", "server:fileshed" in [tool["id"] for tool in tools], expected)


def _other(name: str, **more) -> dict:
    return {
        "type": "openapi",
        "url": "http://127.0.0.1:9",
        "path": "openapi.json",
        "auth_type": "none",
        "key": "",
        "config": {"enable": False, "access_grants": []},
        "info": {"id": name, "name": name, "description": ""},
        **more,
    }


def _text(connections: list[dict]) -> str:
    return json.dumps(connections)

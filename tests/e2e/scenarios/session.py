"""Every user calls with their own credential of Open WebUI; there is no service key."""

from __future__ import annotations

from harness import check, web
from harness.fileshed import Fileshed
from harness.world import World


def run(world: World) -> None:
    with world.connected("session", openwebui_api_url=world.webui.url) as fileshed:
        _own(world)
        _by_key(world)
        _forged(world, fileshed)
    _suspended(world)
    with world.connected("session", webui_secret_key=world.webui.secret_key) as fileshed:
        # This time the server does not ask Open WebUI.
        _own(world)
        _forged(world, fileshed)


def _own(world: World) -> None:
    ada, bob = world.webui.ada, world.webui.bob
    for who in (ada, bob):
        world.call(who, "shed_create_file", zone="storage", path="mine.md", content=f"{who.id}\n").data
    for who in (ada, bob):
        read = {"zone": "storage", "cmd": "cat", "args": ["mine.md"]}
        check.equal("each has their own", world.call(who, "shed_exec", **read).data["stdout"], f"{who.id}\n")


def _by_key(world: World) -> None:
    """A script calls with the user's API key, and is that user."""
    ada = world.webui.ada
    read = [("shed_exec", {"zone": "storage", "cmd": "cat", "args": ["mine.md"]})]
    answer = world.ask(ada, [read], credential=ada.key)
    check.equal("the key is its user", answer.last.data["stdout"], f"{ada.id}\n")


def _forged(world: World, fileshed: Fileshed) -> None:
    ada, bob = world.webui.ada, world.webui.bob
    _, payload, signature = ada.token.split(".")
    unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"
    last = "A" if ada.token[-10] != "A" else "B"
    tampered = ada.token[:-10] + last + ada.token[-9:]
    for token in (
        "made-up",
        "sk-0123456789abcdef",
        f"{unsigned}.{payload}.",
        f"{unsigned}.{payload}.{signature}",
        tampered,
    ):
        _refused("what nobody gave out", fileshed.call("shed_stats", {}, token))
    _refused("no credential", fileshed.call("shed_stats", {}))
    for header in ("X-OpenWebUI-User-Id", "X-User-Id"):
        named = fileshed.call("shed_stats", {}, ada.token, {header: bob.id})
        _refused("another user in the headers", named)
    check.equal("one's own name is fine", fileshed.call("shed_stats", {}, ada.token).status, 200)


def _suspended(world: World) -> None:
    """A user who is not let in by Open WebUI is not let in by fileshed either, which has no older answer here."""
    bob = world.webui.bob
    world.webui.set_role(bob, "pending")
    try:
        with world.fileshed(openwebui_api_url=world.webui.url, api_keys="") as fileshed:
            _refused("a suspended account", fileshed.call("shed_stats", {}, bob.token))
            _refused("nor its key", fileshed.call("shed_stats", {}, bob.key))
    finally:
        world.webui.set_role(bob, "user")


def _refused(what: str, answer: web.Response) -> None:
    check.that(what, answer.status in (401, 403), f"{answer.status} {answer.text}")
    check.that("with a hint", answer.json()["error"]["hint"], answer.text)

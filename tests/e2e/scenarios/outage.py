"""Open WebUI is stopped in between: what does not need it goes on, and then everything does."""

from __future__ import annotations

import contextlib
from typing import Iterator

from harness import check
from harness.world import World

LINE = {"zone": "documents", "path": "plan.md", "content": "two\n"}


def run(world: World) -> None:
    ada, bob = world.webui.ada, world.webui.bob
    url = {"openwebui_api_url": world.webui.url}
    with world.fileshed(**url, webui_secret_key=world.webui.secret_key) as offline, world.connected(
        **url
    ) as fileshed:
        world.call(ada, "shed_create_file", zone="documents", path="plan.md", content="one\n").data
        with _stopped(world):
            by_gateway = fileshed.call("shed_patch_text", LINE, fileshed.key, world.named(ada))
            check.equal("a gateway is still believed", by_gateway.status, 200)
            by_session = offline.call("shed_stats", {}, ada.token)
            check.equal("a session too, where it can be read", by_session.status, 200)
            unknown = fileshed.call("shed_stats", {}, bob.token)
            check.that("else one is told", unknown.status >= 500, f"{unknown.status} {unknown.text}")
            check.that("with a hint", unknown.json()["error"]["hint"], unknown.text)
        read = {"zone": "documents", "cmd": "cat", "args": ["plan.md"]}
        check.equal("then all is well", world.call(ada, "shed_exec", **read).data["stdout"], "one\ntwo\n")
        check.until("sessions too", lambda: fileshed.call("shed_stats", {}, bob.token).status == 200)


@contextlib.contextmanager
def _stopped(world: World) -> Iterator[None]:
    world.webui.stop()
    try:
        yield
    finally:
        world.restart()

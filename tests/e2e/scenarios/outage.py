"""Open WebUI is stopped in between: what does not need it goes on, and then everything does."""

from __future__ import annotations

from harness import check
from harness.world import World


def run(world: World) -> None:
    ada = world.webui.ada
    with world.connected() as fileshed:
        world.call(ada, "shed_create_file", zone="documents", path="plan.md", content="one\n").data
        world.webui.stop()
        try:
            answer = fileshed.call(
                "shed_patch_text",
                {"zone": "documents", "path": "plan.md", "content": "two\n"},
                token=fileshed.key,
                X_OpenWebUI_User_Id=ada.id,
            )
            check.equal("a gateway still works", answer.status, 200)
        finally:
            world.restart()
        read = {"zone": "documents", "cmd": "cat", "args": ["plan.md"]}
        check.equal("and the user sees it", world.call(ada, "shed_exec", **read).data["stdout"], "one\ntwo\n")

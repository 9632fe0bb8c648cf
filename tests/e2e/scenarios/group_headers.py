"""Groups that Open WebUI names in the connection's own headers."""

from __future__ import annotations

from harness import check
from harness.world import World

HEADERS = {
    "X-OpenWebUI-User-Group-Ids": "{{USER_GROUP_IDS}}",
    "X-OpenWebUI-User-Groups": "{{USER_GROUPS}}",
}


def run(world: World) -> None:
    ada, bob, admin = world.webui.ada, world.webui.bob, world.webui.admin
    with world.fileshed(groups="headers") as fileshed:
        world.webui.connect(fileshed.connection(headers=HEADERS))
        if not world.version.fills_groups:
            # Otherwise all users would meet in a group with the name of the placeholder.
            refused = world.call(ada, "shed_group_list").error
            check.equal("a placeholder is no group", refused["code"], "INVALID_USER")
            return
        team = world.webui.group("Team one", ada, admin)
        note = {"zone": "group", "group": "Team one", "path": "log.md"}
        world.call(ada, "shed_create_file", **note, content="Monday\n").data
        world.call(admin, "shed_patch_text", **note, content="Tuesday\n").data
        read = {"zone": "group", "group": "Team one", "cmd": "cat", "args": ["log.md"]}
        check.equal("members share", world.call(ada, "shed_exec", **read).data["stdout"], "Monday\nTuesday\n")
        refused = world.call(bob, "shed_exec", **read).error
        check.equal("others know of nothing", refused["code"], "GROUP_NOT_FOUND")
        check.equal("nor are they told", refused["details"]["your_groups"], [])
        world.webui.change_group(team, "remove", ada)
        check.equal("who was removed is out", world.call(ada, "shed_exec", **read).error["code"], "GROUP_NOT_FOUND")

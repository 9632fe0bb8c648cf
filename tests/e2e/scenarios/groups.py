"""Groups of Open WebUI share a zone here, however fileshed comes to know of them."""

from __future__ import annotations

from harness import check
from harness.world import World

#: Seconds for which an answer about groups counts. More than asking again takes, and soon over.
LIFETIME = 2


def run(world: World) -> None:
    _by_headers(world)
    by_rest = {
        "groups": "openwebui",
        "openwebui_groups_ttl": str(LIFETIME),
        "openwebui_api_url": world.webui.url,
    }
    with world.connected(**by_rest, openwebui_admin_key=world.webui.admin.key):
        _team(world, f"Asked by the key {world.naming.name.lower()}")
    with world.connected("session", **by_rest):
        _team(world, f"Asked by the user {world.naming.name.lower()}")


def _by_headers(world: World) -> None:
    with world.connected(groups="headers"):
        if world.version.fills_groups:
            _team(world, f"Named in headers {world.naming.name.lower()}")
            return
        # Otherwise all users would meet in a group with the name of the placeholder.
        refused = world.call(world.webui.ada, "shed_group_list").error
        check.equal("a placeholder is no group", refused["code"], "INVALID_USER")


def _team(world: World, name: str) -> None:
    """Two members share, the third user is not told of anything, and who leaves is out."""
    ada, bob, admin = world.webui.ada, world.webui.bob, world.webui.admin
    group = world.webui.group(name, ada, admin)
    note = {"zone": "group", "group": name, "path": "log.md"}
    read = {"zone": "group", "group": name, "cmd": "cat", "args": ["log.md"]}
    world.call(ada, "shed_create_file", **note, content="Monday\n").data
    world.call(admin, "shed_patch_text", **note, content="Tuesday\n").data
    check.equal("members share", world.call(ada, "shed_exec", **read).data["stdout"], "Monday\nTuesday\n")
    refused = world.call(bob, "shed_exec", **read).error
    check.equal("others know of nothing", refused["code"], "GROUP_NOT_FOUND")
    check.that("nor are they told", name not in refused["details"]["your_groups"], refused)
    world.webui.change_group(group, "remove", ada)
    check.until(
        "who was removed is out",
        lambda: "GROUP_NOT_FOUND" in world.call(ada, "shed_exec", **read).text,
    )
    world.webui.change_group(group, "add", bob)
    check.until(
        "who was added is in",
        lambda: "Tuesday" in world.call(bob, "shed_exec", **read).text,
    )

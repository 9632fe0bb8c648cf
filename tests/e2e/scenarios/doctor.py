"""`fileshed doctor` says whether Open WebUI answers, and what it lets the server do."""

from __future__ import annotations

from harness import check
from harness.world import World


def run(world: World) -> None:
    webui = world.webui
    version = f"version {webui.version.number} answers"
    _says(world, f"ok      openwebui: {version}, and takes", openwebui_admin_key=webui.admin.key)
    _says(world, f"ok      openwebui: {version}; no")
    _says(world, f"warning openwebui: {version}, but", openwebui_admin_key=webui.ada.key)
    _says(world, "warning openwebui: ", openwebui_api_url=f"{world.model.url}/models")


def _says(world: World, expected: str, **settings: str) -> None:
    with world.fileshed(**{"openwebui_api_url": world.webui.url, **settings}) as fileshed:
        done = fileshed.run("doctor")
    said = [line for line in done.stdout.splitlines() if " openwebui: " in line]
    check.that(expected, len(said) == 1 and said[0].startswith(expected), done.stdout + done.stderr)

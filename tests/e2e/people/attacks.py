"""Attacks by the content and the names of files."""

from __future__ import annotations

from urllib.parse import urlencode

from harness import check
from people.world import World

#: What sets `window.canary` wherever a page lets it run.
CANARY = "window.top.canary=1"

ATTACKS = {
    "attack.md": (
        f"# Attack\n\n<script>{CANARY}</script>\n<img src=x onerror='{CANARY}'>\n"
        f"<a href='javascript:{CANARY}'>here</a> [there](javascript:{CANARY})\n"
        f"<svg onload='{CANARY}'></svg><iframe srcdoc='<script>{CANARY}</script>'></iframe>\n"
        f"<details open ontoggle='{CANARY}'>x</details><math><mtext><img src=x onerror='{CANARY}'></mtext></math>\n"
    ).encode(),
    "attack.svg": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{CANARY}'><script>{CANARY}</script></svg>".encode(),
    "attack.html": f"<!doctype html><script>{CANARY}</script><body onload='{CANARY}'>".encode(),
    "attack.csv": f"name,value\n<img src=x onerror={CANARY}>,=cmd()\n".encode(),
    "attack.pdf": f"<!doctype html><script>{CANARY}</script>".encode(),
}

# `true` if the page and all of its pictures are loaded, or have failed to load.
_LOADED = "return document.readyState === 'complete' && [...document.images].every((image) => image.complete)"


def attacks(world: World) -> None:
    """No part of a file runs in the page, whatever its content and its name."""
    for name, content in ATTACKS.items():
        world.store("storage", f"attack/{name}", content)
    # No operation makes such a name, but an administrator's copy may bring it.
    named = f"<img src=x onerror={CANARY}>.txt"
    zone = world.server.directory / "data" / "shared" / "Storage" / "data"
    (zone / "attack" / named).write_bytes(b"only a name")
    page = world.page
    for name in (named, *ATTACKS):
        world.open(f"storage/attack?{urlencode({'open': name})}")
        page.see("dialog", name)
        check.until("it is shown", lambda: not page.says("Loading"))
        # A script in the file would run once everything has loaded.
        world.window.idle()
        check.until("all has loaded", lambda: world.script(_LOADED))
        world.settle()
        check.equal(f"{name} runs nothing", world.script("return window.canary ?? null"), None)
    world.window.open(f"{world.server.url}/#/storage/attack?search=%3Cimg%20src%3Dx%20onerror%3D{CANARY}%3E")
    page.see("heading")
    check.equal("nor what is looked for", world.script("return window.canary ?? null"), None)
    world.window.open(f"{world.server.url}/files/content?zone=storage&path=attack/attack.html&inline=true")
    check.equal("nor at its own address", world.script("return window.canary ?? null"), None)
    # The browser reports what it did not let run.
    world.errors()

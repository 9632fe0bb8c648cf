"""Signing in with a provider of OpenID Connect that others made."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from harness import check, fileshed, npm, web
from harness.process import LOOPBACK, Process, free_port
from people.world import World

PROVIDER = "oidc-provider@9.13.3"
CLIENT = "fileshed-page"


def programs() -> npm.Programs:
    """The provider, which is installed if it is not there."""
    return npm.package(PROVIDER, fileshed.target() / "e2e")


def provider(world: World) -> None:
    """A user whom a provider knows signs in there, by authorization code with PKCE, and nobody by half of it."""
    installed = programs()
    issuer = f"http://{LOOPBACK}:{free_port()}"
    with world.another(oidc_issuer=issuer, oidc_client_id=CLIENT) as here:
        page, window = here.page, here.window
        program = Path(__file__).parents[1] / "harness" / "provider.mjs"
        callback = f"{here.server.url}/page/oidc/callback"
        arguments = [installed.modules, urlsplit(issuer).port, CLIENT, callback]
        process = Process("provider", [*installed.script(program), *arguments], {}, here.server.directory)
        try:
            check.until("the provider listens", lambda: "listens" in process.last_lines())
            window.open(f"{here.server.url}/")
            asked = parse_qs(urlsplit(web.request("GET", f"{here.server.url}/page/oidc").headers["location"]).query)
            check.equal("it asks with PKCE", asked["code_challenge_method"], ["S256"])
            page.follow("link", "Sign in with your organization")
            page.write("textbox", "Enter any login", "ada")
            page.write("textbox", "and password", "any")
            page.follow("button", "Sign-in")
            page.follow("button", "Continue")
            page.see("grid", "Files")
            page.click("button", "New folder")
            page.write("textbox", "Name", "Mine")
            page.keys("ENTER")
            here.row("Mine")
            tree = here.of("ada", "shed_tree", zone="storage").json()["data"]["tree"]
            check.that("it is the user of the claim", "Mine" in tree, tree)
            granted = [line.removeprefix("granted ") for line in process.last_lines().splitlines() if "granted" in line]
            check.equal("once, with the verifier", len(granted), 1)
            check.equal("of S256", json.loads(granted[0]) | {"verifier": 0}, {"verifier": 0, "method": "S256", "isOther": True})
            here.sign_out()
            refused = web.request("GET", f"{callback}?code=made-up&state=made-up")
            check.that("nobody signs in by half of it", refused.status in (400, 401, 403, 404), refused.text)
        finally:
            process.stop()

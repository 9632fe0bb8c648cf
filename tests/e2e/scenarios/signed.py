"""Open WebUI signs who calls: nothing unsigned is believed, and nothing that is signed otherwise."""

from __future__ import annotations

from harness import check, signature
from harness.fileshed import Fileshed
from harness.world import World


def run(world: World) -> None:
    ada, bob = world.webui.ada, world.webui.bob
    with world.connected(forward_jwt_secret=world.jwt_secret) as fileshed:
        for who in (ada, bob):
            world.call(who, "shed_create_file", zone="documents", path="mine.md", content=f"{who.id}\n").data
        for who in (ada, bob):
            read = {"zone": "documents", "cmd": "cat", "args": ["mine.md"]}
            check.equal(
                "each has their own", world.call(who, "shed_exec", **read).data["stdout"], f"{who.id}\n"
            )
            log = {"zone": "documents", "cmd": "git", "args": ["log", "--format=%an"]}
            check.equal("and their name", world.call(who, "shed_exec", **log).data["stdout"], f"{who.name}\n")
        _by_hand(world, fileshed)
    with world.connected(forward_jwt_secret="another secret of thirty-two bytes"):
        error = world.call(ada, "shed_stats").error
        check.equal("signed with another secret", error["code"], "INVALID_USER")
        check.that(
            "the hint names the setting", "FORWARD_USER_INFO_HEADER_JWT_SECRET" in error["hint"], error
        )


def _by_hand(world: World, fileshed: Fileshed) -> None:
    """A caller with the service key is refused without a token that the secret has signed."""
    ada = world.webui.ada

    def status(**headers: str) -> int:
        named = {f"X-OpenWebUI-User-{name}": value for name, value in headers.items()}
        return fileshed.call("shed_stats", {}, fileshed.key, named).status

    check.equal("signed as Open WebUI does", status(Jwt=signature.sign(ada, world.jwt_secret)), 200)
    check.equal("plain headers are not believed", status(Id=ada.id), 401)
    check.equal("nor is nobody", status(), 401)
    another = signature.sign(ada, "made up")
    check.equal("nor what is signed otherwise", status(Jwt=another), 401)
    check.equal("nor both", status(Jwt=another, Id=ada.id), 401)
    long_ago = signature.sign(ada, world.jwt_secret, exp=1)
    check.equal("nor what has expired", status(Jwt=long_ago), 401)
    check.equal("the right token", status(Jwt=signature.sign(ada, world.jwt_secret), Id=ada.id), 200)
    two = status(Jwt=signature.sign(ada, world.jwt_secret), Id=world.webui.bob.id)
    check.that("but not for two users", two in (401, 403), two)

"""The attachments of a chat come into its uploads, and those of nobody else."""

from __future__ import annotations

import hashlib

from harness import check
from harness.chat import attachment
from harness.world import World

PICTURE = bytes.fromhex("89504e470d0a1a0a") + bytes(range(256))


def run(world: World) -> None:
    url = {"openwebui_api_url": world.webui.url}
    with world.connected("session", **url):
        _all(world, "session")
    # The administrator's key opens everybody's files, so that here the question is asked in earnest.
    with world.connected(**url, openwebui_admin_key=world.webui.admin.key):
        _all(world, "key")


def _all(world: World, name: str) -> None:
    ada = world.webui.ada
    table = world.webui.upload(ada, f"{name}.csv", b"a,b\n1,2\n", "text/csv")
    picture = world.webui.upload(ada, f"{name}.png", PICTURE, "image/png")
    files = [attachment(table), attachment(picture)]
    read = ("shed_exec", {"zone": "uploads", "cmd": "cat", "args": [f"{name}.csv"]})
    by_name = [("shed_import", {"filename": f"{name}.csv"})]
    sent = [by_name, [read], [_sum(f"{name}.png")], by_name, _tree()]
    answer = world.ask(ada, sent, files=files)
    imported, ran, seen, again, tree = [result.data for result in answer.results]
    check.equal("imported by name", imported["imported"], [f"{name}.csv"])
    check.equal("with its content", ran["stdout"], "a,b\n1,2\n")
    check.that("the other by itself, to the last bit", seen["stdout"].startswith(_hash()), seen)
    check.equal("again it is the same", again["imported"], [f"{name}.csv"])
    check.equal("there is one copy of each", tree["tree"].count(name), 2)

    delete = [("shed_delete", {"zone": "uploads", "path": f"{name}.png"})]
    by_id = [("shed_import", {"filename": picture["id"]})]
    answer = world.ask(ada, [delete, _tree(), by_id, [_sum(f"{name}.png")]], after=answer)
    _, tree, imported, seen = [result.data for result in answer.results]
    check.that("what is deleted stays away", f"{name}.png" not in tree["tree"], tree)
    check.equal("until it is imported by id", imported["imported"], [f"{name}.png"])
    check.that("to the last bit again", seen["stdout"].startswith(_hash()), seen)

    another = world.webui.upload(ada, f"{name}.csv", b"a,b\n3,4\n", "text/csv")
    every = [("shed_import", {"import_all": True})]
    answer = world.ask(ada, [every, _tree()], files=[attachment(another)], after=answer)
    expected = sorted([f"{name} (2).csv", f"{name}.csv", f"{name}.png"])
    check.equal("all, with the second of one name", sorted(answer.results[0].data["imported"]), expected)
    check.equal("no second copies", answer.last.data["tree"].count(name), 3)

    _only_here(world, table["id"])
    _only_own(world, name)


def _only_here(world: World, attached_elsewhere: str) -> None:
    """A file of one's own that is attached to another chat."""
    answer = world.ask(world.webui.ada, [[("shed_import", {"filename": attached_elsewhere})], _tree()])
    check.equal("not attached here", answer.results[0].error["code"], "FILE_NOT_FOUND")
    check.that("there is a hint", answer.results[0].error["hint"], answer.results[0].text)


def _only_own(world: World, name: str) -> None:
    """A chat says what its user wants it to say, another's file too."""
    secret = world.webui.upload(world.webui.bob, f"{name}-secret.txt", b"of another user")
    forged = attachment(secret)
    forged["file"] = {**secret, "user_id": world.webui.ada.id}
    for wanted in ({"filename": secret["id"]}, {"filename": f"{name}-secret.txt"}, {"import_all": True}):
        answer = world.ask(world.webui.ada, [[("shed_import", wanted)], _tree()], files=[forged])
        check.that("it is refused", '"error"' in answer.results[0].text, answer.results[0].text)
        check.that("and not there", "secret" not in answer.last.data["tree"], answer.last.text)


def _tree() -> list:
    return [("shed_tree", {"zone": "uploads"})]


def _sum(path: str) -> tuple[str, dict]:
    return "shed_exec", {"zone": "uploads", "cmd": "sha256sum", "args": [path]}


def _hash() -> str:
    return hashlib.sha256(PICTURE).hexdigest()

"""Failures reach the model with the call to make instead."""

from __future__ import annotations

from harness import check
from harness.world import World


def run(world: World) -> None:
    ada = world.webui.ada
    with world.connected():
        world.call(ada, "shed_create_file", zone="storage", path="notes/plan.md", content="x").data
        path = world.call(ada, "shed_delete", zone="storage", path="notes/plan.txt").error
        check.equal("an unknown path", path["code"], "FILE_NOT_FOUND")
        check.that("the message names it", "notes/plan.txt" in path["message"], path)
        check.that("the hint is a call", "shed_" in path["hint"], path)
        zone = world.call(ada, "shed_tree", zone="desktop").error
        check.equal("a wrong zone", zone["code"], "INVALID_ZONE")
        check.that("what was sent is named", "desktop" in zone["message"], zone)
        check.that("the hint has the right ones", "storage" in str(zone), zone)
        missing = world.call(ada, "shed_create_file", zone="storage", content="x").error
        check.equal("a parameter is missing", missing["code"], "MISSING_PARAMETER")
        check.that("the hint says which to add", "`path`" in missing["hint"], missing)
        _wrong_key(world)


def _wrong_key(world: World) -> None:
    with world.fileshed() as fileshed:
        world.webui.connect({**fileshed.connection(), "key": "another"})
        error = world.call(world.webui.ada, "shed_stats").error
        check.equal("a wrong service key", error["code"], "UNAUTHORIZED")
        check.that("there is a hint", error["hint"], error)

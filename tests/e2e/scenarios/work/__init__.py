"""Sixteen kinds of work that people do with a model: no first call fails without a reason, and each failure
leads back in one step. What each costs is in work.md.

WORK_FLOWS names the flows to play, such as `lawyer,scan`; all are played without it.
"""

from __future__ import annotations

import os
import traceback
from typing import Callable

from harness import check
from harness.world import World
from scenarios import costs
from scenarios.work.driver import Flow, Work
from scenarios.work.code import developer, mistakes, python
from scenarios.work.media import charts_and_reports, pictures, scan
from scenarios.work.office import accountant, lawyer, researcher, teacher
from scenarios.work.zones import large_file, ten_thousand, two_chats

FLOWS: list[Callable[[Work], Flow]] = [accountant, lawyer, teacher, researcher, developer, pictures, large_file, two_chats, python, charts_and_reports, ten_thousand, mistakes, scan]

#: Flows that use a terminal alone.
TERMINAL: list[Callable[[Work], Flow]] = []


def run(world: World) -> None:
    world.webui.group("Class", world.webui.ada, world.webui.bob)
    settings = {"openwebui_api_url": world.webui.url, "exec_programs": "python3"}
    if costs.WRITE != "before":
        settings["bin_days"] = "30"
    with world.connected("session", short=True, groups="openwebui", **settings):
        faults = [_played(world, flow) for flow in _chosen(FLOWS)]
    with world.computer("session", exec_programs="python3"):
        faults += [_played(world, flow) for flow in _chosen(TERMINAL)]
    check.that("every flow is done", not any(faults), "\n".join(filter(None, faults)))


def _chosen(flows: list[Callable[[Work], Flow]]) -> list[Callable[[Work], Flow]]:
    names = os.environ.get("WORK_FLOWS", "")
    return [flow for flow in flows if not names or flow.__name__ in names.split(",")]


def _played(world: World, flow: Callable[[Work], Flow]) -> str:
    """What was wrong, if anything was."""
    name = flow.__name__.replace("_", " ")
    try:
        costs.settle(name, Work(world).play(flow))
    except Exception as fault:
        if costs.WRITE == "before":
            costs.settle(name, None)
        traceback.print_exc(limit=-2)
        return f"{name}: {fault}"
    return ""

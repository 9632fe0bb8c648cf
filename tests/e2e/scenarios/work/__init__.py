"""Sixteen kinds of work that people do with a model: no first call fails without a reason, and each failure
leads back in one step. What each costs is in work.md.

WORK_FLOWS names the flows to play, such as `lawyer,scan`; all are played without it. With WORK_TRACE each call
is shown with what is told.
"""

from __future__ import annotations

import os
import shutil
import traceback
from importlib.util import find_spec
from typing import Callable, ContextManager

from harness import check
from harness.fileshed import Fileshed
from harness.world import World
from scenarios import costs
from scenarios.work.code import developer, mistakes, python
from scenarios.work.driver import Flow, Work
from scenarios.work.media import charts_and_reports, pictures, scan
from scenarios.work.names import names, tables
from scenarios.work.office import accountant, lawyer, researcher, teacher
from scenarios.work.terminal import terminal
from scenarios.work.zones import large_file, ten_thousand, two_chats

#: The flows, each with the programs and packages that it takes besides git and Python.
FLOWS: dict[Callable[[Work], Flow], tuple[str, ...]] = {
    accountant: ("openpyxl",),
    lawyer: ("pandoc",),
    teacher: (),
    researcher: (),
    developer: (),
    pictures: ("convert", "img2pdf", "PIL"),
    large_file: (),
    two_chats: (),
    names: (),
    tables: ("pandoc",),
    python: (),
    charts_and_reports: ("convert", "pandoc", "weasyprint", "PIL"),
    terminal: (),
    ten_thousand: (),
    mistakes: (),
    scan: ("tesseract", "PIL", "img2pdf"),
}


def run(world: World) -> None:
    world.webui.group("Class", world.webui.ada, world.webui.bob)
    chosen = [flow for flow in _chosen() if flow is not terminal or world.version.has_terminals]
    faults = [_played(world, flow) for flow in chosen]
    check.that("every flow is done", not any(faults), "\n".join(filter(None, faults)))


def _server(world: World, flow: Callable[[Work], Flow]) -> ContextManager[Fileshed]:
    """A server of its own for each flow, so that none sees what another left."""
    settings = {"exec_programs": "python3", "bin_days": "30"}
    if flow is terminal:
        return world.computer("session", **settings)
    return world.connected("session", short=True, groups="openwebui", openwebui_api_url=world.webui.url, **settings)


def _chosen() -> list[Callable[[Work], Flow]]:
    wanted = os.environ.get("WORK_FLOWS", "").split(",")
    return [flow for flow in FLOWS if wanted == [""] or flow.__name__ in wanted]


def _played(world: World, flow: Callable[[Work], Flow]) -> str:
    """Plays a flow; returns the failure, if there was one."""
    name = flow.__name__.replace("_", " ")
    lacking = [needed for needed in FLOWS[flow] if not shutil.which(needed) and not find_spec(needed)]
    if lacking:
        print(f"SKIP: Open WebUI, work, {name}: {' and '.join(lacking)} not installed", flush=True)
        return ""
    try:
        with _server(world, flow):
            costs.settle(name, lambda: Work(world).play(flow))
    except Exception as fault:
        traceback.print_exc(limit=-2)
        return f"{name}: {fault}"
    return ""

"""Scenarios, one topic each. A scenario is a module with `run(world)`."""

from __future__ import annotations

from types import ModuleType

from harness.webui import Naming
from scenarios import (
    attachments,
    crowd,
    doctor,
    errors,
    flows,
    groups,
    guide,
    isolation,
    journey,
    links,
    mcp,
    outage,
    own_page,
    own_server,
    page,
    page_attachment,
    page_shown,
    register,
    report,
    session,
    signed,
    smoke,
    status,
    temporary,
    terminal_files,
    terminal_previews,
    terminal_shell,
    terminal_uploads,
    tools,
    undo,
    work,
)

#: What is proved with which environment of Open WebUI, in this order.
Plan = dict[Naming, list[ModuleType]]

PLAN: Plan = {
    Naming.SIGNED: [
        smoke,
        signed,
        session,
        register,
        doctor,
        tools,
        journey,
        isolation,
        crowd,
        groups,
        attachments,
        flows,
        work,
        undo,
        report,
        links,
        mcp,
        status,
        temporary,
        own_page,
        page,
        page_attachment,
        page_shown,
        terminal_files,
        terminal_previews,
        terminal_shell,
        terminal_uploads,
        outage,
    ],
    Naming.PLAIN: [isolation, errors, mcp],
    Naming.NONE: [doctor, guide, isolation, groups, attachments, links, own_server],
}

#: A little of everything, for every change.
SMOKE: Plan = {Naming.SIGNED: [smoke]}


def names() -> list[str]:
    """All scenarios, once each."""
    return list(dict.fromkeys(name(scenario) for listed in PLAN.values() for scenario in listed))


def name(scenario: ModuleType) -> str:
    return scenario.__name__.rpartition(".")[2]

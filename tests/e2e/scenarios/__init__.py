"""What is proved, one topic each. A scenario is a module with `run(world)`."""

from __future__ import annotations

from types import ModuleType

from harness.webui import Naming
from scenarios import attachments, errors, groups, isolation, journey, links, outage, page, register, session, signed, status, tools

#: In what Open WebUI says who calls, and what is proved then.
SCENARIOS = {
    Naming.SIGNED: [
        signed,
        session,
        register,
        tools,
        journey,
        isolation,
        groups,
        attachments,
        links,
        status,
        page,
        outage,
    ],
    Naming.PLAIN: [isolation, errors],
    Naming.NOT: [isolation, groups, attachments, links],
}


def names() -> list[str]:
    """All scenarios, once each."""
    return list(dict.fromkeys(name(scenario) for listed in SCENARIOS.values() for scenario in listed))


def name(scenario: ModuleType) -> str:
    return scenario.__name__.rpartition(".")[2]

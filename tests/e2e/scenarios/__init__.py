"""What is proved, one topic each. A scenario is a module with `run(world)`."""

from __future__ import annotations

from types import ModuleType

from scenarios import errors, groups, isolation, journey, outage, page, register, session, signed, status, tools

#: Open WebUI signs who calls.
SIGNED = [signed, session, register, tools, journey, isolation, groups, status, page, outage]

#: It names its users in plain headers.
PLAIN = [isolation, errors]


def name(scenario: ModuleType) -> str:
    return scenario.__name__.rpartition(".")[2]

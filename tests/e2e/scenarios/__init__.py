"""What is proved, one topic each. A scenario is a module with `run(world)`."""

from __future__ import annotations

from types import ModuleType

from scenarios import attachments, errors, groups, isolation, journey, links, outage, page, register, session, signed, status, tools

#: Open WebUI signs who calls.
SIGNED = [signed, session, register, tools, journey, isolation, groups, attachments, links, status, page, outage]

#: It names its users in plain headers.
PLAIN = [isolation, errors]


def name(scenario: ModuleType) -> str:
    return scenario.__name__.rpartition(".")[2]

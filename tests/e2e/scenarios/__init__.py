"""What is proved, one topic each. A scenario is a module with `run(world)`."""

from __future__ import annotations

from scenarios import errors, groups, isolation, journey, outage, page, tools

#: Open WebUI names its users in plain headers.
PLAIN = [tools, journey, isolation, errors, groups, page, outage]


def name(scenario) -> str:
    return scenario.__name__.rpartition(".")[2]

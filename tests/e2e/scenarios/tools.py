"""The model is offered every operation, with its parameters, and nothing else."""

from __future__ import annotations

import json
import re

from harness import check, web
from harness.fileshed import REPOSITORY, Fileshed
from harness.world import World


def run(world: World) -> None:
    with world.connected() as fileshed:
        all_of_them = _compare(world, fileshed, "openapi.json", "BUDGET_ALL")
        fileshed.register(world.webui.url, world.webui.admin.token, "--toolset", "core")
        core = _compare(world, fileshed, "openapi.json?toolset=core", "BUDGET_CORE")
        check.that("the core is smaller", core < all_of_them, f"{core} of {all_of_them}")


def _compare(world: World, fileshed: Fileshed, path: str, budget: str) -> int:
    """Compares the model's tools with the published operations; returns their number."""
    offered = world.ask(world.webui.ada, []).script.offered()
    ours = {
        tool["name"]: sorted(tool["parameters"]["properties"])
        for tool in offered
        if tool["name"].startswith("shed_")
    }
    check.equal(f"{path}: the tools", ours, _document(fileshed, path))
    for tool in offered:
        check.that(f"{tool['name']} has a description", len(tool.get("description", "")) > 10, tool)
    cost = len(json.dumps([tool for tool in offered if tool["name"] in ours], separators=(",", ":")))
    check.that(f"{path}: {cost} characters are within the budget", cost <= _budget(budget))
    return len(ours)


def _document(fileshed: Fileshed, path: str) -> dict[str, list[str]]:
    """The names of all operations and of their parameters, as fileshed publishes them."""
    document = web.request("GET", f"{fileshed.url}/{path}").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    return {
        operation["operationId"]: sorted(
            operation["requestBody"]["content"]["application/json"]["schema"].get("properties", {})
        )
        for operation in operations
        if "operationId" in operation and "requestBody" in operation
    }


def _budget(name: str) -> int:
    """The number that the other tests go by."""
    source = (REPOSITORY / "tests/api/server/documents.rs").read_text()
    return int(re.search(rf"const {name}: usize = ([\d_]+);", source).group(1).replace("_", ""))

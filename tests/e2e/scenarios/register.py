"""`fileshed openwebui register` makes the connection, and nothing else."""

from __future__ import annotations

import json

from harness import check
from harness.fileshed import Fileshed
from harness.world import World


def run(world: World) -> None:
    webui = world.webui
    others = [
        _other("first", headers=None),
        _other("second", headers={"X-Mine": "{{USER_ID}}"}, odd={"kept": [1]}),
    ]
    with world.fileshed() as fileshed:
        webui.connect(*others)
        before = _text(webui.connections())
        said = _register(world, fileshed, "--dry-run")
        check.that("a dry run says what it would do", said.strip(), said)
        check.equal("a dry run changes nothing", _text(webui.connections()), before)

        _register(world, fileshed)
        after = webui.connections()
        check.equal("the others are as they were", _text(after[:2]), before)
        check.equal("one is new", [connection["info"]["id"] for connection in after[2:]], ["fileshed"])
        check.that("it works", world.call(webui.ada, "shed_stats").data)
        check.that("a second run says so", "nothing" in _register(world, fileshed).lower())
        check.equal("and changes nothing", _text(webui.connections()), _text(after))

        group = webui.group("Registered", webui.ada)
        _register(world, fileshed, "--grant", f"group:{group}")
        check.equal("still one", len(webui.connections()), 3)
        _visible(world, ada=True, bob=False)
        _register(world, fileshed, "--grant", f"user:{webui.bob.id}")
        _visible(world, ada=False, bob=True)
        _register(world, fileshed, "--grant", "everyone")
        _visible(world, ada=True, bob=True)
        _refused(world, fileshed)
        _default_models(world, fileshed)


def _register(world: World, fileshed: Fileshed, *more: str) -> str:
    done = fileshed.register(world.webui.url, world.webui.admin.token, *more)
    check.equal(f"register {' '.join(more)}", (done.returncode, done.stderr), (0, ""))
    return done.stdout


def _refused(world: World, fileshed: Fileshed) -> None:
    before = _text(world.webui.connections())
    for token in ("made-up", world.webui.ada.token):
        done = fileshed.register(world.webui.url, token)
        check.that("who is no administrator registers nothing", done.returncode != 0, done.stdout)
        check.that("and is told so", done.stderr.strip(), done)
    check.equal("nothing changed", _text(world.webui.connections()), before)


def _default_models(world: World, fileshed: Fileshed) -> None:
    webui = world.webui
    listed = webui.ask("GET", "/api/models", webui.admin.token)["data"]
    model = next(model["id"] for model in listed if model.get("owned_by") == "openai")
    check.equal("none has it yet", _tools_of(world, model), [])
    _register(world, fileshed, "--default-for", model, "--dry-run")
    check.equal("a dry run changes nothing", _tools_of(world, model), [])
    said = _register(world, fileshed, "--default-for", model)
    check.that("it says where it is on", f"in new chats with {model}" in said, said)
    check.equal("the model has it", _tools_of(world, model), ["server:fileshed"])
    check.that("people still have the model", world.call(webui.ada, "shed_stats").data)
    # A helper of people with tools of its own.
    helper = {
        "id": "helper", "base_model_id": model, "name": "Helper", "params": {"system": "Help."},
        "meta": {"toolIds": ["server:first"], "description": "Helps"}, "access_grants": [],
    }
    webui.ask("POST", "/api/v1/models/create", webui.admin.token, document=helper)
    said = _register(world, fileshed, "--default-for", "all")
    check.that("it says so", "all models, helper" in said, said)
    check.equal("the helper keeps its own", _tools_of(world, "helper"), ["server:first", "server:fileshed"])
    kept = webui.ask("GET", "/api/v1/models/model?id=helper", webui.admin.token)
    same = (kept["base_model_id"], kept["name"], kept["params"], kept["meta"]["description"])
    check.equal("and all else", same, (model, "Helper", {"system": "Help."}, "Helps"))
    settings = webui.ask("GET", "/api/v1/configs/models", webui.admin.token)
    check.equal("others have it", settings["DEFAULT_MODEL_METADATA"]["toolIds"], ["server:fileshed"])
    check.that("once", "already" in _register(world, fileshed, "--default-for", "all"))
    webui.ask("POST", "/api/v1/configs/models", webui.admin.token,
              document={**settings, "DEFAULT_MODEL_METADATA": {}})
    for made in (model, "helper"):
        webui.ask("POST", "/api/v1/models/model/delete", webui.admin.token, document={"id": made})


def _tools_of(world: World, model: str) -> list[str]:
    """Returns the tools that are on with a model in a new chat."""
    listed = world.webui.ask("GET", "/api/models?refresh=true", world.webui.admin.token)["data"]
    found = next(found for found in listed if found["id"] == model)
    return found.get("info", {}).get("meta", {}).get("toolIds") or []


def _visible(world: World, **users: bool) -> None:
    for name, expected in users.items():
        token = world.webui.accounts[name].token
        tools = world.webui.ask("GET", "/api/v1/tools/", token)
        check.equal(f"{name} has the tool", "server:fileshed" in [tool["id"] for tool in tools], expected)


def _other(name: str, **more) -> dict:
    return {
        "type": "openapi",
        "url": "http://127.0.0.1:9",
        "path": "openapi.json",
        "auth_type": "none",
        "key": "",
        "config": {"enable": False, "access_grants": []},
        "info": {"id": name, "name": name, "description": ""},
        **more,
    }


def _text(connections: list[dict]) -> str:
    return json.dumps(connections)

"""The official Python client, in an environment of its own: lists and calls every tool.

python_sdk.py '{"mode": …, "toolset": …, "mark": …, "url": …, "token": …}'
python_sdk.py '{"mode": …, "toolset": …, "mark": …, "command": […], "environment": {…}, "cwd": …}'

Ends with 0 and one line that says what was done.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients.calls import calls, compact_calls, filled, learned, terminal_calls  # noqa: E402


def expect(what: str, holds: object, seen: object = "") -> None:
    if not holds:
        raise SystemExit(f"{what}\n  seen: {str(seen)[:2000]}")


@contextlib.asynccontextmanager
async def connected(job: dict):
    async with contextlib.AsyncExitStack() as stack:
        if "url" in job:
            headers = {"Authorization": f"Bearer {job['token']}"}
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
            server = streamable_http_client(job["url"], http_client=http)
        else:
            server = StdioServerParameters(
                command=job["command"][0],
                args=job["command"][1:],
                env=job["environment"],
                cwd=job["cwd"],
            )
        yield await stack.enter_async_context(Client(server, mode=job["mode"]))


async def call_every_tool(client: Client, job: dict) -> int:
    tools = (await client.list_tools()).tools
    offered = {tool.name for tool in tools}
    made = {"shed": calls, "fs": compact_calls, "terminal": terminal_calls}[job["toolset"]](job["mark"])
    missing = offered - {call.tool for call in made}
    expect("a tool that nobody calls here: write its call in calls.py", not missing, missing)
    known: dict[str, str] = {}
    for call in made:
        # The SDK holds each answer against the schema of the tool.
        result = await client.call_tool(call.tool, filled(call.arguments, known))
        text = result.content[0].text if result.content else ""
        expect(f"{call.tool} {call.arguments}", bool(result.is_error) != call.succeeds, text)
        if call.succeeds:
            answer = result.structured_content or json.loads(text)
            expect(f"{call.tool} says the same as text", json.loads(text) == answer, text)
            known.update(learned(call.tool, answer))
        else:
            expect(f"{call.tool} says what to do", any(word in text for word in ("hint", "detail", "error")), text)
    return len(made)


async def look_at_resources(client: Client, job: dict) -> None:
    uris, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        uris += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if not cursor:
            break
    own = f"fileshed://storage/{job['mark']}/todo.md"
    expect("the files are resources", own in uris, uris)
    content = (await client.read_resource(own)).contents[0]
    expect("a resource is read", "- new" in content.text, content)
    templates = (await client.list_resource_templates()).resource_templates
    expect("there are templates", len(templates) == 2, templates)
    prompts = (await client.list_prompts()).prompts
    expect("the guides are prompts", "edit" in [prompt.name for prompt in prompts], prompts)
    guide = await client.get_prompt("edit")
    expect("a guide is given", "shed_patch_text" in guide.messages[0].content.text, guide)
    if client.protocol_version == "2026-07-28":
        await hear_of_a_change(client, own)


async def hear_of_a_change(client: Client, uri: str) -> None:
    path = uri.removeprefix("fileshed://storage/")
    async with asyncio.timeout(30), client.listen(resource_subscriptions=[uri]) as events:
        change = {"zone": "storage", "path": path, "content": "- more\n", "position": "end"}
        await client.call_tool("shed_patch_text", change)
        async for event in events:
            expect("the change is told", event.uri == uri, event)
            break


async def main() -> None:
    job = json.loads(sys.argv[1])
    async with connected(job) as client:
        done = await call_every_tool(client, job)
        if job["toolset"] == "shed":
            await look_at_resources(client, job)
        print(f"{done} calls, revision {client.protocol_version}")


asyncio.run(main())

"""`fileshed doctor` says whether Open WebUI answers, and tries the connections that it keeps."""

from __future__ import annotations

from harness import check
from harness.fileshed import Fileshed
from harness.webui import Naming
from harness.world import World

WRONG_KEY = "this server does not accept its key"


def run(world: World) -> None:
    _openwebui(world)
    for auth in ("bearer", "session"):
        _tools(world, auth)
        if world.version.has_terminals:
            _terminal(world, auth)
    if world.version.has_mcp:
        _mcp(world)


def _openwebui(world: World) -> None:
    webui = world.webui
    version = f"version {webui.version.number} answers"
    _says(world, f"ok      openwebui: {version}, and takes", openwebui_admin_key=webui.admin.key)
    _says(world, f"ok      openwebui: {version}; no")
    _says(world, f"failed  openwebui: {version}, but", openwebui_admin_key=webui.ada.key)
    _says(world, "failed  openwebui: ", openwebui_api_url=f"{world.model.url}/models")


def _says(world: World, expected: str, **settings: str) -> None:
    with world.fileshed(**{"openwebui_api_url": world.webui.url, **settings}) as fileshed:
        done = fileshed.run("doctor")
    said = [line for line in done.stdout.splitlines() if " openwebui: " in line]
    check.that(expected, len(said) == 1 and said[0].startswith(expected), done.stdout + done.stderr)


def _tools(world: World, auth: str) -> None:
    webui = world.webui
    webui.connect()
    with _asking(world, auth) as fileshed:
        _tries(fileshed, "failed  tools: Open WebUI has no connection")
        done = fileshed.register(webui.url, webui.admin.token, "--auth", auth)
        check.equal("register", (done.returncode, done.stderr), (0, ""))
        arrives = f"ok      tools: a call by the connection to {fileshed.url} arrives as {webui.admin.name}"
        _tries(fileshed, arrives)
        (connection,) = webui.connections()
        if auth == "bearer":
            wrong = {**connection, "key": "0123456789abcdef"}
            webui.ask(
                "POST", "/api/v1/configs/tool_servers/verify", webui.admin.token, document=wrong
            )
            webui.connect(wrong)
            _tries(fileshed, "failed  tools: ", WRONG_KEY)
        if auth == "bearer" and world.naming is Naming.NONE:
            webui.connect({**connection, "headers": {}})
            _tries(fileshed, "failed  tools: ", "x-openwebui-user-id")
        webui.connect({**connection, "url": "http://127.0.0.1:9"})
        _tries(fileshed, "failed  tools: Open WebUI does not reach")
        webui.connect({**connection, "path": "nothing.json"})
        _tries(fileshed, "failed  tools: Open WebUI reads no tools")
        webui.connect({**connection, "config": {**connection["config"], "enable": False}})
        _tries(fileshed, "failed  tools: ", "turned off")
        webui.connect(connection)
        _tries(fileshed, arrives)
    if auth == "bearer" and world.naming is Naming.SIGNED:
        with _asking(world, auth, forward_jwt_secret="another-secret-another-secret") as fileshed:
            done = fileshed.register(webui.url, webui.admin.token)
            told = "FORWARD_USER_INFO_HEADER_JWT_SECRET" in done.stderr
            check.equal("register refuses", (done.returncode, told), (1, True))
            done = fileshed.register(webui.url, webui.admin.token, "--no-verify")
            check.equal("register", (done.returncode, done.stderr), (0, ""))
            _tries(fileshed, "failed  tools: ", "FORWARD_USER_INFO_HEADER_JWT_SECRET")
    webui.connect()


def _terminal(world: World, auth: str) -> None:
    webui = world.webui
    key = {"terminal_api_keys": "fedcba9876543210" if auth == "bearer" else ""}
    with _asking(world, auth, **key) as fileshed:
        if auth == "bearer":
            webui.connect_terminals()
            _tries(fileshed, "failed  terminal: Open WebUI has no connection")
        done = fileshed.register(webui.url, webui.admin.token, "--terminal", "--auth", auth)
        check.equal("register", (done.returncode, done.stderr), (0, ""))
        _tries(fileshed, "ok      terminal: ", "arrives; files attached to a chat come here")
        listed = webui.ask("GET", "/api/v1/configs/terminal_servers", webui.admin.token)
        (connection,) = listed["TERMINAL_SERVER_CONNECTIONS"]
        if auth == "bearer":
            webui.connect_terminals({**connection, "key": "0123456789abcdef"})
            _tries(fileshed, "failed  terminal: ", WRONG_KEY)
        webui.connect_terminals({**connection, "url": "http://127.0.0.1:9/terminal"})
        _tries(fileshed, "failed  terminal: Open WebUI does not reach")
        webui.connect_terminals({**connection, "enabled": False})
        _tries(fileshed, "failed  terminal: ", "turned off")
    webui.connect_terminals()


def _mcp(world: World) -> None:
    webui = world.webui
    headers = {"X-OpenWebUI-User-Id": "{{USER_ID}}", "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}"}
    if world.naming is Naming.SIGNED:
        headers.pop("X-OpenWebUI-User-Id")
    with _asking(world, "bearer") as fileshed:
        connection = {**fileshed.mcp_connection(), "headers": headers}
        webui.connect(connection)
        _tries(fileshed, "ok      mcp: ", "arrives as")
        webui.connect({**connection, "key": "0123456789abcdef"})
        _tries(fileshed, "failed  mcp: ", WRONG_KEY)
        webui.connect({**connection, "url": f"{fileshed.url}/mcp/core"})
        _tries(fileshed, "ok      mcp: ", "/mcp/core arrives as")
        webui.connect({**connection, "url": f"{fileshed.url}/mcp/nothing"})
        _tries(fileshed, "failed  mcp: Open WebUI reads no tools")
    webui.connect()


def _asking(world: World, auth: str, **settings: str):
    """A server that can ask Open WebUI everything."""
    known = {"openwebui_api_url": world.webui.url, "openwebui_admin_key": world.webui.admin.key}
    keys = {"api_keys": ""} if auth == "session" else {}
    return world.fileshed(**known, **keys, **settings)


def _tries(fileshed: Fileshed, *parts: str) -> None:
    """One line of doctor has these parts, and its end says whether something failed."""
    done = fileshed.run("doctor")
    said = [line for line in done.stdout.splitlines() if all(part in line for part in parts)]
    check.equal(f"doctor: {parts}\n{done.stdout}", len(said), 1)
    failed = parts[0].startswith("failed")
    check.equal(f"doctor ends: {parts}\n{done.stdout}", done.returncode, 1 if failed else 0)
    check.that("secrets stay", "0123456789abcdef" not in done.stdout + done.stderr, done.stdout)

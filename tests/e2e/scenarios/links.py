"""Links lead into Open WebUI, where only the user opens them, and hang on the answer."""

from __future__ import annotations

from harness import check
from harness.chat import Answer
from harness.world import World

TEXT = "on paper\n"


def run(world: World) -> None:
    ada = world.webui.ada
    with world.connected("session", openwebui_api_url=world.webui.url):
        create = [("shed_create_file", {"zone": "storage", "path": "report.txt", "content": TEXT})]
        answer = world.ask(ada, [create, _link("report.txt")])
        made = answer.last.data
        _opens_for_its_user(world, made)
        _hangs_on_the_answer(world, answer, made)
        _lists_and_deletes(world, made["file_id"])
        _leaves_the_rest_alone(world)
    _own_links(world)


def _link(path: str) -> list:
    return [("shed_link_create", {"zone": "storage", "path": path})]


def _opens_for_its_user(world: World, made: dict) -> None:
    webui = world.webui
    check.equal("the address", made["download_url"], f"/api/v1/files/{made['file_id']}/content")
    check.that("is what one clicks", f"]({made['download_url']})" in made["clickable_link"], made)
    for who, status in ((webui.ada, 200), (webui.bob, 404)):
        check.equal("who opens it", webui.request("GET", made["download_url"], who.token).status, status)
    check.equal("the content", webui.request("GET", made["download_url"], webui.ada.token).text, TEXT)


def _hangs_on_the_answer(world: World, answer: Answer, made: dict) -> None:
    chat = world.webui.ask("GET", f"/api/v1/chats/{answer.chat}", world.webui.ada.token)
    files = chat["chat"]["history"]["messages"][answer.message["id"]].get("files", [])
    check.equal("the answer has the file", [file["id"] for file in files], [made["file_id"]])
    check.equal("with its name", files[0]["name"], "report.txt")


def _lists_and_deletes(world: World, file: str) -> None:
    webui = world.webui
    listed = world.call(webui.ada, "shed_link_list").data["files"]
    check.equal("it is listed", [link["file_id"] for link in listed], [file])
    for other in (webui.bob, webui.admin):
        check.equal("not to others", world.call(other, "shed_link_list").data["files"], [])
        refused = world.call(other, "shed_link_delete", file_id=file).error
        check.equal("others do not delete it", refused["code"], "NOT_A_FILESHED_LINK")
    world.call(webui.ada, "shed_link_delete", file_id=file).data
    gone = webui.request("GET", f"/api/v1/files/{file}", webui.ada.token)
    check.equal("deleted there too", gone.status, 404)
    check.equal("and from the list", world.call(webui.ada, "shed_link_list").data["files"], [])


def _leaves_the_rest_alone(world: World) -> None:
    """Files that fileshed did not make are not links."""
    ada = world.webui.ada
    file = world.webui.upload(ada, "diary.txt", b"dear diary")["id"]
    refused = world.call(ada, "shed_link_delete", file_id=file).error
    check.equal("an upload is no link", refused["code"], "NOT_A_FILESHED_LINK")
    kept = world.webui.request("GET", f"/api/v1/files/{file}", ada.token)
    check.equal("it is still there", kept.status, 200)


def _own_links(world: World) -> None:
    """Without the user's own credential, fileshed gives the file itself."""
    with world.connected() as fileshed:
        create = [("shed_create_file", {"zone": "storage", "path": "report.txt", "content": TEXT})]
        made = world.ask(world.webui.ada, [create, _link("report.txt")]).last.data
        check.that("the address is its own", made["download_url"].startswith(f"{fileshed.url}/links/"), made)

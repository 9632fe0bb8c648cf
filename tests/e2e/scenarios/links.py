"""Links lead into Open WebUI, where only the user opens them, and hang on the answer."""

from __future__ import annotations

from harness import check, web
from harness.chat import Answer
from harness.fileshed import Fileshed
from harness.world import World

TEXT = "on paper\n"

CREATE = ("shed_create_file", {"zone": "storage", "path": "report.txt", "content": TEXT})


def run(world: World) -> None:
    ada = world.webui.ada
    with world.connected("session", openwebui_api_url=world.webui.url) as fileshed:
        answer = world.ask(ada, [[CREATE], _link("report.txt")])
        made = answer.last.data
        _opens_for_its_user(world, made)
        _hangs_on_the_answer(world, answer, made)
        _lists_and_deletes(world, made["file_id"])
        _leaves_the_rest_alone(world)
        _elsewhere(world, fileshed)
    _as_set(world)


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


def _elsewhere(world: World, fileshed: Fileshed) -> None:
    """Links to anything but a file of one user lead to fileshed itself, also with a session."""
    ada = world.webui.ada
    world.call(ada, "shed_create_file", zone="storage", path="papers/one.txt", content=TEXT).data
    archive = world.ask(ada, [_link("papers")]).last.data
    check.that("a directory is an archive here", _is_own(archive, fileshed), archive)
    check.equal(
        "it opens", web.request("GET", archive["download_url"]).headers["content-type"], "application/zip"
    )
    upload = world.call(ada, "shed_link_create", upload=True).data
    check.that("files are sent here", _is_own(upload, fileshed), upload)


def _as_set(world: World) -> None:
    """The setting `links` decides, where the caller has a session and where not."""
    url = {"openwebui_api_url": world.webui.url}
    with world.connected("session", **url, links="own") as fileshed:
        made = _made(world)
        check.that("own: here", _is_own(made, fileshed), made)
        check.equal("it opens without a credential", web.request("GET", made["download_url"]).text, TEXT)
    with world.connected(**url, links="openwebui") as fileshed:
        refused = world.ask(world.webui.ada, [[CREATE], _link("report.txt")]).last.error
        check.equal("openwebui: not without a session", refused["code"], "OPENWEBUI_INSERT_ERROR")
        check.that("the setting is named", refused["details"]["missing_setting"], refused)
    with world.connected() as fileshed:
        check.that("auto: here without a session", _is_own(_made(world), fileshed))


def _made(world: World) -> dict:
    return world.ask(world.webui.ada, [[CREATE], _link("report.txt")]).last.data


def _is_own(link: dict, fileshed: Fileshed) -> bool:
    return link["download_url"].startswith(f"{fileshed.url}/links/")

"""Open WebUI itself: started, used over its own API, stopped."""

from __future__ import annotations

import dataclasses
import enum
import secrets
from pathlib import Path

from harness import check, web
from harness.process import LOOPBACK, Process, free_port
from harness.versions import Version

LAUNCHER = Path(__file__).with_name("launch.py")

EVERYONE = [{"principal_type": "user", "principal_id": "*", "permission": "read"}]

#: Of accounts that are gone with the test.
PASSWORD = "correct horse battery staple"


class Naming(enum.Enum):
    """Ways in which Open WebUI names its users to all its servers, set by its environment."""

    SIGNED = "in a signed token"
    PLAIN = "in plain headers"
    #: Only connections with headers of their own do.
    NONE = "not at all"


@dataclasses.dataclass
class Account:
    id: str
    name: str
    email: str
    #: What a browser has.
    token: str
    #: What a script has.
    key: str = ""


class Refused(Exception):
    """Open WebUI did not answer with success."""

    def __init__(self, method: str, path: str, answer: web.Response):
        super().__init__(f"Open WebUI: {method} {path}: {answer.status} {answer.text[:500]}")
        self.status = answer.status


class OpenWebUI:
    """One instance with its data. It can be stopped and started again."""

    def __init__(self, version: Version, python: Path, directory: Path, model_url: str):
        self.version = version
        self._python = python
        self._directory = directory
        self._model_url = model_url
        self._port = free_port()
        self.url = f"http://{LOOPBACK}:{self._port}"
        self.secret_key = secrets.token_hex(32)
        self.process: Process | None = None
        self.accounts: dict[str, Account] = {}

    def start(self, naming: Naming = Naming.PLAIN, jwt_secret: str = "") -> None:
        environment = self._environment()
        if naming is not Naming.NONE:
            environment["ENABLE_FORWARD_USER_INFO_HEADERS"] = "true"
        if naming is Naming.SIGNED:
            environment["FORWARD_USER_INFO_HEADER_JWT_SECRET"] = jwt_secret
        # -P: no file beside the launcher hides a module of Open WebUI.
        command = [self._python, "-P", LAUNCHER, LOOPBACK, self._port]
        self.process = Process("open-webui", command, environment, self._directory)
        check.until("Open WebUI answers", self._answers)
        if not self.accounts:
            self._make_accounts()

    def stop(self) -> None:
        if self.process:
            self.process.stop()

    def request(self, method: str, path: str, token: str | None = None, **named) -> web.Response:
        return web.request(method, self.url + path, token=token, **named)

    def ask(self, method: str, path: str, token: str | None = None, **named):
        """The document of an answer that must be a success."""
        answer = self.request(method, path, token, **named)
        if not 200 <= answer.status < 300:
            raise Refused(method, path, answer)
        return answer.json()

    @property
    def admin(self) -> Account:
        return self.accounts["admin"]

    @property
    def ada(self) -> Account:
        return self.accounts["ada"]

    @property
    def bob(self) -> Account:
        return self.accounts["bob"]

    def connect(self, *connections: dict) -> None:
        """Makes these the tool servers, and no others."""
        self.ask(
            "POST",
            "/api/v1/configs/tool_servers",
            self.admin.token,
            document={"TOOL_SERVER_CONNECTIONS": list(connections)},
        )

    def connect_terminals(self, *connections: dict) -> None:
        """Makes these the terminals, and no others."""
        self.ask(
            "POST",
            "/api/v1/configs/terminal_servers",
            self.admin.token,
            document={"TERMINAL_SERVER_CONNECTIONS": list(connections)},
        )

    def connections(self) -> list[dict]:
        answer = self.ask("GET", "/api/v1/configs/tool_servers", self.admin.token)
        return answer["TOOL_SERVER_CONNECTIONS"]

    def group(self, name: str, *members: Account) -> str:
        """Makes a group, and gives its id."""
        document = {"name": name, "description": name}
        identifier = self.ask("POST", "/api/v1/groups/create", self.admin.token, document=document)["id"]
        self.change_group(identifier, "add", *members)
        return identifier

    def change_group(self, identifier: str, change: str, *members: Account) -> None:
        """Adds or removes members."""
        document = {"user_ids": [member.id for member in members]}
        self.ask(
            "POST", f"/api/v1/groups/id/{identifier}/users/{change}", self.admin.token, document=document
        )

    def set_role(self, who: Account, role: str) -> None:
        """`user`, `admin`, or `pending`: may not do anything yet, or any more."""
        document = {"role": role, "name": who.name, "email": who.email, "profile_image_url": "/user.png"}
        self.ask("POST", f"/api/v1/users/{who.id}/update", self.admin.token, document=document)

    def upload(self, owner: Account, name: str, content: bytes, kind: str = "text/plain") -> dict:
        """A file in Open WebUI's own store, as the browser puts it there. Text is read at once."""
        process = "true" if kind.startswith("text/") else "false"
        query = f"process={process}&process_in_background=false"
        return self.ask("POST", f"/api/v1/files/?{query}", owner.token, file=(name, content, kind))

    def _answers(self) -> bool:
        if not self.process.runs():
            raise check.Failed("Open WebUI ended while it started")
        try:
            return self.request("GET", "/health", seconds=5).status == 200
        except OSError:
            return False

    def _environment(self) -> dict[str, str]:
        data = self._directory / "open-webui"
        data.mkdir(exist_ok=True)
        off = [
            "ENABLE_OLLAMA_API",
            "ENABLE_EVALUATION_ARENA_MODELS",
            "ENABLE_TITLE_GENERATION",
            "ENABLE_TAGS_GENERATION",
            "ENABLE_FOLLOW_UP_GENERATION",
            "ENABLE_AUTOCOMPLETE_GENERATION",
            "ENABLE_SEARCH_QUERY_GENERATION",
            "ENABLE_RETRIEVAL_QUERY_GENERATION",
            "ENABLE_VERSION_UPDATE_CHECK",
            "ANONYMIZED_TELEMETRY",
        ]
        on = [
            "ENABLE_API_KEYS",
            "USER_PERMISSIONS_FEATURES_API_KEYS",
            # Users may add tool servers of their own.
            "ENABLE_DIRECT_CONNECTIONS",
            "ENABLE_DIRECT_INTEGRATIONS",
            "USER_PERMISSIONS_FEATURES_DIRECT_TOOL_SERVERS",
            "BYPASS_MODEL_ACCESS_CONTROL",
            "BYPASS_EMBEDDING_AND_RETRIEVAL",
            "OFFLINE_MODE",
            # The small set of requirements is allowed.
            "USE_SLIM_DOCKER",
        ]
        return {
            **{name: "false" for name in off},
            **{name: "true" for name in on},
            "GLOBAL_LOG_LEVEL": "WARNING",
            # Its data goes with the test.
            "DATABASE_SQLITE_PRAGMA_SYNCHRONOUS": "OFF",
            "HOME": str(data),
            "TMPDIR": str(self._directory),
            "DATA_DIR": str(data),
            "WEBUI_URL": self.url,
            "CORS_ALLOW_ORIGIN": self.url,
            "WEBUI_SECRET_KEY": self.secret_key,
            "HF_HUB_OFFLINE": "1",
            "NO_PROXY": "*",
            "OPENAI_API_BASE_URL": self._model_url,
            "OPENAI_API_KEY": "unused",
            # Setting that docs/openwebui.md asks of the administrator.
            "DEFAULT_MODEL_PARAMS": '{"function_calling": "native"}',
            # Anything but the built-in embedding, which is not installed.
            "RAG_EMBEDDING_ENGINE": "openai",
        }

    def _make_accounts(self) -> None:
        self.accounts["admin"] = self._sign_up("Grace Hopper", "admin@example.test")
        self.accounts["ada"] = self._add_account("Ada Lovelace", "ada@example.test")
        self.accounts["bob"] = self._add_account("Bób Müller", "bob@example.test")
        for account in self.accounts.values():
            account.key = self.ask("POST", "/api/v1/auths/api_key", account.token)["api_key"]

    def _sign_up(self, name: str, email: str) -> Account:
        """The first account is the administrator's."""
        document = {"name": name, "email": email, "password": PASSWORD}
        made = self.ask("POST", "/api/v1/auths/signup", document=document)
        return Account(made["id"], name, email, made["token"])

    def _add_account(self, name: str, email: str) -> Account:
        document = {"name": name, "email": email, "password": PASSWORD, "role": "user"}
        self.ask("POST", "/api/v1/auths/add", self.admin.token, document=document)
        del document["name"], document["role"]
        made = self.ask("POST", "/api/v1/auths/signin", document=document)
        return Account(made["id"], name, email, made["token"])

"""The versions of Open WebUI that fileshed is tested with, and what each needs to run.

Open WebUI's full list of requirements brings a machine-learning stack that nothing here uses. So it
is installed without its requirements, and then with those that it cannot start without.
"""

from __future__ import annotations

import dataclasses

# Imported when the program starts, or by a chat with tools. The versions are those that the
# package itself asks for.
_NAMES = """
    aiocache aiofiles aiohttp aiosqlite alembic argon2-cffi asgiref authlib azure-identity
    azure-storage-blob bcrypt beautifulsoup4 black boto3 brotli chardet cryptography ddgs
    fake-useragent fastapi fpdf2 ftfy google-cloud-storage httpx itsdangerous langchain
    langchain-classic langchain-community langchain-text-splitters ldap3 loguru markdown mcp openai
    peewee peewee-migrate pillow psutil psycopg pycrdt pydantic pydub pyjwt python-jose
    python-mimeparse python-multipart python-socketio pytz rank-bm25 redis requests restrictedpython
    sqlalchemy starlette-compress starsessions tiktoken uvicorn validators youtube-transcript-api
""".split()


@dataclasses.dataclass(frozen=True)
class Version:
    """One release of Open WebUI."""

    number: str
    # A file of the package that lists a smaller set.
    requirements_file: str = ""
    # Otherwise names from the package's own requirements, and what these only bring by accident.
    names: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    #: Whether `{{USER_GROUPS}}` in a connection's own headers becomes the user's groups.
    fills_groups: bool = True
    #: What the ids of temporary chats begin with.
    temporary: str = "temporary:"
    #: Whether terminals are tested with it.
    has_terminals: bool = True
    #: Whether its client of the Model Context Protocol is tested.
    has_mcp: bool = True
    #: Whether a picture that hangs on a message is told by its name and shows.
    shows_pictures: bool = True


VERSIONS = [
    Version("0.12.4", requirements_file="requirements-slim.txt"),
    Version(
        "0.9.6",
        names=tuple(_NAMES),
        additions=("huggingface_hub==2.4.0", "python-dateutil==2.9.0.post0", "typer==0.29.2"),
        fills_groups=False,
        temporary="local:",
        has_terminals=False,
        has_mcp=False,
        shows_pictures=False,
    ),
]


def find(number: str) -> Version:
    for version in VERSIONS:
        if version.number == number:
            return version
    known = ", ".join(version.number for version in VERSIONS)
    raise SystemExit(f"no such version here: {number}; there are {known}")

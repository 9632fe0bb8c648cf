"""Actions of a person on the page, one function each."""

from __future__ import annotations

from typing import Callable

from people.admin import admin
from people.attacks import attacks
from people.bin import bin
from people.changes import changes, undone
from people.chats import uploads
from people.content import edit, history, looked, played, preview
from people.files import files, keyboard, many, moves, order
from people.firefox import firefox
from people.habits import arranged, carried, drafts, returning
from people.kinds import kinds
from people.languages import languages
from people.looks import contrast, german, phone, quick, shown
from people.provider import provider
from people.search import search
from people.sharing import departure, guarded, links, ownership, together, tokens
from people.transfers import download, folders, resumable, upload
from people.views import views
from people.world import World

Scenario = Callable[[World], None]

#: What people do at a desk and on a phone.
MAIN: tuple[Scenario, ...] = (
    kinds, views, files, arranged, upload, download, preview, looked, edit, history, search, moves, changes, uploads, links, guarded, together, ownership,
)

#: A little of everything, for every change.
SMOKE = ("kinds", "kinds-phone", "views", "views-phone", "upload", "history", "links", "search", "phone")

#: What is done at a desk alone, or looks at both by itself.
OTHERS: tuple[Scenario, ...] = (
    keyboard, order, carried, returning, drafts, undone, languages, folders, resumable, played, tokens, departure, provider, bin, admin, attacks, many, shown, phone,
    german, contrast, quick, firefox,
)


def named() -> dict[str, tuple[Scenario, bool]]:
    """All of them by name, with whether each is done on a phone."""
    desk = {scenario.__name__: (scenario, False) for scenario in (*MAIN, *OTHERS)}
    return desk | {f"{scenario.__name__}-phone": (scenario, True) for scenario in MAIN}

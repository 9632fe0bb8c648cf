"""Actions of a person on the page, one function each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from people.admin import admin
from people.attacks import attacks
from people.bin import bin
from people.changes import changes, undone
from people.chats import uploads
from people.content import edit, history, looked, played, preview
from people.files import files, keyboard, many, moves, order
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
    german, contrast, quick,
)

#: What is shown again in dark, where that is not the usual look.
DARK: tuple[Scenario, ...] = (views,)


@dataclass(frozen=True)
class Way:
    """A scenario, and the browser, the screen and the look with which it is done."""

    scenario: Scenario
    browser: str = "chromium"
    is_phone: bool = False
    is_dark: bool = False

    @property
    def name(self) -> str:
        more = {"firefox": self.browser == "firefox", "dark": self.is_dark, "phone": self.is_phone}
        return "-".join([self.scenario.__name__, *(word for word, holds in more.items() if holds)])


def named() -> dict[str, Way]:
    """All of them by name."""
    ways = [Way(scenario) for scenario in (*MAIN, *OTHERS)] + [Way(scenario, is_phone=True) for scenario in MAIN]
    ways += [Way(way.scenario, "firefox", way.is_phone) for way in ways]
    ways += [Way(scenario, "firefox", is_phone, is_dark=True) for scenario in DARK for is_phone in (False, True)]
    return {way.name: way for way in ways}

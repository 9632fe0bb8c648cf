//! The conversations of a caller that have uploads.
//!
//! Each conversation has uploads of its own, and a call belongs to one conversation. This module lists
//! all of them for callers outside of any conversation, such as a person on the page. The name of a
//! conversation's directory is its identifier in every other call.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

use jiff::Timestamp;

use crate::store::Store;
use fileshed_storage::{Kind, Totals};
use fileshed_types::{Caller, Chat, Error, ZoneName, ZonePath};

/// Seconds of a day.
pub const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Most conversations of one page.
const CHATS_MAX: usize = 50;

/// Most entries that are examined for one page, unless a single conversation has more.
const ENTRIES_MAX: u64 = 20_000;

/// A conversation that has uploads.
#[derive(Clone, Debug)]
pub struct ChatUploads {
    /// Its identifier in every call.
    pub chat: Chat,
    /// Its title in the chat application, if it is known.
    pub title: Option<String>,
    /// The size and number of its uploads.
    pub totals: Totals,
    /// Time of the last change in its uploads.
    pub last_change: Timestamp,
    /// Time when the uploads end if they do not change; `None` if uploads never end.
    pub ends_at: Option<Timestamp>,
}

/// A page of a caller's conversations.
#[derive(Clone, Debug, Default)]
pub struct ChatsPage {
    /// The conversations, the one whose uploads changed last first.
    pub chats: Vec<ChatUploads>,
    /// Number of the conversation at which the next page begins; `None` on the last page.
    pub next: Option<usize>,
}

impl Store {
    /// Returns a page of the caller's conversations that have uploads, from the one with this number on.
    pub fn chats_with_uploads(&self, caller: &Caller, from: usize) -> Result<ChatsPage, Error> {
        let mut page = self.untitled_chats(caller, from, (CHATS_MAX, ENTRIES_MAX))?;
        self.name_chats(caller, &mut page.chats);
        Ok(page)
    }

    /// Returns the time when uploads end that changed last at `last_change`; `None` if uploads never end.
    #[must_use]
    pub fn end_of_uploads(&self, last_change: i64) -> Option<Timestamp> {
        let days = self.settings.uploads_retention_days;
        let kept = i64::try_from(days.map(NonZeroU64::get)?).unwrap_or(i64::MAX);
        let kept = kept.saturating_mul(DAY_SECONDS);
        // A time beyond the calendar never comes.
        Timestamp::from_second(last_change.saturating_add(kept)).ok()
    }

    /// Returns at most `chats_max` conversations, fewer if these have `entries_max` entries. They have
    /// no titles.
    pub(crate) fn untitled_chats(
        &self,
        caller: &Caller,
        from: usize,
        (chats_max, entries_max): (usize, u64),
    ) -> Result<ChatsPage, Error> {
        let mut page = ChatsPage::default();
        let tenant = self.tenant(caller)?;
        let Some(uploads) = tenant.existing_base(ZoneName::Uploads)? else {
            return Ok(page);
        };
        let mut found = uploads.list(&ZonePath::root())?;
        found.retain(|found| found.kind == Kind::Directory);
        found.sort_by(|one, other| {
            let times = other.modified().total_cmp(&one.modified());
            times.then_with(|| one.path.cmp(&other.path))
        });
        let mut looked_at = 0;
        for (number, found) in found.iter().enumerate().skip(from) {
            if page.chats.len() == chats_max || looked_at >= entries_max {
                page.next = Some(number);
                break;
            }
            let name = found.path.as_str();
            let Some(place) = uploads.existing_subdirectory(name)? else {
                continue;
            };
            let summary = place.summary()?;
            looked_at += 1 + summary.entries;
            if summary.totals.files == 0 {
                continue;
            }
            page.chats.push(ChatUploads {
                chat: Chat::new(name),
                title: None,
                totals: summary.totals,
                last_change: Timestamp::from_second(summary.last_change).unwrap_or_default(),
                ends_at: self.end_of_uploads(summary.last_change),
            });
        }
        Ok(page)
    }

    /// Adds the titles that the application has for them.
    fn name_chats(&self, caller: &Caller, chats: &mut [ChatUploads]) {
        let mut titles = self.titles(caller, chats.iter().map(|uploads| uploads.chat.clone()));
        for uploads in chats {
            uploads.title = titles.remove(&uploads.chat);
        }
    }

    /// Returns the titles of these conversations in the chat application, as far as they are known.
    pub fn titles(
        &self,
        caller: &Caller,
        chats: impl IntoIterator<Item = Chat>,
    ) -> HashMap<Chat, String> {
        let named: HashSet<Chat> = chats.into_iter().collect();
        let named = named.into_iter().filter(|chat| *chat != Chat::default());
        let named: Vec<Chat> = named.collect();
        match self.chat_host() {
            Some(chat_host) if !named.is_empty() => chat_host.titles(caller, &named),
            _ => HashMap::new(),
        }
    }
}

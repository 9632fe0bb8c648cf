//! Notices of files that came through an upload link, for the conversation that made the link.
//!
//! The page of a link sends each file in a request of its own, so a notice waits until no more come.

use std::time::Instant;

use fileshed_core::timings::OpenWebUiTimings;
use fileshed_core::{Secret, UserId};

use super::client::OpenWebUiClient;

/// Names in a notice.
const NAMES: usize = 5;

/// Files that came to one place, for one conversation.
#[derive(Debug)]
pub(super) struct UploadNotice {
    pub(super) user: UserId,
    /// The conversation, as a segment of a path.
    pub(super) chat: String,
    pub(super) place: String,
    pub(super) key: Secret,
    pub(super) names: Vec<String>,
    /// When the first of the files came.
    pub(super) first: Instant,
    /// When the last of them came.
    pub(super) last: Instant,
}

impl UploadNotice {
    /// Adds a later notice, unless it is for another user, chat or place.
    pub(super) fn join(&mut self, later: Self) -> Option<Self> {
        let same = self.user == later.user && self.chat == later.chat && self.place == later.place;
        if !same {
            return Some(later);
        }
        self.names.extend(later.names);
        self.last = later.last;
        None
    }

    /// When it is sent.
    pub(super) fn due(&self, timings: &OpenWebUiTimings) -> Instant {
        (self.last + timings.notice_quiet).min(self.first + timings.notice_longest)
    }

    pub(super) fn text(&self) -> String {
        let (place, count) = (&self.place, self.names.len());
        let names = self.names[..count.min(NAMES)].join(", ");
        let files = if count == 1 { "file" } else { "files" };
        let more = if count > NAMES { ", …" } else { "" };
        format!("{count} {files} came into {place}: {names}{more}")
    }

    /// Returns the path for events of the last answer in the conversation, if it is the user's.
    pub(super) fn path(&self, client: &OpenWebUiClient) -> Option<String> {
        let key = self.key.reveal();
        let answer = super::chat::last_answer(client, key, &self.chat, &self.user)?;
        Some(format!(
            "/api/v1/chats/{}/messages/{answer}/event",
            self.chat
        ))
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::Clock;
    use fileshed_core::timings::seconds;

    use super::*;

    const TIMINGS: OpenWebUiTimings = OpenWebUiTimings::STANDARD;

    fn arrival(user: &str, names: &[&str], now: Instant) -> UploadNotice {
        UploadNotice {
            user: UserId::parse(user).expect("a user"),
            chat: "c".to_owned(),
            place: "uploads".to_owned(),
            key: Secret::new("k"),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            first: now,
            last: now,
        }
    }

    #[test]
    fn what_comes_together_is_told_together() {
        let begun = Clock::SYSTEM.instant();
        let mut first = arrival("ada", &["a"], begun);
        assert_eq!(first.text(), "1 file came into uploads: a");
        assert_eq!(first.due(&TIMINGS), begun + TIMINGS.notice_quiet);
        let later = begun + seconds(1);
        assert!(first.join(arrival("ada", &["b", "c"], later)).is_none());
        assert_eq!(first.text(), "3 files came into uploads: a, b, c");
        assert_eq!(first.due(&TIMINGS), later + TIMINGS.notice_quiet);
        assert!(first.join(arrival("bob", &["x"], later)).is_some());
        let late = begun + TIMINGS.notice_longest;
        first.join(arrival("ada", &["d", "e", "f"], late));
        assert_eq!(first.text(), "6 files came into uploads: a, b, c, d, e, …");
        assert_eq!(first.due(&TIMINGS), late, "it does not wait for ever");
    }
}

//! Cache of the files that are attached to conversations.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fileshed_types::{Clock, Mutex};

/// Conversations that are remembered.
const CONVERSATIONS_MAX: usize = 10_000;

/// State of the attachments of conversations that were looked into lately.
#[derive(Debug, Default)]
pub(crate) struct AttachmentCache(Mutex<HashMap<String, Arc<Mutex<ChatAttachments>>>>);

/// One conversation of one user.
#[derive(Debug, Default)]
pub(crate) struct ChatAttachments {
    /// When the application was asked, for which message, and how long that counts.
    pub(crate) asked: Option<(Instant, Option<String>, Duration)>,
    /// `true` if the application ever said what is attached.
    pub(crate) is_known: bool,
    /// Why nobody knows what is attached.
    pub(crate) unknown: Option<String>,
    /// The files that could not come in, by id.
    pub(crate) refused: HashMap<String, Refused>,
}

/// A file that could not come in.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) at: Instant,
}

impl AttachmentCache {
    pub(crate) fn conversation(&self, tenant: &str, chat: &str) -> Arc<Mutex<ChatAttachments>> {
        let mut conversations = self.0.lock();
        if conversations.len() >= CONVERSATIONS_MAX {
            // Those that nobody looks into now; they are asked about again.
            conversations.retain(|_, conversation| Arc::strong_count(conversation) > 1);
        }
        let entry = conversations.entry(format!("{tenant}/{chat}"));
        Arc::clone(entry.or_default())
    }
}

impl ChatAttachments {
    pub(crate) fn is_fresh(&self, message: Option<&String>, clock: &Clock) -> bool {
        let asked = self.asked.as_ref();
        asked.is_some_and(|(at, of, counts)| of.as_ref() == message && clock.elapsed(*at) < *counts)
    }
}

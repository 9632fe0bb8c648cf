//! Credential and headers by which Open WebUI names the caller and the chat.

use axum::http::HeaderName;
use fileshed_core::names;
use fileshed_core::settings::GroupSource;
use serde_json::{Map, Value, json};

use crate::config::Config;

names! {
    /// Credential with which Open WebUI calls.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Auth {
        /// The credential of the user in whose name it calls.
        Session = "session",
        /// A service key.
        Bearer = "bearer",
    }
}

/// A header of the connection: Open WebUI fills its template for every call, whatever its own
/// environment says.
#[derive(Debug)]
pub(super) struct ConnectionHeader {
    name: String,
    template: &'static str,
    wanted: bool,
}

impl ConnectionHeader {
    /// Every header that this server may ask for, wanted or not.
    pub(super) fn all(config: &Config, auth: Auth) -> Vec<Self> {
        let bearer = auth == Auth::Bearer;
        // Signed users come in a header of their own, and nothing unsigned is believed then.
        let plain = bearer && config.forward_jwt_secret.is_none();
        let groups = bearer && config.core.groups == GroupSource::Headers;
        [
            (&config.header_chat_id, "{{CHAT_ID}}", true),
            (&config.header_message_id, "{{MESSAGE_ID}}", true),
            (&config.header_user_id, "{{USER_ID}}", plain),
            (&config.header_user_name, "{{USER_NAME}}", plain),
            (&config.header_user_email, "{{USER_EMAIL}}", plain),
            (&config.header_user_role, "{{USER_ROLE}}", plain),
            (&config.header_group_ids, "{{USER_GROUP_IDS}}", groups),
            (&config.header_group_names, "{{USER_GROUPS}}", groups),
        ]
        .map(|(name, template, wanted)| Self {
            name: shown(name),
            template,
            wanted,
        })
        .into()
    }

    /// `true` if it names groups, or the answer that is being written: such headers come with some calls of
    /// a terminal connection, before a model is asked.
    pub(super) fn is_of_terminals(&self) -> bool {
        ["{{USER_GROUP", "{{CHAT", "{{MESSAGE"]
            .iter()
            .any(|name| self.template.starts_with(name))
    }

    /// Makes it what it should be among `headers`.
    pub(super) fn settle(&self, headers: &mut Map<String, Value>) {
        let same = |name: &&String| name.eq_ignore_ascii_case(&self.name);
        let name = headers.keys().find(same).cloned();
        match name {
            Some(name) if self.wanted => headers.insert(name, json!(self.template)),
            None if self.wanted => headers.insert(self.name.clone(), json!(self.template)),
            // From another mode; what somebody else wrote there stays.
            Some(name) if headers[&name] == self.template => headers.shift_remove(&name),
            _ => None,
        };
    }
}

/// A header name as people write it.
fn shown(name: &HeaderName) -> String {
    let word = |word: &str| match (word, word.split_at_checked(1)) {
        ("openwebui", _) => "OpenWebUI".to_owned(),
        (_, Some((first, rest))) => first.to_ascii_uppercase() + rest,
        (_, None) => String::new(),
    };
    let words: Vec<String> = name.as_str().split('-').map(word).collect();
    words.join("-")
}

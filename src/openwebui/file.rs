//! Files in Open WebUI: its records of them, and the entries for them in messages, as browsers write and
//! read them.
//!
//! Files that this server puts there are the caller's own files, marked in their metadata. They hang on
//! the answer that is being written, where that is known; a link to one works by itself as well. Open WebUI
//! shows pages in a frame that is kept apart from its own page. They are part of the message, which shows
//! the page as it was then.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::chat_host::Attachment;
use fileshed_core::zone::portable_name;
use fileshed_core::{Caller, Chat};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::{CallError, segment};
use super::{ApiCredential, OpenWebUi};
use crate::content_type::is_picture;

/// Longest name that is kept as it is.
const NAME_MAX_BYTES: usize = 1000;

/// Directory in which a terminal shows the uploads of a conversation.
const UPLOADS: &str = "/uploads/";

/// Longest id that is asked for.
const ID_MAX_BYTES: usize = 128;

/// Key in the metadata of files that this server made.
pub(super) const MARK: &str = "fileshed";

/// A file as Open WebUI has it.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) filename: String,
    #[serde(default)]
    meta: Value,
    #[serde(default)]
    created_at: Value,
}

impl Record {
    pub(super) fn sha256(&self) -> Option<&str> {
        self.meta["file_hash"].as_str()
    }

    /// Returns the entry for a message's list of files, which a click in the browser opens.
    pub(super) fn entry(&self) -> Value {
        let id = segment(&self.id).unwrap_or_default();
        let content_type = self.meta["content_type"].as_str().unwrap_or_default();
        let is_picture = is_picture(content_type);
        // As a picture that it cannot show a browser would show nothing at all.
        let content_type = if is_picture || !content_type.starts_with("image/") {
            content_type
        } else {
            ""
        };
        json!({
            // Pictures are shown from their address; everything else is opened by its id.
            "type": if is_picture { "image" } else { "file" },
            "id": id,
            "url": if is_picture { address("", &id) } else { id.clone() },
            "name": self.filename,
            "size": self.meta["size"].as_u64(),
            "content_type": content_type,
            "status": "uploaded",
            "file": {
                "id": self.id,
                "user_id": self.user_id,
                "filename": self.filename,
                "meta": self.meta,
                "created_at": self.created_at,
            },
        })
    }

    /// `true` if this server made it for the caller.
    pub(super) fn is_ours(&self, caller: &Caller) -> bool {
        let user = caller.user.as_ref();
        let is_of_caller = user.is_some_and(|user| user.as_str() == self.user_id);
        is_of_caller && self.meta["data"][MARK].is_object()
    }
}

impl OpenWebUi {
    /// Returns the record of an id; `None` if Open WebUI shows none.
    pub(super) fn record(
        &self,
        key: ApiCredential<'_>,
        id: &str,
    ) -> Result<Option<Record>, CallError> {
        let Some(id) = segment(id) else {
            return Ok(None);
        };
        let path = format!("/api/v1/files/{id}");
        match self.client.get::<Option<Record>>(key.reveal(), &path) {
            Err(CallError::Status(404, _)) => Ok(None),
            answer => answer,
        }
    }
}

/// An entry that somebody else wrote: nothing in it has to be what it should.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileEntry<'a>(pub(super) &'a Value);

impl FileEntry<'_> {
    /// Returns `true` if it says that this server made the file.
    pub(super) fn is_ours(self) -> bool {
        self.0["file"]["meta"]["data"][MARK].is_object()
    }

    /// Returns `true` if a terminal brought it into another chat than this.
    pub(super) fn is_in_another_chat(self, chat: &Chat) -> bool {
        let said = self.0["session_id"].as_str();
        self.0["type"] == "filesystem" && said.is_some_and(|said| said != chat.as_str())
    }

    /// A file in the uploads that a terminal shows, which may have come before the conversation had
    /// an id.
    fn of_a_terminal(self, seen: &mut HashSet<String>) -> Option<Attachment> {
        let path = self.0["path"].as_str().or(self.0["url"].as_str())?;
        let inside = path
            .strip_prefix(UPLOADS)
            .filter(|inside| !inside.is_empty())?;
        let is_short = path.len() <= NAME_MAX_BYTES;
        (is_short && seen.insert(path.to_owned())).then(|| Attachment {
            id: path.to_owned(),
            name: inside.rsplit('/').next().unwrap_or_default().to_owned(),
            content: None,
            waiting: Some(inside.to_owned()),
        })
    }

    /// The file, unless it is none or was seen before. `images` counts pictures without a name.
    pub(super) fn attachment(
        self,
        seen: &mut HashSet<String>,
        images: &mut u32,
    ) -> Option<Attachment> {
        let (kind, url) = (self.0["type"].as_str()?, self.0["url"].as_str());
        if kind == "filesystem" {
            return self.of_a_terminal(seen);
        }
        let is_picture = kind == "image";
        if !is_picture && kind != "file" {
            return None;
        }
        let embedded = url.filter(|url| url.starts_with("data:"));
        let (id, content, extension) = if let Some(url) = embedded {
            let (media_type, content) = decoded(url)?;
            let id = hex::encode(&Sha256::digest(&content)[..16]);
            (id, Some(content.into()), extension(media_type))
        } else {
            let said = self.0["id"].as_str().or(self.0["file"]["id"].as_str());
            let id = said.or(url.and_then(id_in)).filter(|id| is_id(id))?;
            let media_type = self.0["content_type"].as_str().unwrap_or_default();
            (id.to_owned(), None, extension(media_type))
        };
        if !seen.insert(id.clone()) {
            return None;
        }
        let file = &self.0["file"];
        let name = [&self.0["name"], &file["meta"]["name"], &file["filename"]];
        let mut name = name.into_iter().filter_map(Value::as_str);
        let name = match name.find(|name| !name.trim().is_empty()) {
            // Failures and lists show names.
            Some(name) if name.len() > NAME_MAX_BYTES => portable_name(name),
            Some(name) => name.to_owned(),
            None if is_picture => {
                *images += 1;
                format!("image-{images}.{extension}")
            }
            None => id.clone(),
        };
        Some(Attachment {
            id,
            name,
            content,
            waiting: None,
        })
    }
}

/// Returns `true` if one of a message's files has this id.
pub(super) fn names(files: &Value, id: &str) -> bool {
    let files = files.as_array().into_iter().flatten();
    files.into_iter().any(|file| file["id"] == id)
}

/// Leaves out what comes after a newer entry for the same file of ours.
pub(super) fn keep_newest(files: &mut Vec<Value>) {
    let mut seen = HashSet::new();
    files.retain(|file| {
        let source = file["file"]["meta"]["data"][MARK]["source"].as_str();
        source.is_none_or(|source| seen.insert(source.to_owned()))
    });
}

fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !id.is_empty() && id.len() <= ID_MAX_BYTES && id.bytes().all(plain)
}

/// The id in the address of a file; an address that is no more than an id is one.
fn id_in(url: &str) -> Option<&str> {
    match url.rsplit_once("/files/") {
        Some((_, rest)) => rest.split('/').next(),
        None => Some(url),
    }
}

/// Media type and content of a `data:` address.
fn decoded(url: &str) -> Option<(&str, Vec<u8>)> {
    let (head, text) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    Some((media_type, STANDARD.decode(text).ok()?))
}

fn extension(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or_default() {
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/avif" => "avif",
        _ => "png",
    }
}

/// Returns the address at which a browser opens a file.
pub(super) fn address(base: &str, id: &str) -> String {
    format!("{base}/api/v1/files/{id}/content")
}

/// Returns the beginning of a page, by which it is found again.
pub(super) fn mark(source: &str) -> String {
    let source = source.replace(['<', '>'], "").replace("--", "- -");
    format!("<!-- fileshed {source} -->\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachments(items: &Value) -> Vec<(String, String, Option<Vec<u8>>)> {
        let (mut seen, mut images) = (HashSet::new(), 0);
        let items = items.as_array().expect("a list").iter();
        items
            .filter_map(|item| FileEntry(item).attachment(&mut seen, &mut images))
            .map(|file| {
                (
                    file.id,
                    file.name,
                    file.content.map(|content| content.to_vec()),
                )
            })
            .collect()
    }

    #[test]
    fn files_and_pictures_are_found_in_every_form_that_they_had() {
        let found = attachments(&json!([
            {"type": "file", "id": "f-1", "url": "f-1", "name": "notes.txt"},
            {"type": "file", "id": "f-1", "name": "again"},
            {"type": "file", "url": "f-2", "file": {"filename": "record.csv"}},
            {"type": "file", "id": "f-3"},
            {"type": "image", "url": "/api/v1/files/f-4/content"},
            {"type": "image", "url": "https://x.example/api/v1/files/f-5/content", "name": "p.png"},
            {"type": "image", "url": "data:image/jpeg;base64,eA=="},
            {"type": "image", "url": "data:image/jpeg;base64,eA=="},
        ]));
        let picture = hex::encode(&Sha256::digest(b"x")[..16]);
        let expected = [
            ("f-1", "notes.txt", None),
            ("f-2", "record.csv", None),
            ("f-3", "f-3", None),
            ("f-4", "image-1.png", None),
            ("f-5", "p.png", None),
            (&picture, "image-2.jpg", Some(b"x".to_vec())),
        ];
        let expected =
            expected.map(|(id, name, content)| (id.to_owned(), name.to_owned(), content));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_what_a_browser_shows_is_a_picture() {
        let item = |content_type: &str| {
            let record = json!({"id": "f", "user_id": "u", "filename": "n",
                "meta": {"content_type": content_type, "size": 1}});
            let record: Record = serde_json::from_value(record).expect("a record");
            let item = record.entry();
            ["type", "url", "content_type"]
                .map(|name| item[name].as_str().unwrap_or("?").to_owned())
        };
        let address = "/api/v1/files/f/content";
        for (content_type, expected) in [
            ("text/csv", ["file", "f", "text/csv"]),
            ("image/png", ["image", address, "image/png"]),
            ("image/tiff", ["file", "f", ""]),
        ] {
            assert_eq!(item(content_type), expected);
        }
    }

    #[test]
    fn what_is_no_file_is_left_out() {
        let found = attachments(&json!([
            null, 1, "file", [], {},
            {"type": "collection", "id": "c"},
            {"type": "filesystem", "path": "/etc/passwd", "id": "x"},
            {"type": "file", "id": null, "url": "", "status": "uploading"},
            {"type": "file", "id": "../../users"},
            {"type": "file", "id": "a?b=c"},
            {"type": "file", "id": "x".repeat(129)},
            {"type": "image", "url": "https://example.org/cat.png"},
            {"type": "image", "url": "data:image/png;base64,???"},
            {"type": "image", "url": "data:image/png,plain"},
        ]));
        assert_eq!(found, []);
    }

    #[test]
    fn a_mark_stays_a_comment() {
        assert_eq!(mark("storage:a.html"), "<!-- fileshed storage:a.html -->\n");
        assert_eq!(mark("x--><script>"), "<!-- fileshed x- -script -->\n");
    }
}

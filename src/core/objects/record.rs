//! What is known of a file: its object, and what the object's metadata says.

use std::collections::VecDeque;

use jiff::Timestamp;
use object_store::{Attribute, Attributes, GetResult, ObjectMeta, UpdateVersion};

/// How many writes a file remembers: whoever waits for an answer that was lost finds its own among
/// them, although others wrote since.
const REMEMBERED: usize = 12;

// Names that every storage keeps as they are: letters only.
const CREATED: &str = "created";
const UPDATED: &str = "updated";
const WRITE: &str = "write";
const EARLIER: &str = "earlier";
const CONTENT: &str = "content";
const SIZE: &str = "size";
const TYPE: &str = "type";

/// A file as one look found it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The state of the object that conditions name.
    pub(crate) state: UpdateVersion,
    /// Bytes of the file.
    pub(crate) size: u64,
    /// When it was made.
    pub(crate) created: Timestamp,
    /// When it was last written.
    pub(crate) updated: Timestamp,
    /// Its media type.
    pub(crate) mime_type: Option<String>,
    /// Which write made this state; other programs give none.
    pub(crate) write: Option<String>,
    /// Writes before it, the newest first.
    pub(crate) earlier: VecDeque<String>,
    /// The object with the content, where it has one of its own.
    pub(crate) content: Option<String>,
}

impl Record {
    pub(crate) fn of(result: &GetResult) -> Self {
        Self::read(&result.meta, &result.attributes)
    }

    fn read(meta: &ObjectMeta, attributes: &Attributes) -> Self {
        let text = |name: &'static str| {
            let value = attributes.get(&Attribute::Metadata(name.into()))?;
            Some(value.as_ref().to_owned())
        };
        let moment = |name| text(name)?.parse::<Timestamp>().ok();
        let modified = self::moment(meta);
        let content = text(CONTENT);
        let size = content.as_ref().and_then(|_| text(SIZE)?.parse().ok());
        Self {
            state: UpdateVersion {
                e_tag: meta.e_tag.clone(),
                version: meta.version.clone(),
            },
            size: size.unwrap_or(meta.size),
            created: moment(CREATED).unwrap_or(modified),
            updated: moment(UPDATED).unwrap_or(modified),
            // A storage gives every object some type; ours is the one that somebody named.
            mime_type: match text(WRITE) {
                Some(_) => text(TYPE),
                None => foreign_type(attributes),
            },
            write: text(WRITE),
            earlier: text(EARLIER)
                .map(|ids| ids.split(' ').map(str::to_owned).collect())
                .unwrap_or_default(),
            content,
        }
    }

    /// The state as callers see and name it: the write, which is never the same twice, else what
    /// the storage says.
    pub(crate) fn version(&self) -> String {
        let told = || {
            self.state
                .e_tag
                .clone()
                .or_else(|| self.state.version.clone())
        };
        self.write.clone().or_else(told).unwrap_or_default()
    }

    /// Whether a write made this state or one before it.
    pub(crate) fn knows(&self, write: &str) -> bool {
        self.write.as_deref() == Some(write) || self.earlier.iter().any(|known| known == write)
    }

    /// What the object of this state has beside its bytes.
    pub(crate) fn attributes(&self) -> Attributes {
        let mut attributes = Attributes::new();
        let mut set = |name: &'static str, value: String| {
            attributes.insert(Attribute::Metadata(name.into()), value.into());
        };
        set(CREATED, self.created.to_string());
        set(UPDATED, self.updated.to_string());
        if let Some(write) = &self.write {
            set(WRITE, write.clone());
        }
        if !self.earlier.is_empty() {
            let earlier: Vec<&str> = self.earlier.iter().map(String::as_str).collect();
            set(EARLIER, earlier.join(" "));
        }
        if let Some(content) = &self.content {
            set(CONTENT, content.clone());
            set(SIZE, self.size.to_string());
        }
        if let Some(mime_type) = &self.mime_type {
            set(TYPE, mime_type.clone());
            attributes.insert(Attribute::ContentType, mime_type.clone().into());
        }
        attributes
    }

    /// The writes that the next state remembers.
    pub(crate) fn remembered(&self) -> VecDeque<String> {
        let mut earlier = self.earlier.clone();
        if let Some(write) = &self.write {
            earlier.push_front(write.clone());
        }
        earlier.truncate(REMEMBERED);
        earlier
    }
}

/// The type of an object of another program, where it says more than that there are bytes.
fn foreign_type(attributes: &Attributes) -> Option<String> {
    let value = attributes.get(&Attribute::ContentType)?.as_ref();
    let says_nothing = ["binary/octet-stream", "application/octet-stream"].contains(&value);
    (!says_nothing).then(|| value.to_owned())
}

/// When the storage took an object.
pub(crate) fn moment(meta: &ObjectMeta) -> Timestamp {
    Timestamp::from_millisecond(meta.last_modified.timestamp_millis())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

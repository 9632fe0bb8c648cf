//! Calls at random, compared with those of the provider in memory.

use proptest::prelude::*;

use super::{names, path, put};
use crate::{
    MemoryProvider, Metadata, Precondition, Provider, ProviderError, Version, Write, ZonePath,
};

/// One call.
#[derive(Clone, Debug)]
pub enum Step {
    /// Write a file.
    Write {
        /// The path.
        path: String,
        /// The content.
        content: Vec<u8>,
        /// The type of the file.
        mime_type: Option<String>,
        /// The condition.
        when: When,
    },
    /// Read a file.
    Read {
        /// The path.
        path: String,
        /// The first byte.
        start: u64,
        /// The end of the range of bytes.
        end: u64,
    },
    /// Read metadata.
    Stat(String),
    /// Every entry of a directory.
    List {
        /// The path.
        path: String,
        /// Entries of a page.
        most: usize,
    },
    /// Remove what is there.
    Remove(String),
    /// Move what is there.
    Rename {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
    },
}

/// Condition of a write.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// No condition.
    Always,
    /// The path is free.
    Absent,
    /// The file still has the version that it has at this moment.
    Current,
    /// The file has a version that it never had.
    Never,
}

/// Response to a step, without the values that may differ: versions and times.
type Answer = Result<String, &'static str>;

/// Some calls, over few enough names that they meet.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let name = prop::sample::select(vec!["a", "b", "a.b", "a-", "ü x"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let maybe_root = prop_oneof![1 => Just(String::new()), 4 => path.clone()];
    let content = prop::collection::vec(any::<u8>(), 0..20);
    let mime_type = prop::option::of(prop::sample::select(vec![
        "text/plain".to_owned(),
        "image/png".to_owned(),
    ]));
    let when = prop_oneof![
        4 => Just(When::Always),
        1 => Just(When::Absent),
        2 => Just(When::Current),
        1 => Just(When::Never),
    ];
    let write =
        (path.clone(), content, mime_type, when).prop_map(|(path, content, mime_type, when)| {
            Step::Write {
                path,
                content,
                mime_type,
                when,
            }
        });
    let read = (maybe_root.clone(), 0..25_u64, 0..25_u64)
        .prop_map(|(path, start, end)| Step::Read { path, start, end });
    let list = (maybe_root.clone(), 1..5_usize).prop_map(|(path, most)| Step::List { path, most });
    let step = prop_oneof![
        5 => write,
        2 => read,
        1 => maybe_root.clone().prop_map(Step::Stat),
        2 => list,
        2 => path.clone().prop_map(Step::Remove),
        2 => (path.clone(), path).prop_map(|(from, to)| Step::Rename { from, to }),
    ];
    prop::collection::vec(step, 1..most)
}

/// Does the same with a provider that has no files yet and with [`MemoryProvider`].
///
/// # Panics
///
/// If the responses or the files at the end differ.
pub fn agrees_with_memory(provider: &dyn Provider, steps: &[Step]) {
    let memory = MemoryProvider::default();
    for (at, step) in steps.iter().enumerate() {
        let (wanted, got) = (answer(&memory, step), answer(provider, step));
        assert_eq!(got, wanted, "step {at} of {steps:#?}");
    }
    let (mut wanted, mut got) = (Vec::new(), Vec::new());
    walk(&memory, &ZonePath::root(), &mut wanted);
    walk(provider, &ZonePath::root(), &mut got);
    assert_eq!(got, wanted, "after {steps:#?}");
}

fn answer(provider: &dyn Provider, step: &Step) -> Answer {
    let told = |metadata: &Metadata| tell(metadata);
    match step {
        Step::Write {
            path: at,
            content,
            mime_type,
            when,
        } => {
            let at = path(at);
            let condition = match when {
                When::Always => Precondition::Any,
                When::Absent => Precondition::Absent,
                When::Never => Precondition::Version(Version("never".to_owned())),
                When::Current => match provider.stat(&at) {
                    Ok(found) => Precondition::Version(found.version),
                    Err(_) => Precondition::Absent,
                },
            };
            let write = Write {
                mime_type: mime_type.clone(),
                condition,
            };
            let written = put(provider, &at, content, &write);
            written
                .map(|written| format!("{} {}", told(&written.metadata), written.created))
                .map_err(|error| kind(&error))
        }
        Step::Read {
            path: at,
            start,
            end,
        } => {
            let content = provider.read(&path(at), *start..*end);
            content
                .map(|content| format!("{} {:?}", told(&content.metadata), content.bytes))
                .map_err(|error| kind(&error))
        }
        Step::Stat(at) => {
            let found = provider.stat(&path(at));
            found
                .map(|found| told(&found))
                .map_err(|error| kind(&error))
        }
        Step::List { path: at, most } => {
            let found = names(provider, &path(at), *most);
            found
                .map(|names| names.join(" | "))
                .map_err(|error| kind(&error))
        }
        Step::Remove(at) => {
            let removed = provider.remove(&path(at));
            removed
                .map(|()| String::new())
                .map_err(|error| kind(&error))
        }
        Step::Rename { from, to } => {
            let moved = provider.rename(&path(from), &path(to));
            moved
                .map(|moved| told(&moved))
                .map_err(|error| kind(&error))
        }
    }
}

fn tell(metadata: &Metadata) -> String {
    format!(
        "{:?} {:?} {:?} {}",
        metadata.path.as_str(),
        metadata.kind,
        metadata.mime_type,
        metadata.size
    )
}

fn kind(error: &ProviderError) -> &'static str {
    match error {
        ProviderError::NotFound(_) => "not found",
        ProviderError::IsDirectory(_) => "is a directory",
        ProviderError::NotDirectory(_) => "not a directory",
        ProviderError::Exists(_) => "exists",
        ProviderError::Changed(_) => "changed",
        error => panic!("{error}"),
    }
}

/// Everything below a directory.
fn walk(provider: &dyn Provider, directory: &ZonePath, found: &mut Vec<String>) {
    let page = provider.list(directory, None, 1000);
    let page = page.unwrap_or_else(|error| panic!("{directory:?}: {error}"));
    for entry in page.entries {
        found.push(tell(&entry));
        if entry.is_directory() {
            walk(provider, &entry.path, found);
        } else {
            let content = provider.read(&entry.path, 0..u64::MAX);
            let content = content.unwrap_or_else(|error| panic!("{:?}: {error}", entry.path));
            found.push(format!("{:?}", content.bytes));
        }
    }
}

//! Conformance tests of providers, for authors of one.
//!
//! [`keeps_every_promise`] tries one after the other, each in a directory of its own;
//! [`loses_no_update`] lets many write at once, over as many providers of the same files as there
//! are; [`agrees_with_memory`] does the same [`Step`]s with a provider and with [`MemoryProvider`], and
//! compares every answer. All of them panic where a promise is broken.
//!
//! ```
//! use fileshed_files::{MemoryProvider, conformance};
//!
//! conformance::keeps_every_promise(&MemoryProvider::default());
//! ```

mod steps;
mod writers;

use std::io;

pub use steps::{Step, When, agrees_with_memory, steps};
pub use writers::loses_no_update;

use crate::{
    EntryType, Metadata, Named, Precondition, Provider, ProviderError, Version, Write, Written,
    ZonePath,
};

type Outcome = Result<(), ProviderError>;
type Promise = fn(&Directory) -> Outcome;

/// Every promise with what it is about. The names are for messages.
const PROMISES: &[(&str, Promise)] = &[
    ("what was written is read", what_was_written_is_read),
    (
        "a range is what the file has of it",
        a_range_is_what_the_file_has_of_it,
    ),
    ("metadata is kept", metadata_is_kept),
    (
        "directories come with their files",
        directories_come_with_their_files,
    ),
    ("a file is no directory", a_file_is_no_directory),
    ("conditions hold", conditions_hold),
    (
        "a version is never used again",
        a_version_is_never_used_again,
    ),
    ("a list comes in pages, by names", a_list_comes_in_pages),
    ("names are kept as they are", names_are_kept_as_they_are),
    ("a directory goes as a whole", a_directory_goes_as_a_whole),
    ("renames keep everything", renames_keep_everything),
    ("a rename replaces nothing", a_rename_replaces_nothing),
    ("large files are files", large_files_are_files),
];

/// Tries every promise on a provider, whose files are changed by it.
///
/// # Panics
///
/// If the provider breaks a promise.
pub fn keeps_every_promise(provider: &dyn Provider) {
    for (at, (name, promise)) in PROMISES.iter().enumerate() {
        let directory = Directory {
            provider,
            root: path(&format!("promise-{at}")),
        };
        if let Err(error) = promise(&directory) {
            panic!("{name}: {error} ({error:?})");
        }
    }
}

/// Directory in which one promise is tested.
struct Directory<'p> {
    provider: &'p dyn Provider,
    root: ZonePath,
}

impl Directory<'_> {
    fn at(&self, below: &str) -> ZonePath {
        self.root.join(below)
    }

    fn write(&self, at: &str, content: &[u8]) -> Result<Written, ProviderError> {
        put(self.provider, &self.at(at), content, &Write::default())
    }

    fn write_if(
        &self,
        at: &str,
        content: &[u8],
        condition: Precondition,
    ) -> Result<Written, ProviderError> {
        let write = Write {
            condition,
            ..Write::default()
        };
        put(self.provider, &self.at(at), content, &write)
    }

    fn read(&self, at: &str) -> Result<Vec<u8>, ProviderError> {
        Ok(self.provider.read(&self.at(at), 0..u64::MAX)?.bytes)
    }

    fn stat(&self, at: &str) -> Result<Metadata, ProviderError> {
        self.provider.stat(&self.at(at))
    }

    /// The names in a directory, asked for `most` at a time.
    fn names(&self, at: &str, most: usize) -> Result<Vec<String>, ProviderError> {
        let directory = if at.is_empty() {
            self.root.clone()
        } else {
            self.at(at)
        };
        names(self.provider, &directory, most)
    }
}

/// The names in a directory, those of directories with `/` behind them.
fn names(
    provider: &dyn Provider,
    directory: &ZonePath,
    most: usize,
) -> Result<Vec<String>, ProviderError> {
    let mut names: Vec<String> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = provider.list(directory, after.as_deref(), most)?;
        assert!(
            page.entries.len() <= most,
            "a page has at most {most} entries"
        );
        let alone = provider.names(directory, after.as_deref(), most)?;
        assert_eq!(alone, page.clone().map(Named::from), "names are the list's");
        for entry in &page.entries {
            assert_eq!(entry.path.parent().as_ref(), Some(directory), "{entry:?}");
            let name = entry.path.name().unwrap_or_default();
            assert!(
                after.as_deref().is_none_or(|before| before < name),
                "{name} after {after:?}"
            );
            after = Some(name.to_owned());
            let end = if entry.is_directory() { "/" } else { "" };
            names.push(format!("{name}{end}"));
        }
        if !page.more {
            return Ok(names);
        }
        assert!(!page.entries.is_empty(), "who has more gives something");
    }
}

fn put(
    provider: &dyn Provider,
    path: &ZonePath,
    mut content: &[u8],
    write: &Write,
) -> Result<Written, ProviderError> {
    provider.write(path, &mut content, write)
}

fn path(text: &str) -> ZonePath {
    ZonePath::found(text.to_owned())
}

macro_rules! refused {
    ($result:expr, $refusal:pat) => {
        match $result {
            Err($refusal) => {}
            other => panic!(
                "{} was to be {}, and is {other:?}",
                stringify!($result),
                stringify!($refusal)
            ),
        }
    };
}

fn what_was_written_is_read(directory: &Directory) -> Outcome {
    let contents: [&[u8]; 4] = [b"", b"text\n", b"\0\xff\xfe binary", "Grüße\r\n".as_bytes()];
    for (at, content) in contents.iter().enumerate() {
        let name = format!("file-{at}");
        let first = directory.write(&name, b"before")?;
        assert!(first.created);
        let second = directory.write(&name, content)?;
        assert!(!second.created);
        assert_eq!(second.metadata.size, content.len() as u64);
        assert_eq!(directory.read(&name)?, *content);
        assert_eq!(directory.stat(&name)?, second.metadata);
    }
    refused!(directory.read("nothing"), ProviderError::NotFound(_));
    refused!(directory.stat("nothing"), ProviderError::NotFound(_));
    refused!(
        directory.provider.remove(&directory.at("nothing")),
        ProviderError::NotFound(_)
    );
    Ok(())
}

fn a_range_is_what_the_file_has_of_it(directory: &Directory) -> Outcome {
    directory.write("file", b"0123456789")?;
    for (range, bytes) in [
        (0..4, "0123"),
        (4..7, "456"),
        (7..100, "789"),
        (9..u64::MAX, "9"),
        (10..12, ""),
        (50..60, ""),
        (3..3, ""),
        (0..0, ""),
    ] {
        let content = directory
            .provider
            .read(&directory.at("file"), range.clone())?;
        assert_eq!(content.bytes, bytes.as_bytes(), "{range:?}");
        assert_eq!(content.metadata.size, 10);
    }
    Ok(())
}

fn metadata_is_kept(directory: &Directory) -> Outcome {
    let typed = Write {
        mime_type: Some("text/x-notes".to_owned()),
        ..Write::default()
    };
    let at = directory.at("notes");
    let made = put(directory.provider, &at, b"1", &typed)?.metadata;
    assert_eq!(
        (made.kind, made.mime_type.as_deref()),
        (EntryType::File, Some("text/x-notes"))
    );
    let written = directory.write("notes", b"22")?.metadata;
    assert_eq!(written.mime_type.as_deref(), Some("text/x-notes"));
    assert_eq!((written.created_at, written.size), (made.created_at, 2));
    assert!(written.updated_at >= made.updated_at);
    let other = Write {
        mime_type: Some("text/plain".to_owned()),
        ..Write::default()
    };
    put(directory.provider, &at, b"333", &other)?;
    let found = directory.stat("notes")?;
    assert_eq!(found.mime_type.as_deref(), Some("text/plain"));
    assert_eq!(directory.provider.read(&at, 0..1)?.metadata, found);
    assert_eq!(
        directory.provider.list(&directory.root, None, 10)?.entries,
        [found]
    );
    Ok(())
}

fn directories_come_with_their_files(directory: &Directory) -> Outcome {
    directory.write("one/two/three/file", b"x")?;
    for above in ["one", "one/two", "one/two/three"] {
        let found = directory.stat(above)?;
        assert_eq!(
            (found.kind, found.size),
            (EntryType::Directory, 0),
            "{above}"
        );
    }
    assert_eq!(directory.names("one", 10)?, ["two/"]);
    assert_eq!(directory.names("one/two/three", 10)?, ["file"]);
    assert!(directory.provider.stat(&ZonePath::root())?.is_directory());
    refused!(directory.names("one/none", 10), ProviderError::NotFound(_));
    Ok(())
}

fn a_file_is_no_directory(directory: &Directory) -> Outcome {
    directory.write("file", b"x")?;
    directory.write("directory/file", b"x")?;
    refused!(
        directory.write("file/below", b"x"),
        ProviderError::NotDirectory(_)
    );
    refused!(
        directory.write("file/far/below", b"x"),
        ProviderError::NotDirectory(_)
    );
    refused!(directory.read("file/below"), ProviderError::NotDirectory(_));
    refused!(directory.stat("file/below"), ProviderError::NotDirectory(_));
    refused!(directory.names("file", 10), ProviderError::NotDirectory(_));
    refused!(
        directory.write("directory", b"x"),
        ProviderError::IsDirectory(_)
    );
    refused!(directory.read("directory"), ProviderError::IsDirectory(_));
    let root = ZonePath::root();
    refused!(
        directory.provider.read(&root, 0..1),
        ProviderError::IsDirectory(_)
    );
    let write = Write::default();
    refused!(
        put(directory.provider, &root, b"x", &write),
        ProviderError::IsDirectory(_)
    );
    assert_eq!(directory.read("file")?, b"x");
    Ok(())
}

fn conditions_hold(directory: &Directory) -> Outcome {
    let version = |version: &Metadata| Precondition::Version(version.version.clone());
    let unknown = Precondition::Version(Version("never".to_owned()));
    refused!(
        directory.write_if("file", b"0", unknown.clone()),
        ProviderError::Changed(_)
    );
    refused!(directory.stat("file"), ProviderError::NotFound(_));
    let first = directory.write_if("file", b"1", Precondition::Absent)?;
    assert!(first.created);
    refused!(
        directory.write_if("file", b"2", Precondition::Absent),
        ProviderError::Exists(_)
    );
    refused!(
        directory.write_if("file", b"2", unknown),
        ProviderError::Changed(_)
    );
    let second = directory
        .write_if("file", b"3", version(&first.metadata))?
        .metadata;
    let stale = version(&first.metadata);
    refused!(
        directory.write_if("file", b"4", stale),
        ProviderError::Changed(_)
    );
    assert_eq!(directory.read("file")?, b"3");
    directory.provider.remove(&directory.at("file"))?;
    refused!(
        directory.write_if("file", b"5", version(&second)),
        ProviderError::Changed(_)
    );
    directory.write_if("file", b"6", Precondition::Absent)?;
    Ok(())
}

fn a_version_is_never_used_again(directory: &Directory) -> Outcome {
    let mut seen = Vec::new();
    for content in [b"a", b"b", b"a", b"a"] {
        let version = directory.write("file", content)?.metadata.version;
        assert!(!seen.contains(&version), "{version:?} was there already");
        assert_eq!(directory.stat("file")?.version, version);
        seen.push(version);
    }
    Ok(())
}

fn a_list_comes_in_pages(directory: &Directory) -> Outcome {
    // Characters that sort before `/` make keys and names sort differently.
    let files = [
        "a b", "a-b", "a.b", "a.b.c", "a0", "b", "b-", "ä", "Z", "a!", "b.d/x",
    ];
    for file in files.into_iter().chain(["a/x", "a/y", "b.c/x", "a.b-/x"]) {
        directory.write(file, b"x")?;
    }
    let sorted = [
        "Z", "a/", "a b", "a!", "a-b", "a.b", "a.b-/", "a.b.c", "a0", "b", "b-", "b.c/", "b.d/",
        "ä",
    ];
    for most in [1, 2, 3, 5, 14, 1000] {
        assert_eq!(directory.names("", most)?, sorted, "{most} at a time");
    }
    let behind = directory.provider.list(&directory.root, Some("a.b."), 2)?;
    let names: Vec<_> = behind
        .entries
        .iter()
        .filter_map(|entry| entry.path.name())
        .collect();
    assert_eq!((names, behind.more), (vec!["a.b.c", "a0"], true));
    assert_eq!(
        directory
            .provider
            .list(&directory.root, Some("ö"), 2)?
            .entries,
        []
    );
    Ok(())
}

fn names_are_kept_as_they_are(directory: &Directory) -> Outcome {
    let names = [
        "%41",
        "100%",
        "a b",
        "a+b",
        "a#b",
        "a&b=c",
        "it's",
        "日本語",
        "é.md",
        "[x]",
        "~",
        "a,b;c@d",
    ];
    for name in names {
        directory.write(&format!("{name}/{name}"), name.as_bytes())?;
        assert_eq!(directory.read(&format!("{name}/{name}"))?, name.as_bytes());
        assert_eq!(directory.names(name, 5)?, [name]);
    }
    let mut sorted: Vec<String> = names.iter().map(|name| format!("{name}/")).collect();
    sorted.sort();
    let mut listed = directory.names("", 4)?;
    listed.sort();
    assert_eq!(listed, sorted);
    Ok(())
}

fn a_directory_goes_as_a_whole(directory: &Directory) -> Outcome {
    for file in ["all/a", "all/b/c", "all/b/d/e", "alley", "all.txt"] {
        directory.write(file, file.as_bytes())?;
    }
    directory.provider.remove(&directory.at("all"))?;
    refused!(directory.stat("all"), ProviderError::NotFound(_));
    refused!(directory.read("all/b/c"), ProviderError::NotFound(_));
    assert_eq!(directory.names("", 10)?, ["all.txt", "alley"]);
    directory.write("all", b"a file now")?;
    directory.provider.remove(&directory.at("all"))?;
    directory.write("all/again", b"x")?;
    assert_eq!(directory.names("all", 10)?, ["again"]);
    Ok(())
}

fn renames_keep_everything(directory: &Directory) -> Outcome {
    let typed = Write {
        mime_type: Some("text/x-notes".to_owned()),
        ..Write::default()
    };
    let at = directory.at("from/deep/notes");
    let before = put(directory.provider, &at, b"content", &typed)?.metadata;
    directory.write("from/other", b"other")?;
    let rename = |from: &str, to: &str| {
        directory
            .provider
            .rename(&directory.at(from), &directory.at(to))
    };
    assert!(rename("from", "new/to")?.is_directory());
    refused!(directory.stat("from"), ProviderError::NotFound(_));
    assert_eq!(directory.read("new/to/deep/notes")?, b"content");
    assert_eq!(directory.read("new/to/other")?, b"other");
    let moved = rename("new/to/deep/notes", "notes.md")?;
    assert_eq!(moved.path, directory.at("notes.md"));
    assert_eq!(moved.mime_type, before.mime_type);
    assert_eq!((moved.created_at, moved.size), (before.created_at, 7));
    assert_eq!(directory.stat("notes.md")?, moved);
    assert_eq!(directory.read("notes.md")?, b"content");
    assert_eq!(
        directory.names("new/to", 10)?.last().map(String::as_str),
        Some("other")
    );
    Ok(())
}

fn a_rename_replaces_nothing(directory: &Directory) -> Outcome {
    directory.write("a", b"a")?;
    directory.write("b", b"b")?;
    directory.write("c/d", b"d")?;
    let rename = |from: &str, to: &str| {
        directory
            .provider
            .rename(&directory.at(from), &directory.at(to))
    };
    refused!(rename("a", "b"), ProviderError::Exists(_));
    refused!(rename("a", "c"), ProviderError::Exists(_));
    refused!(rename("c", "c/e"), ProviderError::Exists(_));
    refused!(rename("a", "b/e"), ProviderError::NotDirectory(_));
    refused!(rename("a", "a/e"), ProviderError::NotDirectory(_));
    refused!(rename("c", "c/d/e"), ProviderError::NotDirectory(_));
    refused!(rename("none", "e"), ProviderError::NotFound(_));
    assert_eq!(
        (directory.read("a")?, directory.read("b")?),
        (b"a".to_vec(), b"b".to_vec())
    );
    Ok(())
}

fn large_files_are_files(directory: &Directory) -> Outcome {
    const SIZE: u64 = 20 * 1024 * 1024 + 7;
    let whole: Vec<u8> = (0..SIZE).map(|at| (at % 251) as u8).collect();
    let made = directory.write("large", &whole)?;
    assert_eq!((made.created, made.metadata.size), (true, SIZE));
    assert_eq!(directory.stat("large")?, made.metadata);
    assert_eq!(
        directory.provider.list(&directory.root, None, 5)?.entries,
        [made.metadata]
    );
    assert!(directory.read("large")? == whole);
    let at = directory.at("large");
    let end = directory.provider.read(&at, SIZE - 3..SIZE + 3)?;
    assert_eq!(end.bytes, whole[whole.len() - 3..]);
    let middle = directory.provider.read(&at, 9_000_000..9_000_004)?;
    assert_eq!(middle.bytes, whole[9_000_000..9_000_004]);
    let moved = directory.provider.rename(&at, &directory.at("moved"))?;
    assert_eq!(moved.size, SIZE);
    assert!(directory.read("moved")? == whole);
    let shrunk = directory.write("moved", b"small")?;
    assert_eq!((shrunk.created, shrunk.metadata.size), (false, 5));
    assert_eq!(directory.read("moved")?, b"small");
    let mut broken = Broken(whole.as_slice());
    let failed = directory
        .provider
        .write(&directory.at("moved"), &mut broken, &Write::default());
    assert!(failed.is_err(), "{failed:?}");
    assert_eq!(directory.read("moved")?, b"small");
    directory.write("moved", &whole)?;
    directory.provider.remove(&directory.at("moved"))?;
    let gone = directory.stat("moved");
    assert!(matches!(gone, Err(ProviderError::NotFound(_))), "{gone:?}");
    Ok(())
}

/// Fails where it should end.
struct Broken<'c>(&'c [u8]);

impl io::Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match io::Read::read(&mut self.0, buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::other("the sender is gone")),
            count => Ok(count),
        }
    }
}

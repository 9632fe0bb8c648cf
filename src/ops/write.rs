//! How operations write one file: read, edit, stage, guard, install, commit.

use std::io::{Read, Seek, SeekFrom, Write};

use fileshed_core::guard::{Change, ChangeRequest, Writer, expect_plain};
use fileshed_core::settings::WriteMode;
use fileshed_core::storage::{DiskError, Entry, Staged, Target};
use fileshed_core::text::Encoding;
use fileshed_core::{Error, Zone, ZoneName, ZonePath, sharing};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::arguments::is_true;

/// `position: "overwrite"` is `overwrite: true`. With it the parameters of a place mean nothing,
/// whatever they hold.
pub(super) fn drop_what_overwrite_ignores(arguments: &mut Map<String, Value>) {
    let position = arguments.get("position").and_then(Value::as_str);
    if position.is_some_and(|position| position.trim().eq_ignore_ascii_case("overwrite")) {
        arguments.insert("overwrite".to_owned(), true.into());
    }
    if arguments.get("overwrite").is_some_and(is_true) {
        for name in [
            "position",
            "line",
            "end_line",
            "pattern",
            "regex_flags",
            "match_all",
            "offset",
            "length",
        ] {
            arguments.remove(name);
        }
    }
}

/// Outside groups there are no modes: the parameter means nothing there, whatever it holds.
pub(super) fn drop_mode_outside_groups(arguments: &mut Map<String, Value>) {
    let zone = arguments.get("zone").and_then(Value::as_str);
    let in_group = zone.is_some_and(|zone| ZoneName::parse(zone).ok() == Some(ZoneName::Group));
    let mode = arguments.get("mode").and_then(Value::as_str);
    if mode.is_some_and(|mode| !in_group || mode.trim().is_empty()) {
        arguments.remove("mode");
    }
}

/// Bytes of a file that show its line ends.
const BEGINNING: u64 = 64 * 1024;

/// One file to write.
pub(crate) struct FileWrite<'a> {
    /// The zone that holds it.
    pub(crate) zone: &'a Zone<'a>,
    /// The name for history and logs.
    pub(crate) operation: &'static str,
    /// Its path in the zone.
    pub(crate) path: &'a str,
    /// The caller's commit message.
    pub(crate) message: Option<&'a str>,
}

/// What an addition to a file has to know of it.
pub(super) struct Existing {
    /// Its first bytes, which show its line ends.
    pub(super) beginning: Vec<u8>,
    /// Whether there is nothing more.
    pub(super) is_whole: bool,
    /// Whether its last line has no line end.
    pub(super) ends_within_line: bool,
    /// How its bytes stand for characters.
    pub(super) encoding: Encoding,
}

impl Existing {
    /// A file that is not there.
    fn nothing() -> Self {
        Self {
            beginning: Vec::new(),
            is_whole: true,
            ends_within_line: false,
            encoding: Encoding::Utf8,
        }
    }

    /// Reads what is needed of a file, and leaves it at its beginning. Where its first bytes show
    /// no encoding, the rest is looked through for some that do, if the addition needs one.
    fn of(file: &mut std::fs::File, needs_encoding: bool) -> std::io::Result<Self> {
        let mut beginning = Vec::new();
        Read::by_ref(file)
            .take(BEGINNING)
            .read_to_end(&mut beginning)?;
        let mut last = beginning.last().copied();
        let mut encoding = Encoding::of(&beginning, (beginning.len() as u64) < BEGINNING);
        if needs_encoding && encoding == Encoding::Ascii {
            let mut piece = vec![0; BEGINNING as usize];
            loop {
                let count = file.read(&mut piece)?;
                let Some(at) = piece[..count].iter().position(|byte| !byte.is_ascii()) else {
                    if count == 0 {
                        break;
                    }
                    continue;
                };
                let mut sample = piece[at..count].to_vec();
                Read::by_ref(file)
                    .take(BEGINNING)
                    .read_to_end(&mut sample)?;
                encoding = Encoding::of(&sample, false);
                break;
            }
        }
        let size = file.seek(SeekFrom::End(0))?;
        if size > BEGINNING {
            let mut byte = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
            last = Some(byte[0]);
        }
        file.rewind()?;
        Ok(Self {
            beginning,
            is_whole: size <= BEGINNING,
            ends_within_line: last.is_some_and(|byte| byte != b'\n'),
            encoding,
        })
    }
}

/// What was written.
pub(crate) struct Written {
    pub(super) path: String,
    pub(crate) size: u64,
    pub(super) created: bool,
    /// The mode that it has now, in a group.
    pub(super) mode: Option<&'static str>,
    /// Whether another one was asked for.
    keeps_mode: bool,
}

/// What was written: the answer of every operation that writes one file.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Path of the file inside its zone.
    pub(super) path: String,
    /// Zone of the file.
    pub(super) zone: &'static str,
    /// Where the content went: a value of the parameter `position`, or `overwrite`.
    pub(super) position: &'static str,
    /// Lines that are new or gone; for text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lines_affected: Option<u64>,
    /// Bytes that the content stands for; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_written: Option<u64>,
    /// Bytes of the file that are new or gone; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes_affected: Option<u64>,
    /// Whether there was no such file before.
    pub(super) created: bool,
    /// Bytes that the file has now.
    pub(super) file_size: u64,
    /// What `safe` was, which has no effect; true where there is no such parameter.
    pub(super) safe_mode: bool,
    /// Places that the pattern matched; for text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pattern_matches: Option<u64>,
    /// A few lines around the change, numbered: `7:` is new, `8-` stands beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lines: Option<String>,
    /// Encoding of the content: hex, base64 or raw; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_format: Option<&'static str>,
    /// Offset that was asked for; for bytes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<i64>,
    /// Name of the group, where the zone is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    /// Who may change the file now, in a group: group, owner or `owner_ro`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<&'static str>,
}

impl Written {
    /// The answer, without what only some operations tell.
    pub(super) fn response(self, zone: &Zone<'_>, position: &'static str, safe: bool) -> Response {
        Response {
            path: self.path,
            zone: zone.name().as_str(),
            position,
            created: self.created,
            file_size: self.size,
            safe_mode: safe,
            group: zone.group().map(|group| group.name.clone()),
            mode: self.mode,
            ..Response::default()
        }
    }

    pub(super) fn sentence(&self) -> String {
        let verb = if self.created { "Created" } else { "Wrote" };
        format!("{verb} {} ({} bytes)", self.path, self.size)
    }

    /// What did not go as it was asked.
    pub(super) fn note(&self) -> Option<String> {
        let mode = self.mode.filter(|_| self.keeps_mode)?;
        Some(format!("it is another member's and keeps mode {mode}"))
    }
}

impl FileWrite<'_> {
    /// Gives the file this content, whatever it had.
    pub(crate) fn overwrite(&self, content: &[u8]) -> Result<Written, Error> {
        let path = self.zone.path_to_change("path", self.path)?;
        self.zone.expect_writable()?;
        self.expect_plain(self.zone.target("path", &path)?.entry())?;
        // On disk before the write lock is taken: nobody has to wait for it.
        let mut staged = self.zone.stage(content)?;
        staged
            .flush()
            .map_err(|error| self.zone.explain_disk(error))?;
        let writer = self.zone.writer(self.operation)?;
        let target = self.zone.target("path", &path)?;
        // Whether what is there now is encrypted is asked once more before it is replaced.
        self.install(writer, target, staged)
    }

    /// Fails where a file is encrypted.
    fn expect_plain(&self, entry: Option<&Entry>) -> Result<(), Error> {
        entry
            .map_or(Ok(()), expect_plain)
            .map_err(|error| self.zone.explain(error))
    }

    /// Gives the file what `edit` makes of its content; a missing file is empty, or an error
    /// where `must_exist`. Nobody else writes in between.
    pub(crate) fn edit(
        &self,
        must_exist: bool,
        edit: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
    ) -> Result<Written, Error> {
        let path = self.zone.path_to_change("path", self.path)?;
        let writer = self.zone.writer(self.operation)?;
        if must_exist {
            self.zone.entry(&path)?;
        }
        let target = self.zone.target("path", &path)?;
        self.expect_plain(target.entry())?;
        let old = match target.entry() {
            Some(entry) => entry.content()?,
            None => Vec::new(),
        };
        let new = edit(&old).map_err(|error| self.zone.explain(error))?;
        drop(old);
        let staged = self.zone.stage(&new)?;
        self.install(writer, target, staged)
    }

    /// Adds to the end of the file, or makes it. `addition` gets what a file has that is there
    /// already. The rest of a large file is copied by the kernel and never read.
    pub(super) fn append(
        &self,
        needs_encoding: bool,
        addition: impl FnOnce(&Existing) -> Result<Vec<u8>, Error>,
    ) -> Result<Written, Error> {
        let path = self.zone.path_to_change("path", self.path)?;
        let writer = self.zone.writer(self.operation)?;
        let target = self.zone.target("path", &path)?;
        let Some(entry) = target.entry() else {
            let staged = self.zone.stage(&addition(&Existing::nothing())?)?;
            return self.install(writer, target, staged);
        };
        self.expect_plain(Some(entry))?;
        let mut file = entry.open()?;
        let existing = Existing::of(&mut file, needs_encoding)
            .map_err(|error| DiskError::of("read", entry.path(), error))?;
        let added = addition(&existing).map_err(|error| self.zone.explain(error))?;
        if let Some(file) = writer.appendable(entry, &added)? {
            let (at, size) = (target.path(), entry.size() + added.len() as u64);
            let permit = writer.guard(ChangeRequest::write(&target, size))?;
            return self.finish(permit.append(file, at)?, at, size, false);
        }
        let mut staged = writer.staging().copy(file)?;
        staged
            .file()
            .write_all(&added)
            .map_err(|error| DiskError::of("write", entry.path(), error))?;
        self.install(writer, target, staged)
    }

    /// Gives the file what `convert` writes while it reads, unless it says that nothing differs.
    /// A file of any size takes the memory of a piece.
    pub(super) fn convert<T>(
        &self,
        convert: impl FnOnce(&mut std::fs::File, &mut std::fs::File) -> Result<(T, bool), Error>,
    ) -> Result<(String, T), Error> {
        let path = self.zone.path_to_change("path", self.path)?;
        let writer = self.zone.writer(self.operation)?;
        let entry = self.zone.entry(&path)?;
        self.expect_plain(Some(&entry))?;
        let mut source = entry
            .open()
            .map_err(|error| self.zone.explain_disk(error))?;
        let mut staged = writer.staging().create()?;
        let (outcome, differs) = convert(&mut source, staged.file())
            .map_err(|error| self.zone.explain(error.with_detail("path", path.as_str())))?;
        drop(source);
        if differs {
            self.install(writer, Target::Entry(entry), staged)?;
        }
        Ok((path.as_str().to_owned(), outcome))
    }

    fn install(
        &self,
        writer: Writer<'_>,
        target: Target,
        staged: Staged,
    ) -> Result<Written, Error> {
        let size = staged.size()?;
        let request = ChangeRequest::write(&target, size);
        let (at, created) = (target.path().clone(), target.entry().is_none());
        let change = writer.guard(request)?.install(staged, target)?;
        self.finish(change, &at, size, created)
    }

    fn finish(
        &self,
        change: Change<'_>,
        at: &ZonePath,
        size: u64,
        created: bool,
    ) -> Result<Written, Error> {
        let path = at.as_str().to_owned();
        let verb = if created { "Create" } else { "Update" };
        change.commit(self.message, &format!("{verb} {path}"))?;
        let mode = sharing::mode_of(self.zone, at)?;
        let asked = self.zone.asked_mode();
        Ok(Written {
            path,
            size,
            created,
            mode: mode.map(WriteMode::as_str),
            keeps_mode: asked.is_some() && asked != mode,
        })
    }
}

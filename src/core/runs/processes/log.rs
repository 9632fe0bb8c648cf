//! Log file of the output of a background process: one JSON object a line.
//!
//! The first line names the command, the last its end, each between them is an entry of output:
//! `{"type":"stdout","data":"…","ts":…}`. A line is in the file before a client sees it. If the file
//! would become too large, its older half goes; entries keep their numbers.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use fileshed_storage::{DiskError, LogFile, Root};
use fileshed_types::Error;

/// Entries from one mark to the next.
const MARK_EVERY: u64 = 16;

/// Bytes that are read of a log at once.
const PIECE_BYTES: u64 = 256 * 1024;

/// Longest last line: its values are short.
const END_BYTES: u64 = 256;

/// One of the two streams that a process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error, and what the server says of the process.
    Stderr,
}

/// Output that was written at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputEntry {
    /// The stream.
    pub r#type: OutputStream,
    /// As text; what is no UTF-8 is replaced.
    pub data: String,
}

/// Range of entries to read.
#[derive(Clone, Copy, Debug)]
pub struct OutputSpan {
    /// Entries that are passed over.
    pub offset: u64,
    /// Only so many of the last ones.
    pub tail: Option<u64>,
    /// Bytes of text together.
    pub most_bytes: u64,
}

/// Entries of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// In the order in which they were written.
    pub entries: Vec<OutputEntry>,
    /// The offset of what follows.
    pub next_offset: u64,
    /// `true` if some of the entries that were asked for are missing.
    pub truncated: bool,
}

/// State of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessStatus {
    /// It runs.
    #[default]
    Running,
    /// It ended by itself.
    Done,
    /// It was ended.
    Killed,
}

/// A line of a log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum LogLine {
    /// The first one.
    Start(StartLine),
    /// Output.
    Stdout { data: String, ts: f64 },
    /// Output, or words of the server.
    Stderr { data: String, ts: f64 },
    /// Entries before this number are gone.
    LogRotated { offset: u64, ts: f64 },
    /// The last one.
    End {
        status: ProcessStatus,
        exit_code: Option<i32>,
        ts: f64,
    },
}

/// Command that was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StartLine {
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) chat: String,
    /// The process of the server that started it.
    pub(crate) server: String,
    pub(crate) ts: f64,
}

/// Position in the file at which an entry begins.
#[derive(Clone, Copy, Debug)]
struct Mark {
    entry: u64,
    position: u64,
}

/// The log of one process.
#[derive(Debug)]
pub(crate) struct ProcessLog {
    directory: Arc<Root>,
    name: String,
    /// Open while it grows.
    file: Option<LogFile>,
    pub(crate) bytes: u64,
    /// Bytes of the first line.
    head: u64,
    /// The number of the first entry that is still there.
    first: u64,
    /// Entries so far.
    pub(crate) entries: u64,
    marks: Vec<Mark>,
    most_bytes: u64,
    /// `true` if the disk did not accept all of it.
    lost: bool,
}

/// The name of the log of a process.
pub(crate) fn file_name(id: &str) -> String {
    format!("{id}.jsonl")
}

impl ProcessLog {
    /// Begins a log that may have `most_bytes`; `None` if there is one of this name.
    pub(crate) fn begin(
        directory: Arc<Root>,
        id: &str,
        start: StartLine,
        most_bytes: u64,
    ) -> Result<Option<Self>, Error> {
        let name = file_name(id);
        let Some(mut file) = LogFile::create(&directory, &name)? else {
            return Ok(None);
        };
        let begun = file.append(&line(&LogLine::Start(start))?);
        if let Err(error) = begun {
            let _gone = directory.remove_file(&name);
            return Err(error.into());
        }
        let head = file.size();
        Ok(Some(Self::of(directory, name, file, (head, most_bytes))))
    }

    /// Opens a log whose process is gone, and says what was started. A last line that is not whole
    /// was shown to nobody and goes. `None` if the file is no log.
    pub(crate) fn reopen(
        directory: Arc<Root>,
        id: &str,
    ) -> Result<Option<(Self, StartLine)>, Error> {
        let name = file_name(id);
        let Some(mut file) = LogFile::open(&directory, &name)? else {
            return Ok(None);
        };
        let (mut first, mut entries, mut marks) = (0, 0, Vec::new());
        let (mut start, mut head, mut whole) = (None, 0, 0);
        let mut lines = LogLines::of(&file, 0);
        while let Some((position, text)) = lines.next()? {
            whole = position + text.len() as u64 + 1;
            match serde_json::from_slice(&text) {
                Ok(LogLine::Start(line)) if position == 0 => {
                    head = whole;
                    start = Some(line);
                }
                Ok(LogLine::LogRotated { offset, .. }) => (first, entries) = (offset, offset),
                Ok(LogLine::Stdout { .. } | LogLine::Stderr { .. }) => {
                    mark(&mut marks, entries, position);
                    entries += 1;
                }
                _ => {}
            }
        }
        let Some(start) = start else { return Ok(None) };
        if whole < file.size() {
            let torn = (whole, file.size());
            file.cut(&directory, &name, torn, &[])?;
        }
        let log = Self {
            first,
            entries,
            marks,
            ..Self::of(directory, name, file, (head, u64::MAX))
        };
        Ok(Some((log, start)))
    }

    /// A log whose first line has `head` bytes and that may have `most_bytes`.
    fn of(
        directory: Arc<Root>,
        name: String,
        file: LogFile,
        (head, most_bytes): (u64, u64),
    ) -> Self {
        Self {
            directory,
            name,
            bytes: file.size(),
            file: Some(file),
            head,
            first: 0,
            entries: 0,
            marks: Vec::new(),
            most_bytes,
            lost: false,
        }
    }

    /// Adds output of the process. If the disk is full, the output is lost, and readers are told.
    pub(crate) fn write(&mut self, stream: OutputStream, data: String, ts: f64) {
        let entry = match stream {
            OutputStream::Stdout => LogLine::Stdout { data, ts },
            OutputStream::Stderr => LogLine::Stderr { data, ts },
        };
        if let Err(error) = self.enter(&entry, ts) {
            if !self.lost {
                tracing::warn!(%error, "the log of a process could not be written");
            }
            self.lost = true;
        }
    }

    fn enter(&mut self, entry: &LogLine, ts: f64) -> Result<(), Error> {
        let text = line(entry)?;
        if self.bytes + text.len() as u64 > self.most_bytes {
            self.rotate(ts)?;
        }
        let position = self.bytes;
        self.append(&text)?;
        mark(&mut self.marks, self.entries, position);
        self.entries += 1;
        Ok(())
    }

    fn append(&mut self, text: &[u8]) -> Result<(), DiskError> {
        if let Some(file) = &mut self.file {
            file.append(text)?;
            self.bytes = file.size();
        }
        Ok(())
    }

    /// Forgets the older half.
    fn rotate(&mut self, ts: f64) -> Result<(), Error> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let half = self.bytes / 2;
        let kept = self.marks.iter().find(|mark| mark.position >= half);
        let kept = kept.copied().unwrap_or(Mark {
            entry: self.entries,
            position: self.bytes,
        });
        let note = line(&LogLine::LogRotated {
            offset: kept.entry,
            ts,
        })?;
        let gone = (self.head, kept.position);
        file.cut(&self.directory, &self.name, gone, &note)?;
        self.bytes = file.size();
        let begins = self.head + note.len() as u64;
        self.first = kept.entry;
        self.marks.retain(|mark| mark.entry >= kept.entry);
        for mark in &mut self.marks {
            mark.position = mark.position - kept.position + begins;
        }
        Ok(())
    }

    /// Adds the end of the process. It is the last entry.
    pub(crate) fn end(&mut self, status: ProcessStatus, exit_code: Option<i32>, ts: f64) {
        let end = line(&LogLine::End {
            status,
            exit_code,
            ts,
        });
        let written = end.and_then(|text| Ok(self.append(&text)?));
        if let Err(error) = written {
            tracing::warn!(%error, "the end of a process could not be written to its log");
        }
        self.file = None;
    }

    /// The entries of a span: the first ones, or with a tail the last ones, where they are too many.
    pub(crate) fn read(&self, span: OutputSpan) -> Result<Output, Error> {
        let mut from = span.offset.max(self.first).min(self.entries);
        let mut truncated = span.offset < self.first || self.lost;
        if let Some(tail) = span.tail {
            let last = self.entries.saturating_sub(tail);
            truncated |= from < last;
            from = from.max(last);
        }
        let at = self.marks.partition_point(|mark| mark.entry <= from);
        let mark = at.checked_sub(1).and_then(|at| self.marks.get(at));
        let mut number = mark.map_or(self.first, |mark| mark.entry);
        let reopened = match &self.file {
            Some(_) => None,
            None => LogFile::open(&self.directory, &self.name)?,
        };
        let Some(file) = self.file.as_ref().or(reopened.as_ref()) else {
            return Ok(Output {
                entries: Vec::new(),
                next_offset: self.entries,
                truncated: true,
            });
        };
        let mut lines = LogLines::of(file, mark.map_or(self.head, |mark| mark.position));
        let (mut entries, mut bytes) = (VecDeque::new(), 0);
        while number < self.entries
            && let Some((_, text)) = lines.next()?
        {
            let (r#type, data) = match serde_json::from_slice(&text) {
                Ok(LogLine::Stdout { data, .. }) => (OutputStream::Stdout, data),
                Ok(LogLine::Stderr { data, .. }) => (OutputStream::Stderr, data),
                _ => continue,
            };
            if number >= from {
                let more = data.len() as u64;
                if span.tail.is_none() && !entries.is_empty() && bytes + more > span.most_bytes {
                    truncated = true;
                    break;
                }
                bytes += more;
                entries.push_back(OutputEntry { r#type, data });
                while span.tail.is_some() && bytes > span.most_bytes && entries.len() > 1 {
                    let gone = entries.pop_front();
                    bytes -= gone.map_or(0, |entry| entry.data.len() as u64);
                    truncated = true;
                }
            }
            number += 1;
        }
        Ok(Output {
            entries: entries.into(),
            next_offset: number,
            truncated,
        })
    }
}

/// Returns `true` if the log in this file has the line about the end of its process.
pub(crate) fn has_end(file: &LogFile) -> Result<bool, DiskError> {
    let from = file.size().saturating_sub(END_BYTES);
    let bytes = file.read(from, END_BYTES)?;
    let Some(text) = bytes.strip_suffix(b"\n") else {
        return Ok(false);
    };
    let last = text.rsplit(|byte| *byte == b'\n').next();
    let last = last.and_then(|last| serde_json::from_slice(last).ok());
    Ok(matches!(last, Some(LogLine::End { .. })))
}

/// Returns the name of the server process that began the log in this file.
pub(crate) fn server_of(file: &LogFile) -> Result<Option<String>, DiskError> {
    let first = LogLines::of(file, 0).next()?;
    Ok(
        first.and_then(|(_, text)| match serde_json::from_slice(&text) {
            Ok(LogLine::Start(start)) => Some(start.server),
            _ => None,
        }),
    )
}

fn mark(marks: &mut Vec<Mark>, entry: u64, position: u64) {
    if entry.is_multiple_of(MARK_EVERY) {
        marks.push(Mark { entry, position });
    }
}

fn line(line: &LogLine) -> Result<Vec<u8>, Error> {
    let mut text =
        serde_json::to_vec(line).map_err(|error| DiskError::server(std::io::Error::from(error)))?;
    text.push(b'\n');
    Ok(text)
}

/// The whole lines of a file, from a position on, without their ends.
struct LogLines<'a> {
    file: &'a LogFile,
    /// Position of `buffer` in the file.
    position: u64,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were returned.
    given: usize,
}

impl<'a> LogLines<'a> {
    fn of(file: &'a LogFile, position: u64) -> Self {
        Self {
            file,
            position,
            buffer: Vec::new(),
            given: 0,
        }
    }

    /// The next line and where it begins.
    fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, DiskError> {
        loop {
            let rest = self.buffer.get(self.given..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let text = rest.get(..end).unwrap_or_default().to_vec();
                let position = self.position + self.given as u64;
                self.given += end + 1;
                return Ok(Some((position, text)));
            }
            self.buffer.drain(..self.given);
            self.position += self.given as u64;
            self.given = 0;
            let next = self.position + self.buffer.len() as u64;
            let piece = self.file.read(next, PIECE_BYTES)?;
            if piece.is_empty() {
                return Ok(None);
            }
            self.buffer.extend(piece);
        }
    }
}

#[cfg(test)]
mod tests;

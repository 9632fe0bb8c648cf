//! The parts of the archive that a document is.

use std::io::{BufReader, Read, Seek};

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::Unreadable;

/// Bytes that may come out of one part.
const PART: u64 = 64 << 20;

/// A document as its archive.
pub(crate) struct Parts<R>(ZipArchive<R>);

impl<R: Read + Seek> Parts<R> {
    pub(crate) fn open(document: R) -> Result<Self, Unreadable> {
        Ok(Self(ZipArchive::new(document)?))
    }

    /// The parts called `before`, a number, `.xml`: by that number.
    pub(crate) fn numbered(&self, before: &str) -> Vec<(u32, String)> {
        let mut found: Vec<(u32, String)> = self
            .0
            .file_names()
            .filter_map(|name| {
                let name = name.ok()?;
                let number = name.strip_prefix(before)?.strip_suffix(".xml")?;
                Some((number.parse().ok()?, name.clone().into_owned()))
            })
            .collect();
        found.sort();
        found
    }

    /// Reads the events of a part, as long as `visit` wants more. Returns `true` if there is such a part.
    pub(crate) fn read(
        &mut self,
        part: &str,
        mut visit: impl FnMut(Event<'_>) -> bool,
    ) -> Result<bool, Unreadable> {
        let content = match self.0.by_name(part) {
            Ok(content) => content,
            Err(ZipError::FileNotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let mut reader = Reader::from_reader(BufReader::new(content.take(PART)));
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer) {
                Ok(Event::Eof) => return Ok(true),
                Ok(event) => {
                    if !visit(event) {
                        return Ok(true);
                    }
                }
                Err(error) => {
                    return Err(Unreadable::Part {
                        part: part.to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
        }
    }

    /// Where the relations of a part lead to.
    pub(crate) fn targets(&mut self, relations: &str) -> Result<Vec<String>, Unreadable> {
        let mut targets = Vec::new();
        self.read(relations, |event| {
            if let Event::Start(element) | Event::Empty(element) = event
                && let Ok(Some(target)) = element.try_get_attribute("Target")
            {
                targets.push(target.value.into_owned());
            }
            true
        })?;
        Ok(targets)
    }
}

//! The parts of the archive that a document is.

use std::io::{BufRead as _, BufReader, Read, Seek};

use fileshed_text::Encoding;
use percent_encoding::percent_decode_str;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::Unreadable;
use crate::xml::{attribute, local_name};

/// Bytes that may come out of one part: more is refused.
const PART: u64 = 64 << 20;

/// A document as its archive.
pub(crate) struct Parts<R>(ZipArchive<R>);

/// A relation of a part to another one (Open Packaging Conventions).
pub(crate) struct Relation {
    pub(crate) id: String,
    /// The last segment of its type, such as `footnotes`.
    pub(crate) kind: String,
    /// The name of the other part.
    pub(crate) part: String,
}

impl<R: Read + Seek> Parts<R> {
    pub(crate) fn open(document: R) -> Result<Self, Unreadable> {
        Ok(Self(ZipArchive::new(document)?))
    }

    /// Reads the events of a part, as long as `visit` wants more. Returns `true` if there is such a part.
    pub(crate) fn read(
        &mut self,
        part: &str,
        visit: impl FnMut(Event<'_>) -> bool,
    ) -> Result<bool, Unreadable> {
        self.events(part, false, visit)
    }

    /// Does the same with a part that may be a page of the web, whose elements need not be closed.
    pub(crate) fn events(
        &mut self,
        part: &str,
        is_page: bool,
        visit: impl FnMut(Event<'_>) -> bool,
    ) -> Result<bool, Unreadable> {
        let content = match self.0.by_name(part) {
            Ok(content) => content,
            Err(ZipError::FileNotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let broken = |reason: String| Unreadable::Part {
            part: part.to_owned(),
            reason,
        };
        let mut content = BufReader::new(content.take(PART + 1));
        let beginning = content.fill_buf();
        let beginning = beginning.map_err(|error| broken(error.to_string()))?;
        let visited = if let Some(label) = foreign_encoding(beginning) {
            let mut bytes = Vec::new();
            let read = content.read_to_end(&mut bytes);
            read.map_err(|error| broken(error.to_string()))?;
            let text = Encoding::Guessed(label).decode(&bytes);
            let text = text.trim_start_matches('\u{feff}').as_bytes();
            visit_events(Reader::from_reader(text), is_page, visit)
        } else {
            visit_events(Reader::from_reader(&mut content), is_page, visit)
        };
        if content.get_ref().limit() == 0 {
            return Err(broken(format!("it has more than {} MB", PART >> 20)));
        }
        visited.map_err(|error| broken(error.to_string()))?;
        Ok(true)
    }

    /// The relations of a part to others in the archive; those of the package for an empty name.
    pub(crate) fn relations(&mut self, part: &str) -> Result<Vec<Relation>, Unreadable> {
        let (directory, name) = part.rsplit_once('/').unwrap_or(("", part));
        let file = format!("{directory}/_rels/{name}.rels");
        let mut relations = Vec::new();
        self.read(file.trim_start_matches('/'), |event| {
            if let Event::Start(element) | Event::Empty(element) = event
                && let Some(target) = attribute(&element, "Target")
                && attribute(&element, "TargetMode").is_none_or(|mode| mode != "External")
            {
                let kind = attribute(&element, "Type").unwrap_or_default();
                relations.push(Relation {
                    id: attribute(&element, "Id").unwrap_or_default(),
                    kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                    part: resolve(part, &target),
                });
            }
            true
        })?;
        Ok(relations)
    }

    /// The name of the main part; `usual` if the package does not say which it is.
    pub(crate) fn main(&mut self, usual: &str) -> Result<String, Unreadable> {
        let relations = self.relations("")?.into_iter();
        let mut main = relations.filter(|relation| relation.kind == "officeDocument");
        Ok(main.next().map_or(usual.to_owned(), |main| main.part))
    }
}

fn visit_events(
    mut reader: Reader<impl std::io::BufRead>,
    is_page: bool,
    mut visit: impl FnMut(Event<'_>) -> bool,
) -> Result<(), quick_xml::Error> {
    let config = reader.config_mut();
    config.check_end_names = !is_page;
    config.allow_unmatched_ends = is_page;
    config.allow_dangling_amp = is_page;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer)? {
            Event::Eof => return Ok(()),
            event => {
                if !visit(event) {
                    return Ok(());
                }
            }
        }
    }
}

/// The encoding of a part, if it is none that XML has without saying so.
fn foreign_encoding(beginning: &[u8]) -> Option<String> {
    match beginning {
        [0xff, 0xfe, ..] | [b'<', 0, ..] => return Some("utf-16le".to_owned()),
        [0xfe, 0xff, ..] | [0, b'<', ..] => return Some("utf-16be".to_owned()),
        _ => {}
    }
    let line = beginning.split(|byte| *byte == b'>').next()?;
    let line = str::from_utf8(line).ok()?;
    let (_, value) = line.split_once("<?xml")?.1.split_once("encoding")?;
    let label = value.trim_start_matches([' ', '=', '"', '\'']);
    let label = label.split(['"', '\'']).next()?.to_ascii_lowercase();
    (!matches!(label.as_str(), "utf-8" | "us-ascii" | "utf-16")).then_some(label)
}

/// The name of the part to which `target` leads from another one.
pub(crate) fn resolve(from: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let decoded = percent_decode_str(target).decode_utf8_lossy();
    let mut segments: Vec<&str> = match decoded.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    segments.pop();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

/// The values of an attribute of all elements of a name in a part.
pub(crate) fn values<R: Read + Seek>(
    parts: &mut Parts<R>,
    part: &str,
    element: &str,
    name: &str,
) -> Result<Option<Vec<String>>, Unreadable> {
    let mut values = Vec::new();
    let found = parts.read(part, |event| {
        if let Event::Start(found) | Event::Empty(found) = event
            && local_name(&found) == element
        {
            values.extend(attribute(&found, name));
        }
        true
    })?;
    Ok(found.then_some(values))
}

//! Documents, whose text somebody else takes out of them.

use std::fs::File;
use std::io::{self, Read, Seek as _};

use fileshed_types::Error;

/// The readers of documents that a search asks.
pub trait Documents: Sync {
    /// Returns `true` if a file of this name may be a document.
    fn may_be(&self, name: &str) -> bool;

    /// The text of a file that is a document, `None` if it is none; `path` is its path in answers. A
    /// failure is counted by the reader, which knows how many documents were not searched.
    fn text(&self, path: &str, size: u64, content: &mut dyn Read) -> Option<Result<String, Error>>;

    /// A sentence about documents that were not searched. `None` if there is none.
    fn note(&self) -> Option<String>;
}

/// No document is read.
impl Documents for () {
    fn may_be(&self, _name: &str) -> bool {
        false
    }

    fn text(&self, _: &str, _: u64, _: &mut dyn Read) -> Option<Result<String, Error>> {
        None
    }

    fn note(&self) -> Option<String> {
        None
    }
}

/// The text of an open file that is a document. `None` if it is none: then it is read from its
/// beginning.
pub(crate) fn text_of(
    documents: &dyn Documents,
    path: &str,
    file: &mut File,
) -> io::Result<Option<Result<String, Error>>> {
    let size = file.metadata()?.len();
    let text = documents.text(path, size, file);
    if text.is_none() {
        file.rewind()?;
    }
    Ok(text)
}

/// The page, slide or sheet of each line of a document that is asked for, the lines in their order, from
/// the last line like `--- Page 2 ---` before it.
pub fn sections<'t>(text: &'t str) -> impl FnMut(u64) -> Option<&'t str> {
    let (mut lines, mut passed, mut section) = (text.lines(), 0, None);
    move |line| {
        for text in lines.by_ref().take(line.saturating_sub(passed) as usize) {
            let heading = text.strip_prefix("--- ");
            section = heading.and_then(|it| it.strip_suffix(" ---")).or(section);
        }
        passed = line;
        section
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_the_section_that_began_last() {
        let mut section = sections("a\n--- Page 1 ---\nb\n--- x\n--- Page 2 ---\nc\n");
        for (line, expected) in [
            (1, None),
            (3, Some("Page 1")),
            (3, Some("Page 1")),
            (4, Some("Page 1")),
            (6, Some("Page 2")),
            (9, Some("Page 2")),
        ] {
            assert_eq!(section(line), expected, "{line}");
        }
    }
}

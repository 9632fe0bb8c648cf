//! Kinds of documents, and the module that reads each.

use std::io::{Read, Seek};

use crate::archive::archive;
use crate::collector::{Collector, Markup};
use crate::docx::docx;
use crate::epub::epub;
use crate::mail::mail;
use crate::parts::Parts;
use crate::pptx::pptx;
use crate::rtf::rtf;
use crate::{TextBuilder, Unreadable};

/// Ends of the names of documents whose bytes hold none of their text.
pub const PACKED: &[&str] = &[
    "pdf", "docx", "pptx", "odt", "odp", "epub", "xlsx", "xlsm", "xlsb", "xls", "ods",
];

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Text of Word.
    Docx,
    /// Slides of PowerPoint.
    Pptx,
    /// Text or slides of LibreOffice.
    OpenDocument,
    /// A book.
    Epub,
    /// Rich Text Format.
    Rtf,
    /// A mail.
    Mail,
    /// A ZIP archive, of which the text is its list.
    Zip,
}

/// Reads a document, as far as there is room in `text`.
pub fn extract(
    kind: DocumentKind,
    mut document: impl Read + Seek,
    text: &mut TextBuilder,
) -> Result<(), Unreadable> {
    match kind {
        DocumentKind::Zip => archive(document, text),
        DocumentKind::Docx => docx(&mut Parts::open(document)?, text),
        DocumentKind::Pptx => pptx(&mut Parts::open(document)?, text),
        DocumentKind::Epub => epub(&mut Parts::open(document)?, text),
        DocumentKind::OpenDocument => {
            let mut collector = Collector::new(text, Markup::LibreOffice);
            let mut parts = Parts::open(document)?;
            let found = parts.read("content.xml", |event| collector.take(event))?;
            collector.finish().write(text);
            found
                .then_some(())
                .ok_or(Unreadable::Missing("content.xml".to_owned()))
        }
        DocumentKind::Rtf | DocumentKind::Mail => {
            let mut bytes = Vec::new();
            document.read_to_end(&mut bytes).map_err(Unreadable::Read)?;
            match kind {
                DocumentKind::Rtf => rtf(&bytes, text),
                _ => mail(&bytes, text)?,
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;

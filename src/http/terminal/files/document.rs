//! The text of documents that are no text themselves.

use fileshed_core::extraction::document_text;
use fileshed_core::storage::Entry;
use fileshed_core::view::Resolved;
use fileshed_core::{Code, Error};

/// The text of a document; nothing of a file that is none, or of a kind that this server has no
/// program for.
pub(super) fn text(file: &Resolved<'_>, entry: &Entry) -> Result<Option<String>, Error> {
    match document_text(&file.zone, entry) {
        Ok(Some(document)) if document.truncated => Ok(Some(
            document.text + "\n[cut here: the document has more text]\n",
        )),
        Ok(document) => Ok(document.map(|document| document.text)),
        Err(error) if error.code() == Code::CommandNotFound => Ok(None),
        Err(error) => Err(file.explain(error)),
    }
}

//! The text of documents that are no text themselves.

use fileshed_core::Error;
use fileshed_core::extraction::document_text;
use fileshed_core::storage::Entry;
use fileshed_core::view::Resolved;

/// The text of a document; nothing of a file that is none.
pub(super) fn text(file: &Resolved<'_>, entry: &Entry) -> Result<Option<String>, Error> {
    match document_text(&file.zone, entry) {
        Ok(Some(document)) if document.truncated => Ok(Some(
            document.text + "\n[cut here: the document has more text]\n",
        )),
        Ok(document) => Ok(document.map(|document| document.text)),
        Err(error) => Err(file.explain(error)),
    }
}

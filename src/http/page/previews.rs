//! Files as people look at them: rows of tables, documents line by line, and what is in an archive.

use axum::extract::Query;
use fileshed_core::archive::Archive;
use fileshed_core::databases::{self, TablePart};
use fileshed_core::extraction::laid_out_text;
use fileshed_core::{CallerView, Error, diagnostics};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::call::Call;
use crate::http::files::FileQuery;

/// Rows of a file.
pub(super) struct TableQuery {
    file: FileQuery,
    rows: RowsQuery,
}

/// Which rows.
#[derive(Deserialize)]
struct RowsQuery {
    /// Of a workbook; the first unless given.
    sheet: Option<String>,
    /// The place of the first one.
    #[serde(default)]
    from: u64,
}

impl TableQuery {
    pub(super) fn of(call: &mut Call) -> Result<Self, Error> {
        let rows = Query::try_from_uri(&call.parts.uri);
        Ok(Self {
            rows: rows.map_err(|_| TableQueryError)?.0,
            file: FileQuery::of(call)?,
        })
    }
}

diagnostics! {
    /// A row that cannot be known.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("parameter `from` is not the position of a row")]
    pub(in crate::http) struct TableQueryError => {
        code: InvalidParameter,
        hint: "leave `from` out, or give the `next` of the previous answer",
        details: { "parameter": "from" },
    }
}

/// `GET /page/table`: rows of a CSV file or of a sheet of a workbook.
pub(super) fn table(view: CallerView<'_>, query: &TableQuery) -> Result<TablePart, Error> {
    let (zone, path) = query.file.place(view)?;
    let sheet = query.rows.sheet.as_deref();
    databases::look(&view.core.runs, &zone, &path, sheet, query.rows.from)
}

/// `GET /page/document`: the text of a document, and the lines that are headings, items of lists or rows
/// of tables.
pub(super) fn document(view: CallerView<'_>, query: &FileQuery) -> Result<Value, Error> {
    let (zone, path) = query.place(view)?;
    let read = laid_out_text(&view.core.runs, &zone, &zone.entry(&path)?)?;
    Ok(json!({"text": read.text, "truncated": read.truncated, "roles": read.roles}))
}

/// Entries of an archive that are listed.
const ENTRIES: usize = 10_000;

/// `GET /page/archive`: what a ZIP archive says it has.
pub(super) fn archive(view: CallerView<'_>, query: &FileQuery) -> Result<Value, Error> {
    let (zone, path) = query.place(view)?;
    let archive = Archive::open(&zone, &zone.entry(&path)?)?;
    let listing = archive.with_encoding(None)?.list(ENTRIES)?;
    let count = listing.files + listing.directories;
    Ok(json!({
        "files": listing.files,
        "size": listing.size,
        "truncated": listing.entries.len() as u64 != count,
        "entries": listing.entries,
    }))
}

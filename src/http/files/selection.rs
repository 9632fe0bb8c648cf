//! `GET /files/archive`: several entries of one directory as one ZIP archive.

use std::io::Write;
use std::sync::Arc;

use axum::response::Response;
use fileshed_core::archive::PackContent;
use fileshed_core::storage::Entry;
use fileshed_core::view::View;
use fileshed_core::{Error, Zone, ZonePath, diagnostics};

use super::{FileQuery, archive as archives};
use crate::http::call::Call;

/// `GET /files/archive`
pub(super) async fn archive(mut call: Call) -> Result<Response, Error> {
    let query = FileQuery::of(&mut call)?;
    let pairs = call.parts.uri.query().unwrap_or_default();
    let pairs = form_urlencoded::parse(pairs.as_bytes());
    let names = pairs.filter(|(parameter, _)| parameter == "name");
    let mut names: Vec<String> = names.map(|(_, name)| name.into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let looked = call.look(move |view| {
        if names.is_empty() {
            return Err(SelectionError.into());
        }
        let (_, directory) = query.place(view)?;
        let selection = Selection { query, names };
        // All of it is there before anything is sent.
        selection.with_entries(view, |_, _| Ok(()))?;
        let name = directory.name().unwrap_or("download").to_owned();
        Ok((name, selection))
    });
    let (name, selection) = looked.await?;
    let permit = call.transfer_permit().await?;
    let (store, caller) = (Arc::clone(&call.server.store), call.caller);
    let write_archive = move |writer: &mut dyn Write| {
        let view = View {
            store: &store,
            caller: &caller,
        };
        selection.with_entries(view, |zone, entries| {
            let contents: Vec<PackContent<'_>> = entries
                .iter()
                .map(|entry| PackContent::of(zone, entry))
                .collect();
            PackContent::stream(&contents, writer)?;
            Ok(())
        })
    };
    let write_archive = Box::new(write_archive);
    Ok(archives::answer(&call.parts, &name, write_archive, permit))
}

/// Names in one directory.
struct Selection {
    query: FileQuery,
    names: Vec<String>,
}

impl Selection {
    /// Resolves every name and hands the entries to `work`; blocks.
    fn with_entries(
        &self,
        view: View<'_>,
        work: impl FnOnce(&Zone<'_>, &[Entry]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (zone, directory) = self.query.place(view)?;
        let entry = |name: &String| {
            let path = if directory.is_root() {
                name.clone()
            } else {
                format!("{directory}/{name}")
            };
            let path: ZonePath = zone.path("name", &path)?;
            zone.entry(&path)
        };
        let entries: Vec<Entry> = self.names.iter().map(entry).collect::<Result<_, _>>()?;
        work(&zone, &entries)
    }
}

diagnostics! {
    /// Nothing that could be packed.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `name` is required")]
    struct SelectionError => {
        code: MissingParameter,
        hint: "name what to pack, once for each: ?zone=storage&path=notes&name=a.md&name=b.md",
        details: { "parameter": "name" },
    }
}

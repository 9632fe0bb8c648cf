//! `GET /files/archive`: several entries of one directory as one ZIP archive.

use std::io::Write;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::archive::PackContent;
use fileshed_core::storage::Entry;
use fileshed_core::{Caller, Error, Store, Zone, ZonePath, diagnostics};

use super::{FileQuery, archive, read_request, with_subject};
use crate::http::route::RouteError;
use crate::http::{Server, admission, envelope};

/// `GET /files/archive`
pub(super) async fn archive(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let (caller, query) = match read_request(&server, &parts).await {
        Ok(found) => found,
        Err(error) => return envelope::failure(error),
    };
    let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let names = pairs.filter(|(parameter, _)| parameter == "name");
    let mut names: Vec<String> = names.map(|(_, name)| name.into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let store = Arc::clone(&server.store);
    let author = caller.clone();
    let looked = tokio::task::spawn_blocking(move || {
        if names.is_empty() {
            return Err(SelectionError.into());
        }
        let (_, directory) = query.place(&store, &author)?;
        let selection = Selection { query, names };
        // All of it is there before anything is sent.
        selection.with_entries(&store, &author, |_, _| Ok(()))?;
        let name = directory.name().unwrap_or("download").to_owned();
        Ok::<_, Error>((name, selection))
    });
    let answered = async {
        let (name, selection) = looked.await.map_err(RouteError::from)??;
        let transfer_permit = admission::transfer_permit(&server.store, &caller, None).await?;
        let (store, author) = (Arc::clone(&server.store), caller.clone());
        let write_archive = move |writer: &mut dyn Write| {
            selection.with_entries(&store, &author, |zone, entries| {
                let contents: Vec<PackContent<'_>> = entries
                    .iter()
                    .map(|entry| PackContent::of(zone, entry).with_empty_directories(true))
                    .collect();
                PackContent::stream_together(&contents, writer)?;
                Ok(())
            })
        };
        Ok(archive::answer(
            &parts,
            &name,
            Box::new(write_archive),
            transfer_permit,
        ))
    };
    let result = answered.await;
    with_subject(&server.store, &caller, result)
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
        store: &Store,
        caller: &Caller,
        work: impl FnOnce(&Zone<'_>, &[Entry]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (zone, directory) = self.query.place(store, caller)?;
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

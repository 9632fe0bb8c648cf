//! `POST /files/archive`: files and directories of the tree as one ZIP archive.

use std::collections::HashSet;
use std::sync::Arc;

use axum::response::Response;
use fileshed_core::archive::PackContent;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::storage::Entry;
use fileshed_core::view::{Resolved, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error, diagnostics};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::http::call::Call;
use crate::http::{body, files};
use crate::ops;

/// What an archive of several things is called.
const SEVERAL: &str = "download";

/// Most paths of one archive.
const PATHS_MAX: usize = 1000;

/// What to pack.
#[derive(Deserialize, ToSchema)]
struct Paths {
    paths: Vec<String>,
}

/// Something to pack, and its name in the archive.
type ArchivePart = (String, String);

/// `POST /files/archive`
pub(super) async fn archive(mut call: Call) -> Result<Response, Error> {
    let mut permit = call.admit().await?;
    let text = call.read_body(MEBIBYTE, &mut permit).await?;
    let packed = call.run(permit, move |view, _| {
        let given = body::parse(&text, |name| name == "paths")?;
        let request: Paths = ops::request(given)?;
        contents(view, &request.paths)
    });
    let (packed, permit) = packed.await?;
    let (name, contents) = packed?;
    drop(permit);
    let permit = call.transfer_permit().await?;
    let (core, caller) = (Arc::clone(&call.server.core), call.caller);
    let write_archive = move |writer: &mut dyn std::io::Write| {
        write(CallerView::of(&core, &caller), &contents, writer)
    };
    let write_archive = Box::new(write_archive);
    Ok(files::archive::answer(
        &call.parts,
        &name,
        write_archive,
        permit,
    ))
}

/// The name of the archive, and what goes into it under which names. Everything is there.
fn contents(view: CallerView<'_>, paths: &[String]) -> Result<(String, Vec<ArchivePart>), Error> {
    if paths.is_empty() {
        return Err(ArchivePathsError::None.into());
    }
    if paths.len() > PATHS_MAX {
        return Err(ArchivePathsError::Many.into());
    }
    let mut names = HashSet::new();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut called = None;
    for text in paths {
        let path = view.path("paths", text)?;
        if !seen.insert(path.clone()) {
            continue;
        }
        called = path.name().map(str::to_owned);
        for path in places(view, &path)? {
            view.resolve_path("paths", path.clone())?.entry()?;
            // Those of one name are told apart by where they are.
            let whole = path.as_str().trim_start_matches('/').to_owned();
            let name = path.name().map_or_else(|| whole.clone(), str::to_owned);
            let name = if names.insert(name.clone()) {
                name
            } else {
                whole
            };
            found.push((path.as_str().to_owned(), name));
        }
    }
    let name = called.filter(|_| seen.len() == 1);
    Ok((name.unwrap_or_else(|| SEVERAL.to_owned()), found))
}

/// What a path stands for: the zones below it, or itself.
fn places(view: CallerView<'_>, path: &ViewPath) -> Result<Vec<ViewPath>, Error> {
    let groups = |groups: &ViewPath| -> Result<Vec<ViewPath>, Error> {
        let names = view.groups()?;
        Ok(names.iter().map(|name| groups.join(name)).collect())
    };
    Ok(match path.place() {
        ViewPlace::Top => {
            let own = ["documents", "logs", "storage", "uploads"];
            let mut all = own.map(|name| path.join(name)).to_vec();
            all.extend(groups(&path.join("groups"))?);
            all
        }
        ViewPlace::Groups => groups(path)?,
        _ => vec![path.clone()],
    })
}

/// Writes the archive. What is gone by now is left out.
fn write(
    view: CallerView<'_>,
    contents: &[ArchivePart],
    writer: &mut dyn std::io::Write,
) -> Result<(), Error> {
    let found: Vec<(Resolved<'_>, Entry, &str)> = contents
        .iter()
        .filter_map(|(path, name)| {
            let found = view.resolve("paths", path).ok()?;
            let entry = found.entry().ok()?;
            Some((found, entry, name.as_str()))
        })
        .collect();
    let contents: Vec<PackContent<'_>> = found
        .iter()
        .map(|(found, entry, name)| PackContent {
            name: Some((*name).to_owned()),
            ..PackContent::of(&found.zone, entry)
        })
        .collect();
    PackContent::stream(&contents, writer)?;
    Ok(())
}

diagnostics! {
    /// Nothing that could be packed.
    #[derive(Debug, thiserror::Error)]
    enum ArchivePathsError {
        /// No path.
        #[error("parameter `paths` is an empty list")]
        None => {
            code: MissingParameter,
            hint: "name files and directories: {\"paths\": [\"/storage/notes\"]}",
            details: { "parameter": "paths" },
        },
        /// More paths than anybody selects.
        #[error("parameter `paths` has more than {PATHS_MAX} paths")]
        Many => {
            code: InvalidParameter,
            hint: "name the directory that holds them",
            details: { "parameter": "paths" },
        },
    }
}

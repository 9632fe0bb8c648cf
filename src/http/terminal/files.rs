//! Files of the tree for people: display, comparison, archives and links.

use std::collections::HashSet;

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::archive::PackContent;
use fileshed_core::comparison::Side;
use fileshed_core::link::Purpose;
use fileshed_core::link_terms::LinkTerms;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::storage::Entry;
use fileshed_core::text::{Encoding, with_references};
use fileshed_core::view::{Resolved, ViewPath, ViewPlace};
use fileshed_core::{CallerView, Error, Timings, diagnostics};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::endpoint::{PathRequest, PathTextError, path_parameters, required_value};
use super::upload::to_fill;
use crate::content_type;
use crate::http::body;
use crate::http::call::Call;
use crate::http::files::archive::pack;
use crate::http::files::download::{FileDownload, Presentation};
use crate::ops;

/// `GET /files/view`. The preview of a document is the document itself: it is not converted to PDF.
pub(super) async fn view(call: Call) -> Result<Response, Error> {
    let path = required_value(&call.parts.uri, "path")?;
    send(call, path, Presentation::Inline).await
}

/// `GET /files/serve/<path>`: the same with the path in the address, for pages.
pub(super) async fn serve(mut call: Call) -> Result<Response, Error> {
    let parameters = path_parameters(&mut call.parts).await;
    let path = parameters.get("path").and_then(Value::as_str);
    let path = path.ok_or(PathTextError)?;
    send(call, format!("/{path}"), Presentation::Site).await
}

async fn send(mut call: Call, path: String, presentation: Presentation) -> Result<Response, Error> {
    let permit = call.transfer_permit(None).await?;
    let file = call.look(move |view| {
        let found = view.resolve("path", &path)?;
        let entry = found.file()?;
        let file = found.explained(|| FileDownload::open(&entry))?;
        Ok(match presentation {
            Presentation::Site => with_files_beside(view, &found.at, file),
            _ => file,
        })
    });
    Ok(file.await?.answer(&call.parts, presentation, permit))
}

/// Returns a page with the pictures, styles, scripts and sounds in it that lie beside it or below: Open WebUI
/// shows it in a frame that has no cookie, for which its proxy fetches nothing else. Other files stay
/// apart, because a page may send elsewhere what it has.
fn with_files_beside(view: CallerView<'_>, at: &ViewPath, page: FileDownload) -> FileDownload {
    let (mut left, mut references) = (REFERENCES_MAX, REFERENCES);
    let embed = |reference: &str| {
        references = u32::checked_sub(references, 1)?;
        let beside = reference.split(['?', '#']).next()?;
        let beside = percent_decode_str(beside).decode_utf8().ok()?;
        let leads_away = |part: &str| part == ".." || part.contains(':');
        if beside.starts_with('/') || beside.split('/').any(leads_away) {
            return None;
        }
        let kind = content_type::by_name(&beside)?;
        if !EMBEDDED.split(' ').any(|one| kind.starts_with(one)) {
            return None;
        }
        let path = at.parent()?.join(&beside);
        let found = view.resolve("path", path.as_str()).ok()?;
        let file = FileDownload::open(&found.file().ok()?).ok()?;
        let (kind, bytes) = file.whole(left).ok()??;
        left -= bytes.len() as u64;
        let bytes = STANDARD.encode(bytes);
        Some(format!("data:{kind};base64,{bytes}").replace("; ", ";"))
    };
    // Pages that others may have written take nothing along.
    let is_own = ["/storage", "/documents"].contains(&at.root().as_str());
    let html = page.whole(REFERENCES_MAX).ok().flatten().filter(|_| is_own);
    let html = html.filter(|(kind, _)| content_type::is_page(kind));
    let html = html.and_then(|(_, bytes)| with_references(&Encoding::text_of(&bytes)?, embed));
    match html {
        Some(html) => page.with_text(html),
        None => page,
    }
}

/// References of a page that are followed.
const REFERENCES: u32 = 200;

/// Most bytes of a page together with all files in it.
const REFERENCES_MAX: u64 = 8 * MEBIBYTE;

/// Types of files that a page may have in it.
const EMBEDDED: &str = "image/ text/css text/javascript font/ audio/ video/";

/// Input of an upload link.
#[derive(Deserialize, ToSchema)]
pub(super) struct UploadLinkRequest {
    /// Directory that gets them.
    directory: String,
}

/// `POST /files/upload/link`
pub(super) fn upload_link(
    view: CallerView<'_>,
    request: &UploadLinkRequest,
) -> Result<Value, Error> {
    let found = to_fill(view, &request.directory)?;
    link(view, &found, Purpose::Upload)
}

/// `GET /files/download/link`
pub(super) fn download_link(view: CallerView<'_>, request: &PathRequest) -> Result<Value, Error> {
    let found = view.resolve("path", &request.path)?;
    found.file()?;
    link(view, &found, Purpose::Download)
}

fn link(view: CallerView<'_>, found: &Resolved<'_>, purpose: Purpose) -> Result<Value, Error> {
    let transfer = &view.core.transfer;
    let age = Timings::STANDARD.http.terminal_link;
    let terms = LinkTerms::default();
    let link = transfer.create_link(&found.zone, &found.path, purpose, age, &terms);
    let url = link.map_err(|error| found.explain(error))?.url;
    Ok(json!({"url": url}))
}

/// Input of `compare_files`.
#[derive(Deserialize, ToSchema)]
pub(super) struct CompareRequest {
    /// The file as it was.
    original: String,
    /// The file as it is.
    revised: String,
    /// Ignore whitespace; default false.
    ignore_whitespace: Option<bool>,
}

/// `POST /files/compare`
pub(super) fn compare(view: CallerView<'_>, request: &CompareRequest) -> Result<Value, Error> {
    let (original, old) = file(view, "original", &request.original)?;
    let (revised, new) = file(view, "revised", &request.revised)?;
    let comparison = old.against(&new, request.ignore_whitespace.unwrap_or(false));
    Ok(json!({
        "original": original,
        "revised": revised,
        "additions": comparison.additions,
        "deletions": comparison.deletions,
        "hunks": comparison.hunks,
    }))
}

/// Returns the description of a compared file for the response, and its lines.
fn file(view: CallerView<'_>, parameter: &'static str, text: &str) -> Result<(Value, Side), Error> {
    let found = view.resolve(parameter, text)?;
    let side = Side::read(&view.core.runs, &found.zone, &found.file()?)?;
    let path = found.at.as_str();
    let name = path.rsplit('/').next().unwrap_or_default();
    let file = json!({"path": path, "name": name, "notices": side.notices});
    Ok((file, side))
}

/// The name of an archive of several entries.
const SEVERAL: &str = "download";

/// Most paths of one archive.
const PATHS_MAX: usize = 1000;

/// Entries to pack.
#[derive(Deserialize, ToSchema)]
struct Paths {
    paths: Vec<String>,
}

/// The path of an entry to pack, and its name in the archive.
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
    let packed = pack(call, &name, move |view, writer| {
        write(view, &contents, writer)
    });
    packed.await
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
            // A second entry of the same name gets its whole path as the name.
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

/// Returns the zones below a path, or the path itself if it is in a zone.
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

/// Writes the archive. Entries that are gone by now are left out.
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
    /// None of the paths can be packed.
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

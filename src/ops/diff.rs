//! `shed_diff`: what differs between two files, or two versions of one.

use fileshed_core::comparison::Side;
use fileshed_core::{Hint, NextCall, Settings, Zone, ZonePath, diagnostics};

use super::prelude::*;

/// Cells that an answer names.
const CELLS: usize = 100;

/// `shed_diff`
pub struct Diff;

/// The files to compare.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of the files
    #[schema(value_type = AnyZone)]
    zone: String,
    /// Old file
    path: String,
    /// Its commit, as HEAD~1; in storage: before this change
    version: Option<String>,
    /// New file; default path
    to_path: Option<String>,
    /// Its commit; default now
    to_version: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// The difference.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Hunks as `diff -u` writes them; empty where nothing differs.
    diff: String,
    /// Lines that only the new file has.
    additions: u64,
    /// Lines that only the old file has.
    deletions: u64,
    /// Cells that differ, where both are tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<String>,
    /// `true` if the answer ends before the last hunk.
    truncated: bool,
    /// The parts that are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<&'static str>,
}

impl Operation for Diff {
    const ID: &str = "shed_diff";
    const SUMMARY: &str = "Compare files or versions";
    const DOC: &str = "Compare files or versions as a unified diff, documents by their text. shed_diff(zone=\"documents\", path=\"a.md\", version=\"HEAD~1\")";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE;
        FileTooLarge, InvalidFormat
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "old.csv", "to_path": "new.csv"}"#,
        r#"{"zone": "documents", "path": "report.md", "version": "HEAD~1"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("diff"),
        Keep::Lines("cells"),
        Keep::Unusual("truncated"),
        Keep::Lines("notices"),
    ];
    type Request = Request;
    type Response = Response;

    fn answer_max(settings: &Settings, _arguments: &Map<String, Value>) -> u64 {
        settings.max_output_absolute
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path("path", &request.path)?;
        let to_path = request.to_path.as_deref();
        let to_path = to_path.map(|text| zone.path("to_path", text)).transpose()?;
        let (version, to_version) = (request.version.as_deref(), request.to_version.as_deref());
        if version.is_none() && to_version.is_none() && to_path.is_none() {
            return Err(zone.explain(DiffError { path: request.path }.into()));
        }
        let to_path = to_path.as_ref().unwrap_or(&path);
        let mut old = side(core, &zone, &path, version)?;
        let is_gone = version.is_some() && request.to_path.is_none();
        let mut new = match side(core, &zone, to_path, to_version) {
            // A version that was there can be read after its file is gone.
            Err(error) if is_gone && error.code() == Code::FileNotFound && !old.is_empty() => {
                Side::absent("The file does not exist now: it was compared as an empty file.")
            }
            new => new?,
        };
        let are_tables = old.is_table && new.is_table;
        if are_tables {
            (old, new) = (old.as_rows(), new.as_rows());
        }
        let comparison = old.against(&new, false);
        let most = core.store.settings.output_of(caller.client) as usize;
        let (diff, truncated) = comparison.unified(most);
        let cells = if are_tables {
            comparison.cells(CELLS)
        } else {
            Vec::new()
        };
        let message = match (comparison.additions, comparison.deletions) {
            (0, 0) => "No line differs".to_owned(),
            (added, removed) => format!("{added} lines added, {removed} removed"),
        };
        let mut notices = [old.notices, new.notices].concat();
        notices.dedup();
        let more = truncated.then_some("the rest of the diff does not fit into the answer");
        let response = Response {
            diff,
            additions: comparison.additions as u64,
            deletions: comparison.deletions as u64,
            cells,
            truncated,
            notices,
        };
        Ok(Reply::new(response, message).noting(more))
    }
}

fn side(
    core: &Core,
    zone: &Zone<'_>,
    path: &ZonePath,
    version: Option<&str>,
) -> Result<Side, Error> {
    match version {
        Some(version) => Side::read_version(&core.runs, zone, path, version),
        None => Side::read(&core.runs, zone, &zone.entry(path)?),
    }
}

diagnostics! {
    /// A file that is compared with itself.
    #[derive(Debug, thiserror::Error)]
    #[error("`{path}` would be compared with itself: give `version` or `to_path`")]
    struct DiffError {
        path: String = "report.md".to_owned(),
    } => {
        code: MissingParameter,
        hint: Hint::new("version=\"HEAD~1\" is the commit before the last of the zone; ")
            .call(
                NextCall::here("shed_exec")
                    .with("cmd", "git")
                    .with("args", vec!["log", "--oneline", "--", path.as_str()]),
            )
            .say(" lists those of the file"),
        details: { "parameter": "version" },
    }
}

//! `shed_undo`: take back what an answer, a change, or the last change of a path did.

use fileshed_core::undo::{self, UndoOptions, UndoOutcome, Undoing, UndonePath};

use fileshed_core::{Hint, NextCall};

use super::address::{address_in, naming_zones, zone_of};
use super::prelude::*;

/// Files that an answer names.
const NAMED: usize = 50;

/// `shed_undo`
pub struct Undo;

/// Changes to undo.
#[derive(Clone, Deserialize, ToSchema)]
pub struct Request {
    /// Id, or last
    answer: Option<String>,
    /// One, by number
    change: Option<i64>,
    /// Last change of a file, as storage/a.md
    path: Option<String>,
    /// Only tell
    #[serde(default)]
    dry_run: bool,
    /// Skip conflicts
    #[serde(default)]
    partial: bool,
}

/// Undone changes.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Id by which `shed_undo` takes the undo back; absent where nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
    /// The answer whose changes were taken back.
    answer: String,
    /// Files that are as before, each with what became of it.
    files: Vec<String>,
    /// Files that stay as they are, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<String>,
    /// Number of all these files.
    count: usize,
}

impl Undo {
    /// Its text as a tool of other surfaces.
    pub(crate) const DOC_OF_OTHERS: &str =
        "When the user asks to undo: take back all that your last answer changed.";
}

impl Operation for Undo {
    const ID: &str = "shed_undo";
    const SUMMARY: &str = "Take changes back";
    const DOC: &str = "If the user asks: undo all that your last answer changed, in all zones. shed_undo(answer=\"last\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES.each_time();
    const ERRORS: &[&[Code]] = errors![
        ;
        InvalidZone, PathEscape, ProtectedPath, InvalidPath, FileNotFound, FileExists, FileLocked,
        PermissionDenied, QuotaExceeded, InvalidGroupId, GroupNotFound, GroupNotAvailable
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"answer": "last", "dry_run": true}"#,
        r#"{"path": "storage/notes/todo.md"}"#,
    ];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Lines("files"), Keep::Lines("kept")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let caller = &naming_zones(caller);
        let named = request.path.as_deref();
        let named = named.map(|text| address_in(PATH, text)).transpose()?;
        let place = match &named {
            Some(address) => {
                let zone = zone_of(core, caller, PATH, address)?;
                let path = zone.path_to_change(PATH, address.path)?;
                Some((zone, path))
            }
            None => None,
        };
        let what = match (&place, request.change) {
            (Some((zone, path)), change) => Undoing::Path(zone, path, change),
            (None, Some(number)) => Undoing::Change(number),
            (None, None) => {
                let answer = request.answer.as_deref().map(str::trim);
                Undoing::Answer(answer.filter(|id| !id.is_empty() && *id != "last"))
            }
        };
        let options = UndoOptions {
            dry_run: request.dry_run,
            partial: request.partial,
        };
        let undone = undo::undo(&core.store, caller, what, options)?;
        let count = undone.paths.len();
        let (kept, done): (Vec<_>, Vec<_>) = undone.paths.iter().partition(|path| path.is_kept());
        let message = match &undone.id {
            Some(_) => format!("{} files are as before", done.len()),
            None if request.dry_run => format!("Would put {} files back", done.len()),
            None if !kept.is_empty() => "No file could be put back".to_owned(),
            None => "Nothing was left to take back".to_owned(),
        };
        let note = undone.id.as_deref().map(|id| {
            let again = NextCall::new(Self::ID).with("answer", id);
            let told = Hint::new("the user asked for this, so do not make the changes again; ")
                .call(again)
                .say(" brings them back");
            undo::compared(told, &kept)
        });
        let name =
            |paths: &[&UndonePath]| paths.iter().take(NAMED).map(|path| said(path)).collect();
        let response = Response {
            files: name(&done),
            kept: name(&kept),
            undo: undone.id,
            answer: undone.answer,
            count,
        };
        Ok(Reply::new(response, message).noting(note))
    }
}

/// The parameter with the address of a file.
const PATH: &str = "path";

/// Returns the address of a path, and what became of it.
fn said(path: &UndonePath) -> String {
    let what = match path.outcome {
        UndoOutcome::Restored => "restored",
        UndoOutcome::Removed => "removed",
        UndoOutcome::MovedBack => "moved back",
        UndoOutcome::Merged => "restored, with what was changed since",
        UndoOutcome::Kept(reason) => reason.describe(),
    };
    format!("{} {what}", path.address())
}

//! `shed_history`: what was changed, when, by whom and in which answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fileshed_core::change_list::{self, ChangeEntry, ChangesRequest, ZoneSteps};
use fileshed_core::comparison::Side;
use fileshed_core::{Chat, Repeat, Zone, diagnostics};
use jiff::Timestamp;

use super::address::{address, address_in, naming_zones, zone_of};
use super::prelude::*;

/// The parameter with an address.
const PATH: &str = "path";

/// Changes of an answer that says no other number.
const LIMIT: usize = 20;

/// Most changes of an answer.
const LIMIT_MAX: usize = 200;

/// Files of a change whose difference is shown.
const COMPARED: usize = 10;

/// `shed_history`
pub struct ListChanges;

/// The filter.
#[derive(Clone, Deserialize, ToSchema)]
pub struct Request {
    /// As storage/a.md or group/Team; default all yours
    path: Option<String>,
    /// Of this chat
    #[serde(default)]
    chat: bool,
    /// Time or change
    since: Option<String>,
    /// Default 20
    limit: Option<usize>,
    /// With diffs
    #[serde(default)]
    diff: bool,
}

/// One change.
#[derive(Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Its number, for `shed_undo`.
    change: i64,
    /// Id of the answer that made it, for `shed_undo`.
    answer: String,
    /// When.
    at: String,
    /// Name of the user who made it, if it was another user.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Operation or command.
    operation: String,
    /// Addresses of the first files, each with its change.
    files: Vec<String>,
    /// Number of all its files.
    count: usize,
    /// `true` if it was taken back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undone: bool,
    /// Its changes to the files, as `diff -u` writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// The changes, the last one first.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Each change, the last one first.
    changes: Vec<HistoryEntry>,
}

impl ListChanges {
    /// Its text as a tool of other surfaces.
    pub(crate) const DOC_OF_OTHERS: &str = "List changes, newest first.";
}

impl Operation for ListChanges {
    const ID: &str = "shed_history";
    const SUMMARY: &str = "List changes";
    const DOC: &str = "List changes, newest first; in a group by all. shed_history(path=\"documents/a.md\", diff=true)";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![
        ;
        InvalidZone, InvalidPath, PathEscape, ProtectedPath,
        InvalidGroupId, GroupNotFound, GroupNotAvailable
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"limit": 5}"#,
        r#"{"path": "storage/notes", "diff": true}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("changes")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let caller = &naming_zones(caller);
        let place = match request.path.as_deref() {
            Some(text) => {
                let named = address_in(PATH, text)?;
                let zone = zone_of(core, caller, PATH, &named)?;
                let path = zone.path(PATH, named.path)?;
                Some((zone, path))
            }
            None => None,
        };
        let (since, after) = match request.since.as_deref() {
            None => (None, None),
            Some(text) => moment(text)?,
        };
        let list = ChangesRequest {
            zone: place.as_ref().map(|(zone, _)| zone),
            path: place
                .as_ref()
                .map(|(_, path)| path)
                .filter(|path| !path.is_root()),
            chat: request.chat.then_some(caller.chat.as_str()),
            since,
            after,
            ..ChangesRequest::default()
        };
        let most = request.limit.unwrap_or(LIMIT).min(LIMIT_MAX);
        let entries = change_list::list(&core.store, caller, &list, most)?;
        let mut shown = ShownDiffs {
            left: core.store.settings.output_of(caller.client) as usize,
            oldest: entries.last().map_or(0, |entry| entry.row.number),
            steps: HashMap::new(),
        };
        let changes = entries.into_iter().map(|entry| {
            let diff = request.diff.then(|| diff(core, caller, &entry, &mut shown));
            let diff = diff.transpose()?;
            Ok(listed(&entry, diff.filter(|diff| !diff.is_empty())))
        });
        let changes: Vec<HistoryEntry> = changes.collect::<Result<_, Error>>()?;
        let message = match (changes.len(), core.store.public_url()) {
            (0, _) => "No change is listed".to_owned(),
            (count, "") => format!("{count} changes"),
            (count, page) => format!("{count} changes; the user sees them at {page}/#/changes"),
        };
        Ok(Reply::new(Response { changes }, message))
    }
}

/// A change as the answer has it.
fn listed(entry: &ChangeEntry, diff: Option<String>) -> HistoryEntry {
    let group = entry.group.as_deref();
    let files = entry
        .files
        .iter()
        .map(|(path, effect)| format!("{} {}", address(entry.zone, group, path), effect.as_str()));
    let change = &entry.row.change;
    HistoryEntry {
        change: entry.row.number,
        at: Timestamp::from_second(change.changed_at)
            .unwrap_or_default()
            .to_string(),
        by: (!entry.is_own).then(|| change.author.clone()),
        operation: change.operation.clone(),
        files: files.collect(),
        count: entry.count,
        undone: entry.row.undone_by.is_some(),
        diff,
        answer: change.answer.clone(),
    }
}

/// The differences that an answer shows.
struct ShownDiffs {
    /// Characters that are left for them.
    left: usize,
    /// The number of the oldest change that is shown.
    oldest: i64,
    /// The steps since that change in zones without history, by tenant, zone and conversation of uploads.
    steps: HashMap<(String, ZoneName, Chat), ZoneSteps>,
}

impl ShownDiffs {
    /// Returns the steps in a zone since the oldest change, which are read once.
    fn steps_in(&mut self, zone: &Zone<'_>) -> Result<&ZoneSteps, Error> {
        let chat = zone.caller.chat.clone();
        Ok(
            match self.steps.entry((zone.tenant.key.clone(), zone.name, chat)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(ZoneSteps::since(zone, self.oldest)?),
            },
        )
    }
}

/// Returns the differences that a change made in its first files, as far as there are characters left.
fn diff(
    core: &Core,
    caller: &Caller,
    entry: &ChangeEntry,
    shown: &mut ShownDiffs,
) -> Result<String, Error> {
    let group = entry.group.as_deref();
    // Each conversation has uploads of its own.
    let caller = Caller {
        chat: match entry.zone {
            ZoneName::Uploads => Chat::new(&entry.row.change.chat),
            _ => caller.chat.clone(),
        },
        ..caller.clone()
    };
    let zone = core.open_zone(&caller, entry.zone, group)?;
    let mut diffs = String::new();
    for (path, _) in entry.files.iter().take(COMPARED) {
        if shown.left == 0 {
            break;
        }
        // A file that is no text, or is too large, has no difference to show.
        let after = || Ok(shown.steps_in(&zone)?.after(&entry.row, path));
        let sides = Side::around_change(&core.runs, &zone, path, &entry.row, after);
        let Ok(Some((old, new))) = sides else {
            continue;
        };
        let (diff, _) = old.against(&new, false).unified(shown.left);
        shown.left = shown.left.saturating_sub(diff.chars().count());
        if !diff.is_empty() {
            diffs.extend(["--- ", path.as_str(), "\n", &diff, "\n"]);
        }
    }
    Ok(diffs)
}

/// Reads a moment, or the number of a change.
fn moment(text: &str) -> Result<(Option<i64>, Option<i64>), SinceError> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Ok((None, Some(number)));
    }
    let day = || {
        let date: jiff::civil::Date = text.parse().ok()?;
        date.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|day| day.timestamp())
    };
    let moment = text.parse::<Timestamp>().ok().or_else(day);
    let moment = moment.ok_or_else(|| SinceError {
        text: text.to_owned(),
    })?;
    Ok((Some(moment.as_second()), None))
}

diagnostics! {
    /// A time that cannot be read.
    #[derive(Debug, thiserror::Error)]
    #[error("`since` must be a time or the number of a change, got: `{text}`")]
    struct SinceError {
        /// The value received.
        text: String = "yesterday".to_owned(),
    } => {
        code: InvalidParameter,
        hint: Repeat::with("since", "2026-01-31T12:00:00Z"),
        details: { "parameter": "since", "received": text },
    }
}

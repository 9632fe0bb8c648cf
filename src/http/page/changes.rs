//! List of changes, by answers, their undo, and what they changed in a file.

use std::collections::{HashMap, HashSet};

use axum::extract::Query;
use fileshed_core::change_list::{self, ChangeEntry, ChangesRequest, ZoneSteps};
use fileshed_core::comparison::Side;
use fileshed_core::history::CommitRange;
use fileshed_core::undo::{UndoOptions, Undoing, change_in, undo};
use fileshed_core::{CallerView, Chat, Error, diagnostics};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::call::Call;
use crate::http::files::FileQuery;

/// Changes of one answer of the server.
const CHANGES: usize = 200;

/// The changes that are asked for.
#[derive(Deserialize)]
pub(super) struct ChangesQuery {
    /// They have smaller numbers.
    before: Option<i64>,
    /// They belong to this answer.
    answer: Option<String>,
}

/// `GET /page/changes`: the changes that the caller or the caller's assistants made, and those of others in
/// the caller's groups, by the answers that made them, the last one first, and where the next ones begin.
pub(super) fn changes(view: CallerView<'_>, query: &ChangesQuery) -> Result<Value, Error> {
    let (store, caller) = (&view.core.store, view.caller);
    let request = ChangesRequest {
        before: query.before,
        answer: query.answer.as_deref(),
        ..ChangesRequest::default()
    };
    let mut entries = change_list::list(store, caller, &request, CHANGES)?;
    for group in store.known_groups(caller)?.unwrap_or_default() {
        let zone = store.group_zone(caller, Some(group.id.as_str()))?;
        let request = ChangesRequest {
            zone: Some(&zone),
            ..request
        };
        entries.extend(change_list::list(store, caller, &request, CHANGES)?);
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.row.number));
    entries.dedup_by_key(|entry| entry.row.number);
    let next = (entries.len() >= CHANGES).then(|| entries[CHANGES - 1].row.number);
    entries.truncate(CHANGES);
    let chats = entries
        .iter()
        .map(|entry| Chat::new(&entry.row.change.chat));
    let titles = store.titles(caller, chats);
    let undone = change_list::undone_files(store, &entries)?;
    let mut answers: Vec<Vec<ChangeEntry>> = Vec::new();
    for entry in entries {
        let id = &entry.row.change.answer;
        let mut known = answers.iter_mut();
        match known.find(|answer| answer[0].row.change.answer == *id) {
            Some(answer) => answer.push(entry),
            None => answers.push(vec![entry]),
        }
    }
    let answers = answers
        .iter()
        .map(|entries| answer(entries, &titles, &undone));
    let mut found = json!({"answers": answers.collect::<Vec<Value>>()});
    if let Some(next) = next {
        found["next"] = next.into();
    }
    Ok(found)
}

/// Returns an answer with its changes.
fn answer(
    entries: &[ChangeEntry],
    titles: &HashMap<Chat, String>,
    undone: &HashMap<i64, HashSet<usize>>,
) -> Value {
    let changes = entries.iter();
    let changes = changes.map(|entry| change(entry, undone.get(&entry.row.number)));
    let (first, is_own) = (&entries[0].row.change, entries[0].is_own);
    let at = Timestamp::from_second(first.changed_at).unwrap_or(Timestamp::MAX);
    let mut answer = json!({
        "answer": first.answer,
        "at": at.to_string(),
        "by": by(&first.answer),
        "count": entries.iter().map(|entry| entry.count).sum::<usize>(),
        "is_undone": entries.iter().all(|entry| entry.row.undone_by.is_some()),
        "changes": changes.collect::<Vec<Value>>(),
    });
    if !is_own {
        answer["author"] = first.author.as_str().into();
    }
    let chat = Chat::new(&first.chat);
    // The chats of others are theirs.
    if is_own && chat != Chat::default() {
        let title = titles.get(&chat).map_or(chat.as_str(), String::as_str);
        answer["title"] = title.into();
        answer["chat"] = chat.as_str().into();
    }
    answer
}

/// Returns the author of an answer. The ids of calls that name no message tell it.
fn by(answer: &str) -> &'static str {
    match answer.split_once('-') {
        Some(("person", _)) => "person",
        Some(("undo", _)) => "undo",
        _ => "model",
    }
}

/// Returns a change; the files at the positions `undone` were taken back by themselves.
fn change(entry: &ChangeEntry, undone: Option<&HashSet<usize>>) -> Value {
    let is_undone = entry.row.undone_by.is_some();
    let files = entry.files.iter().enumerate();
    let files = files.map(|(at, (path, effect))| {
        let is_undone = is_undone || undone.is_some_and(|undone| undone.contains(&at));
        json!({"path": path.as_str(), "did": effect.as_str(), "is_undone": is_undone})
    });
    let mut change = json!({
        "number": entry.row.number,
        "zone": entry.zone.as_str(),
        "operation": entry.row.change.operation,
        "files": files.collect::<Vec<Value>>(),
        "count": entry.count,
        "is_undone": is_undone,
        "has_history": entry.zone.is_versioned(),
    });
    if let Some(group) = &entry.group {
        change["group"] = group.as_str().into();
    }
    change
}

/// Returns the query of a call that names changes, and the file of it if it names one.
fn named<Q: DeserializeOwned>(call: &mut Call) -> Result<(Q, Option<FileQuery>), Error> {
    let query = Query::try_from_uri(&call.parts.uri).map_err(|_| UndoQueryError)?;
    let file = FileQuery::of(call)?;
    Ok((query.0, file.has_path().then_some(file)))
}

/// The answer, the change or the file to undo.
pub(super) struct UndoQuery {
    changes: UndoneQuery,
    file: Option<FileQuery>,
}

#[derive(Deserialize)]
struct UndoneQuery {
    answer: Option<String>,
    change: Option<i64>,
    /// `true` if files that cannot be undone may stay as they are.
    #[serde(default)]
    partial: bool,
}

impl UndoQuery {
    pub(super) fn of(call: &mut Call) -> Result<Self, Error> {
        let (changes, file) = named(call)?;
        Ok(Self { changes, file })
    }
}

/// `POST /page/undo`: takes back an answer, a change, or what a change or the last one did to a file.
pub(super) fn take_back(view: CallerView<'_>, query: &UndoQuery) -> Result<Value, Error> {
    let UndoneQuery {
        answer,
        change,
        partial,
    } = &query.changes;
    let file = query.file.as_ref();
    let place = file.map(|file| file.place(view)).transpose()?;
    let what = match (answer, *change, &place) {
        (Some(answer), None, None) => Undoing::Answer(Some(answer)),
        (None, Some(number), None) => Undoing::Change(number),
        (None, change, Some((zone, path))) => Undoing::Path(zone, path, change),
        _ => return Err(UndoQueryError.into()),
    };
    let options = UndoOptions {
        partial: *partial,
        ..UndoOptions::default()
    };
    let undone = undo(&view.core.store, view.caller, what, options)?;
    let mut data = json!({"paths": undone.paths.len()});
    if let Some(id) = undone.id {
        data["id"] = id.into();
    }
    Ok(json!({"success": true, "data": data}))
}

/// Bytes of both sides of a file that the page compares itself, and characters of a difference.
const COMPARED: usize = 1_000_000;

/// A file, and what changed it.
pub(super) struct DifferenceQuery {
    cause: CauseQuery,
    file: FileQuery,
}

#[derive(Deserialize)]
struct CauseQuery {
    change: Option<i64>,
    commit: Option<String>,
}

impl DifferenceQuery {
    pub(super) fn of(call: &mut Call) -> Result<Self, Error> {
        let (cause, file) = named(call)?;
        let file = file.unwrap_or_default();
        Ok(Self { cause, file })
    }
}

/// `GET /page/difference`: a file before and after a change or a commit; documents and tables by their text.
pub(super) fn difference(view: CallerView<'_>, query: &DifferenceQuery) -> Result<Value, Error> {
    let (zone, path) = query.file.place(view)?;
    let runs = &view.core.runs;
    let sides = match (query.cause.change, &query.cause.commit) {
        (Some(number), None) => match change_in(&zone, number)? {
            Some(row) => {
                let after = || Ok(ZoneSteps::since(&zone, number)?.after(&row, &path));
                Side::around_change(runs, &zone, &path, &row, after)?
            }
            None => None,
        },
        (None, Some(commit)) => {
            let range = CommitRange {
                before: None,
                commit: commit.clone(),
                taken_back: HashSet::new(),
            };
            Some(Side::around_commits(runs, &zone, &path, &range)?)
        }
        _ => return Err(UndoQueryError.into()),
    };
    Ok(match sides {
        Some((old, new)) => compared(old, new),
        None => json!({}),
    })
}

/// Returns both texts, or what differs if they are tables or long.
fn compared(mut old: Side, mut new: Side) -> Value {
    let is_table = old.is_table || new.is_table;
    let (before, after) = (old.text(), new.text());
    if !is_table && before.len() + after.len() <= COMPARED {
        return json!({"before": before, "after": after});
    }
    if is_table {
        (old, new) = (old.as_rows(), new.as_rows());
    }
    let (diff, truncated) = old.against(&new, false).unified(COMPARED);
    json!({"diff": diff, "is_table": is_table, "truncated": truncated})
}

diagnostics! {
    /// A list or an undo of changes that cannot be known.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("give `answer`, or `change` with or without a file, and `before` as a number to list")]
    pub(in crate::http) struct UndoQueryError => {
        code: InvalidParameter,
        hint: "GET /page/changes shows the changes, each with its answer and its number",
        details: { "parameter": "answer" },
    }
}

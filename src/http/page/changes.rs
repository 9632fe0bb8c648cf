//! List of changes, by answers, and their undo.

use std::collections::HashMap;

use fileshed_core::change_list::{self, ChangeEntry, ChangesRequest};
use fileshed_core::undo::{UndoOptions, Undoing, undo};
use fileshed_core::{CallerView, Chat, Error, diagnostics};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

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
    let mut answers: Vec<Vec<ChangeEntry>> = Vec::new();
    for entry in entries {
        let id = &entry.row.change.answer;
        let mut known = answers.iter_mut();
        match known.find(|answer| answer[0].row.change.answer == *id) {
            Some(answer) => answer.push(entry),
            None => answers.push(vec![entry]),
        }
    }
    let answers = answers.iter().map(|entries| answer(entries, &titles));
    let mut found = json!({"answers": answers.collect::<Vec<Value>>()});
    if let Some(next) = next {
        found["next"] = next.into();
    }
    Ok(found)
}

/// Returns an answer with its changes.
fn answer(entries: &[ChangeEntry], titles: &HashMap<Chat, String>) -> Value {
    let (first, is_own) = (&entries[0].row.change, entries[0].is_own);
    let at = Timestamp::from_second(first.changed_at).unwrap_or(Timestamp::MAX);
    let mut answer = json!({
        "answer": first.answer,
        "at": at.to_string(),
        "by": by(&first.answer),
        "count": entries.iter().map(|entry| entry.count).sum::<usize>(),
        "is_undone": entries.iter().all(|entry| entry.row.undone_by.is_some()),
        "changes": entries.iter().map(change).collect::<Vec<Value>>(),
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

fn change(entry: &ChangeEntry) -> Value {
    let files = entry.files.iter();
    let files = files.map(|(path, effect)| json!({"path": path.as_str(), "did": effect.as_str()}));
    let mut change = json!({
        "number": entry.row.number,
        "zone": entry.zone.as_str(),
        "operation": entry.row.change.operation,
        "files": files.collect::<Vec<Value>>(),
        "count": entry.count,
        "is_undone": entry.row.undone_by.is_some(),
        "has_history": entry.zone.is_versioned(),
    });
    if let Some(group) = &entry.group {
        change["group"] = group.as_str().into();
    }
    change
}

/// The answer or the change to undo.
#[derive(Deserialize)]
pub(super) struct UndoQuery {
    answer: Option<String>,
    change: Option<i64>,
    /// `true` if files that cannot be undone may stay as they are.
    #[serde(default)]
    partial: bool,
}

/// `POST /page/undo`: takes back an answer or one change.
pub(super) fn take_back(view: CallerView<'_>, query: &UndoQuery) -> Result<Value, Error> {
    let what = match (&query.answer, query.change) {
        (Some(answer), None) => Undoing::Answer(Some(answer)),
        (None, Some(number)) => Undoing::Change(number),
        _ => return Err(UndoQueryError.into()),
    };
    let options = UndoOptions {
        partial: query.partial,
        ..UndoOptions::default()
    };
    let undone = undo(&view.core.store, view.caller, what, options)?;
    let mut data = json!({"paths": undone.paths.len()});
    if let Some(id) = undone.id {
        data["id"] = id.into();
    }
    Ok(json!({"success": true, "data": data}))
}

diagnostics! {
    /// A list or an undo of changes that cannot be known.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("give `answer` or `change` to undo, and `before` as a number to list")]
    pub(in crate::http) struct UndoQueryError => {
        code: InvalidParameter,
        hint: "GET /page/changes shows the changes, each with its answer and its number",
        details: { "parameter": "answer" },
    }
}

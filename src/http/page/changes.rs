//! What was changed, by answers, and the way back.

use std::collections::HashMap;

use fileshed_core::history::{ChangeKind, CommitRange, changed_by};
use fileshed_core::registry::{ChangeFilter, ListedChange, Step};
use fileshed_core::undo::{Undoing, range, undo};
use fileshed_core::{CallerView, Chat, Error, ZoneName, diagnostics};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// Changes of one answer of the server.
const CHANGES: u32 = 200;

/// Paths of a change that are shown.
const PATHS: usize = 50;

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
    let (store, own) = (&view.core.store, view.core.store.tenant_key(view.caller)?);
    let groups = store.known_groups(view.caller)?.unwrap_or_default();
    let groups: HashMap<String, String> = groups
        .into_iter()
        .map(|group| (format!("groups/{}", group.id.as_str()), group.name))
        .collect();
    let filter = ChangeFilter {
        before: query.before,
        answer: query.answer.as_deref(),
        ..ChangeFilter::default()
    };
    let actor = Some(own.as_str());
    let mut rows = store
        .registry
        .listed_changes(&ChangeFilter { actor, ..filter }, CHANGES)?;
    for tenant in groups.keys() {
        let tenant = Some(tenant.as_str());
        rows.extend(
            store
                .registry
                .listed_changes(&ChangeFilter { tenant, ..filter }, CHANGES)?,
        );
    }
    // Who has left a group sees nothing of it.
    rows.retain(|row| row.change.tenant == own || groups.contains_key(&row.change.tenant));
    rows.sort_by_key(|row| std::cmp::Reverse(row.number));
    rows.dedup_by_key(|row| row.number);
    let next = (rows.len() >= CHANGES as usize).then(|| rows[CHANGES as usize - 1].number);
    rows.truncate(CHANGES as usize);
    let chats = rows.iter().map(|row| Chat::new(&row.change.chat));
    let titles = store.titles(view.caller, chats);
    let mut answers: Vec<Vec<ListedChange>> = Vec::new();
    for row in rows {
        let same = |answer: &&mut Vec<ListedChange>| answer[0].change.answer == row.change.answer;
        match answers.iter_mut().find(same) {
            Some(answer) => answer.push(row),
            None => answers.push(vec![row]),
        }
    }
    let answers = answers.iter().map(|rows| {
        let first = &rows[0].change;
        let changes: Vec<Value> = rows
            .iter()
            .map(|row| change(view, row, groups.get(&row.change.tenant)))
            .collect();
        let count: u64 = changes
            .iter()
            .filter_map(|change| change["count"].as_u64())
            .sum();
        let is_undone = rows.iter().all(|row| row.undone_by.is_some());
        let mut answer = json!({
            "answer": first.answer,
            "at": moment(first.changed_at),
            "by": by(&first.answer),
            "count": count,
            "is_undone": is_undone,
            "can_undo": !is_undone,
            "changes": changes,
        });
        if first.actor != own {
            answer["author"] = first.author.as_str().into();
        }
        let chat = Chat::new(&first.chat);
        if chat != Chat::default() {
            answer["title"] = titles
                .get(&chat)
                .map_or(chat.as_str(), String::as_str)
                .into();
            answer["chat"] = chat.as_str().into();
        }
        answer
    });
    let mut found = json!({"answers": answers.collect::<Vec<Value>>()});
    if let Some(next) = next {
        found["next"] = next.into();
    }
    Ok(found)
}

/// Who made an answer: calls that name no message say it in their id.
fn by(answer: &str) -> &'static str {
    match answer.split_once('-') {
        Some(("person", _)) => "person",
        Some(("undo", _)) => "undo",
        _ => "model",
    }
}

fn change(view: CallerView<'_>, row: &ListedChange, group: Option<&String>) -> Value {
    let (paths, count) = match range(row) {
        Some(range) => committed(view, row, &range).unwrap_or_default(),
        None => {
            let steps = row.change.steps();
            (steps.iter().take(PATHS).map(path).collect(), steps.len())
        }
    };
    let mut change = json!({
        "number": row.number,
        "zone": row.change.zone,
        "operation": row.change.operation,
        "paths": paths,
        "count": count,
        "is_undone": row.undone_by.is_some(),
        "can_undo": row.undone_by.is_none(),
        "has_history": row.change.commit.is_some(),
    });
    if let Some(group) = group {
        change["group"] = group.as_str().into();
    }
    change
}

/// Returns some of the paths of a change in a zone with history, and their number.
fn committed(
    view: CallerView<'_>,
    row: &ListedChange,
    range: &CommitRange,
) -> Result<(Vec<Value>, usize), Error> {
    let zone = ZoneName::parse(&row.change.zone)?;
    let group = row.change.tenant.strip_prefix("groups/");
    let zone = view
        .core
        .store
        .open_zone(view.caller, zone, group)?
        .made()?;
    let (files, count) = changed_by(&zone.base, range, PATHS)?;
    let files = files.iter().map(|file| {
        let did = match file.kind {
            ChangeKind::Added => "made",
            ChangeKind::Deleted => "removed",
            ChangeKind::Modified | ChangeKind::ModeChanged => "changed",
        };
        json!({"path": file.path.as_str(), "did": did})
    });
    Ok((files.collect(), count))
}

fn path(step: &Step) -> Value {
    let did = match step {
        Step::Made { .. } => "made",
        Step::Replaced { .. } | Step::Appended { .. } => "changed",
        Step::Removed { .. } => "removed",
        Step::Moved { from, .. } => {
            return json!({"path": step.path(), "did": "moved", "from": from});
        }
        Step::Came { zone, from, .. } => {
            return json!({"path": step.path(), "did": "moved", "from": format!("{zone}/{from}")});
        }
    };
    json!({"path": step.path(), "did": did})
}

fn moment(seconds: i64) -> String {
    Timestamp::from_second(seconds)
        .unwrap_or(Timestamp::MAX)
        .to_string()
}

/// What is taken back.
#[derive(Deserialize)]
pub(super) struct UndoQuery {
    answer: Option<String>,
    change: Option<i64>,
    /// Whether files may stay as they are that something stands in the way of.
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
    let undone = undo(&view.core.store, view.caller, what, (false, query.partial))?;
    let mut data = json!({"paths": undone.paths.len()});
    if let Some(id) = undone.id {
        data["id"] = id.into();
    }
    Ok(json!({"success": true, "data": data}))
}

diagnostics! {
    /// A list or an undo of changes that cannot be known.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("parameters `answer` and `change`: which changes are meant is not said")]
    pub(in crate::http) struct UndoQueryError => {
        code: InvalidParameter,
        hint: "GET /page/changes shows the changes, each with its answer and its number",
        details: { "parameter": "answer" },
    }
}

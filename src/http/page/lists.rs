//! Lists that only the page shows: a directory of any length, the conversations that have uploads, the
//! bin, and the results of a search.

use fileshed_core::directory::Membership;
use fileshed_core::listing::{DirectoryListing, ListedEntry};
use fileshed_core::search::{Match, Matches, Pattern};
use fileshed_core::storage::Kind;
use fileshed_core::{
    CallerView, Chat, Error, SearchedDocuments, bin, diagnostics, ends_soon, search,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::http::files::FileQuery;

/// A directory as the page shows it.
#[derive(Serialize)]
pub(super) struct PageDirectory {
    /// `true` if the caller may put anything into it.
    writable: bool,
    /// `true` if deleted entries can be brought back.
    keeps_deleted: bool,
    /// Day on which its contents are removed, if that is soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<String>,
    entries: Vec<PageEntry>,
}

/// A row of the page.
#[derive(Serialize)]
struct PageEntry {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Bytes, of a file.
    size: u64,
    /// Seconds since 1970.
    modified: f64,
    /// `true` if the caller may change it.
    writable: bool,
    /// Name or id of the owner, in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// `true` if the owner is the caller.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    own: bool,
    /// Its mode, in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
}

/// `GET /page/list`
pub(super) fn directory(view: CallerView<'_>, query: &FileQuery) -> Result<PageDirectory, Error> {
    let (zone, path) = query.place(view)?;
    let (core, caller) = (view.core, view.caller);
    let listing = DirectoryListing::of(&zone, &path).map_err(|error| zone.explain(error))?;
    let members = zone
        .group()
        .map(|group| core.store.members(group))
        .transpose()?;
    let user = caller.user.as_ref().map(fileshed_core::UserId::as_str);
    let entries = listing.entries.into_iter();
    Ok(PageDirectory {
        writable: listing.is_writable,
        keeps_deleted: zone.name.is_versioned() || bin::has_bin(&core.store),
        ends_on: ends_soon(&zone)?.map(|end| end.strftime("%F").to_string()),
        entries: entries
            .filter_map(|entry| row(entry, members.as_ref(), user))
            .collect(),
    })
}

fn row(entry: ListedEntry, members: Option<&Membership>, user: Option<&str>) -> Option<PageEntry> {
    let is_directory = entry.found.kind == Kind::Directory;
    let own = entry.owner.as_ref();
    let own = own.is_some_and(|(owner, _)| user == Some(owner));
    Some(PageEntry {
        name: entry.found.path.name()?.to_owned(),
        kind: entry.found.kind.entry_type(),
        size: if is_directory { 0 } else { entry.found.size() },
        modified: entry.found.modified(),
        writable: entry.is_writable,
        own,
        mode: entry.owner.as_ref().map(|(_, mode)| mode.as_str()),
        owner: entry
            .owner
            .zip(members)
            .map(|((owner, _), members)| members.shown(&owner).to_owned()),
    })
}

/// The position at which the list goes on.
#[derive(Deserialize)]
pub(super) struct UploadsQuery {
    #[serde(default)]
    from: usize,
}

/// `GET /page/uploads`: some of the conversations, those in which something came or went last first, and
/// where the next ones begin.
pub(super) fn uploads(view: CallerView<'_>, query: &UploadsQuery) -> Result<Value, Error> {
    let store = &view.core.store;
    let page = store.chats_with_uploads(view.caller, query.from)?;
    let chats = page.chats.into_iter().map(|uploads| {
        // The id is what every other request takes as `chat`; the title is Open WebUI's.
        let mut chat = json!({"chat": uploads.chat.as_str()});
        if let Some(title) = uploads.title {
            chat["title"] = title.into();
        }
        chat["files"] = uploads.totals.files.into();
        chat["size"] = uploads.totals.bytes.into();
        chat["modified"] = uploads.last_change.as_second().into();
        // The day on which the files are removed if nothing changes.
        if let Some(end) = uploads.ends_at {
            chat["ends_on"] = end.strftime("%F").to_string().into();
        }
        chat
    });
    let mut answer = json!({"chats": chats.collect::<Vec<Value>>()});
    if let Some(next) = page.next {
        answer["next"] = next.into();
    }
    Ok(answer)
}

/// Conversations whose titles are asked for at once.
const TITLED: usize = 100;

/// Conversations, one a line.
#[derive(Deserialize)]
pub(super) struct TitlesQuery {
    id: Option<String>,
}

/// `GET /page/titles`: the titles of conversations by their ids, as far as they are known.
pub(super) fn titles(view: CallerView<'_>, query: &TitlesQuery) -> Result<Value, Error> {
    let ids = query.id.as_deref().ok_or(ListQueryError::Id)?;
    let chats = ids.lines().take(TITLED).map(Chat::new);
    let titles = view.core.store.titles(view.caller, chats).into_iter();
    let titles = titles.map(|(chat, title)| (chat.as_str().to_owned(), title.into()));
    Ok(json!({"titles": titles.collect::<Map<String, Value>>()}))
}

/// `GET /page/bin`: the days for which what is deleted waits (0 if it does not), and what waits.
pub(super) fn bin(view: CallerView<'_>, _: &BinQuery) -> Result<Value, Error> {
    let days = view.core.store.settings.bin_days;
    let moment = |seconds| {
        let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        moment.to_string()
    };
    let found = bin::entries(&view.core.store, view.caller)?;
    let chats = found.iter().map(|entry| Chat::new(&entry.chat));
    let titles = view.core.store.titles(view.caller, chats);
    let entries = found.into_iter().map(|entry| {
        let mut row = json!({
            "id": entry.id,
            "zone": entry.zone,
            "path": entry.path,
            "type": if entry.is_directory { "directory" } else { "file" },
            "size": entry.totals.bytes,
            "files": entry.totals.files,
        });
        if entry.is_replaced {
            row["replaced"] = true.into();
        }
        // The conversation that deleted it.
        let chat = Chat::new(&entry.chat);
        if chat != Chat::default() {
            row["title"] = titles
                .get(&chat)
                .map_or(chat.as_str(), String::as_str)
                .into();
            row["chat"] = entry.chat.into();
        }
        row["deleted_at"] = moment(entry.deleted_at).into();
        row["ends_at"] = moment(entry.ends_at).into();
        row
    });
    Ok(json!({
        "days": days.map_or(0, std::num::NonZeroU64::get),
        "entries": entries.collect::<Vec<Value>>(),
    }))
}

/// The row of the bin that a request names.
#[derive(Deserialize)]
pub(super) struct BinQuery {
    id: Option<String>,
}

/// `POST /page/bin/restore`: puts the entry with this id back to its place.
pub(super) fn restore_deleted(view: CallerView<'_>, query: &BinQuery) -> Result<Value, Error> {
    let id = query.id.as_deref().ok_or(ListQueryError::Id)?;
    let back = bin::bring_back(&view.core.store, view.caller, id)?;
    let data = json!({"zone": back.zone.as_str(), "path": back.path.as_str()});
    Ok(json!({"success": true, "data": data}))
}

/// `POST /page/bin/remove`: removes the entry with this id for good; without an id, all entries.
pub(super) fn remove_deleted(view: CallerView<'_>, query: &BinQuery) -> Result<Value, Error> {
    let removed = bin::empty(&view.core.store, view.caller, query.id.as_deref())?;
    Ok(json!({"success": true, "data": {"removed": removed}}))
}

/// Results of one answer.
const RESULTS: usize = 100;

/// A search of the page.
#[derive(Deserialize)]
pub(super) struct PageQuery {
    /// Text that names and lines hold, in any case.
    query: String,
    /// Directory in the tree of all zones.
    #[serde(default)]
    path: String,
}

/// `GET /page/search`: the results, the nearest first, and a mark if there are more.
pub(super) fn search(view: CallerView<'_>, query: &PageQuery) -> Result<Value, Error> {
    let text = query.query.trim();
    if text.is_empty() {
        return Err(ListQueryError::Text.into());
    }
    let mut caller = view.caller.clone();
    caller.names_zones = true;
    let view = CallerView::of(view.core, &caller);
    let is_everywhere = matches!(query.path.as_str(), "" | "/");
    let matches = Matches {
        pattern: Pattern::new("query", text, false, true)?,
        query: text.to_owned(),
        shows_hidden: true,
        offset: 0,
        most: RESULTS,
    };
    let searched = if is_everywhere {
        view.searched_in_all_chats("path")?
    } else {
        view.searched("path", &view.path("path", &query.path)?)?
    };
    searched.expect_directories()?;
    let documents = SearchedDocuments::new(&view.core.runs, view.caller);
    let bounds = view.search_bounds();
    let page = search::matches(&searched.trees(), &matches, &bounds, &documents);
    let results = page.items.into_iter().map(|item| {
        let below = item.path.strip_prefix("/uploads");
        let below =
            below.and_then(|below| below.strip_prefix('/').or(below.is_empty().then_some("")));
        let chat = below.map(|below| {
            if is_everywhere {
                of_chat(below)
            } else {
                (caller.chat.as_str().to_owned(), item.path.clone())
            }
        });
        result(item, chat)
    });
    Ok(json!({
        "results": results.collect::<Vec<Value>>(),
        "more": page.next_offset.is_some(),
        "unread": documents.unread(),
    }))
}

/// The conversation of what is found below the uploads of all, and its path as that sees it.
fn of_chat(below: &str) -> (String, String) {
    let (chat, inside) = below.split_once('/').unwrap_or((below, ""));
    let path = format!("/uploads/{inside}");
    (chat.to_owned(), path.trim_end_matches('/').to_owned())
}

/// An entry; one of a conversation's uploads with that and the path there.
fn result(found: Match, chat: Option<(String, String)>) -> Value {
    let (chat, path) = chat.unzip();
    let lines = found.content_matches.into_iter();
    let lines = lines.map(|found| json!({"line": found.line, "text": found.text}));
    let mut result = json!({"path": path.unwrap_or(found.path)});
    if let Some(chat) = chat {
        result["chat"] = chat.into();
    }
    result["type"] = found.kind.into();
    result["lines"] = lines.collect();
    result
}

diagnostics! {
    /// A query that says nothing that can be used.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    pub(in crate::http) enum ListQueryError {
        /// A place in the list that cannot be known.
        #[error("parameter `from` is not a position in the list")]
        Position => {
            code: InvalidParameter,
            hint: "leave `from` out, or give the `next` of the previous answer",
            details: { "parameter": "from" },
        },
        /// A row that cannot be known.
        #[error("parameter `id` is required")]
        Id => {
            code: InvalidParameter,
            hint: "GET /page/bin lists the entries of the bin, each with its id",
            details: { "parameter": "id" },
        },
        /// A search for nothing.
        #[error("parameter `query` is required")]
        Text => {
            code: MissingParameter,
            hint: "give the text to find in names or lines: ?query=budget&path=/documents",
            details: { "parameter": "query" },
        },
    }
}

//! Pages of download links: a folder with its files, a file that waits for a click, and an HTML file in a
//! frame.
//!
//! An HTML file is never a page of this address by itself, because it could pass for one of the server. The
//! frame has no origin, and the page around it says whose file it is.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::archive::PackContent;
use fileshed_core::link::{Link, LinkError};
use fileshed_core::listing::DirectoryListing;
use fileshed_core::size::human_size;
use fileshed_core::storage::{Entry, Kind, WalkEntry};
use fileshed_core::zone::is_git_name;
use fileshed_core::{CallerView, Core, Error, ZonePath};
use jiff::Timestamp;
use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};

use super::OpenedLink;
use crate::content_type;
use crate::http::files::download::{Download, FileDownload};
use crate::http::files::page::{HtmlPage, escaped};
use crate::http::header::{self, UNRESERVED};
use crate::http::response_body::unstored;
use crate::http::words::Language;

/// Most entries of a directory that a page or a list has.
const ENTRIES_MAX: usize = 2000;

/// The element that a browser loads something for.
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Rights of a frame of ours; the policy of its answer has the same.
const SANDBOX: &str = "allow-scripts allow-modals allow-popups allow-downloads";

const FOLDER: &str = "<svg class=\"icon folder\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M3 6a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z\"/></svg>";
const FILE: &str = "<svg class=\"icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M6 3h8l4 4v14H6zM14 3v4h4\"/></svg>";

/// Returns `true` if a browser loads the answer into a frame.
pub(super) fn is_for_frame(headers: &HeaderMap) -> bool {
    header::text(headers, &SEC_FETCH_DEST) == Some("iframe")
}

/// Returns `true` if a browser says which element it loads something for; it does so over https only.
pub(super) fn says_what_it_loads(headers: &HeaderMap) -> bool {
    headers.contains_key(SEC_FETCH_DEST)
}

/// Programs of chats that open links in advance, by words of their `User-Agent`.
const IN_ADVANCE: [&str; 5] = ["bot", "facebookexternalhit", "preview", "slack", "whatsapp"];

/// Returns `true` if a program of a chat looks at the link, not a person.
pub(super) fn looks_in_advance(headers: &HeaderMap) -> bool {
    let agent = header::text(headers, &USER_AGENT).unwrap_or_default();
    let agent = agent.to_ascii_lowercase();
    IN_ADVANCE.iter().any(|word| agent.contains(word))
}

/// An entry below a link, as pages show it.
pub(super) enum LinkedEntry {
    /// The first files and directories of a directory, and the number of the others.
    Directory(Vec<WalkEntry>, usize),
    /// A file of so many bytes.
    File(u64),
}

impl LinkedEntry {
    /// Looks at the entry at `below`; blocks.
    pub(super) fn of(core: &Core, link: &Link, below: &ZonePath) -> Result<Self, Error> {
        let zone = link.open_zone(&core.store)?;
        let entry = link.entry_within(&zone, below)?;
        if entry.kind() != Kind::Directory {
            entry.expect_file()?;
            return Ok(Self::File(entry.size()));
        }
        // No segment may have become a link since.
        let found = zone.data.read_names(entry.path())?.0.list()?;
        let listing = DirectoryListing::unshared(zone.name, found, false);
        let entries = listing.entries.into_iter().map(|entry| entry.found);
        let is_shown = |entry: &WalkEntry| !entry.path.name().is_some_and(is_git_name);
        let mut entries: Vec<WalkEntry> = entries.filter(is_shown).collect();
        let more = entries.len().saturating_sub(ENTRIES_MAX);
        entries.truncate(ENTRIES_MAX);
        Ok(Self::Directory(entries, more))
    }
}

/// Opens the file at `below`, or a directory as an archive; blocks.
pub(super) fn open(
    view: CallerView<'_>,
    link: &Arc<Link>,
    below: ZonePath,
) -> Result<Download, Error> {
    let zone = link.open_zone(&view.core.store)?;
    let entry = link.entry_within(&zone, &below)?;
    if entry.kind() != Kind::Directory {
        return Ok(Download::File(FileDownload::open(&entry)?));
    }
    let name = entry.path().name().unwrap_or(zone.name.as_str()).to_owned();
    let (core, link) = (Arc::clone(view.core), Arc::clone(link));
    let write = move |writer: &mut dyn std::io::Write| {
        let zone = link.open_zone(&core.store)?;
        let entry: Entry = link.entry_within(&zone, &below)?;
        PackContent::stream(&[PackContent::of(&zone, &entry)], writer)?;
        Ok(())
    };
    Ok(Download::Archive(name, Box::new(write)))
}

/// The path that a request names below that of a link.
pub(super) fn below(path: Option<&str>) -> Result<ZonePath, Error> {
    let path = ZonePath::parse("path", path.filter(|path| !path.is_empty()).unwrap_or("."));
    path.map_err(|_| LinkError::Gone.into())
}

impl OpenedLink {
    fn name(&self, below: &ZonePath) -> String {
        let name = below.name().or_else(|| self.link.path.name());
        name.unwrap_or(self.link.zone.as_str()).to_owned()
    }

    /// An address of this link, for its pages.
    fn address(&self, endpoint: &str, below: &ZonePath, more: &str) -> String {
        let mut address = format!("{}{endpoint}", self.prefix);
        let mut mark = '?';
        if !below.is_root() {
            let path = utf8_percent_encode(below.as_str(), UNRESERVED);
            let _written = write!(address, "?path={path}");
            mark = '&';
        }
        if !more.is_empty() {
            let _written = write!(address, "{mark}{more}");
        }
        escaped(&address)
    }

    /// Returns the maker of the link, its end, and the downloads that are left.
    fn facts(&self, language: Language) -> String {
        let maker = match &self.maker {
            Some(name) => format!("<strong>{}</strong>", escaped(name)),
            None => language.say("somebody").to_owned(),
        };
        let end = self.link.expires_at.strftime("%F");
        let mut facts = format!(
            "{} {maker} · {} {end}",
            language.say("shared_by"),
            language.say("until")
        );
        if let Some(left) = self.link.downloads_left().filter(|_| !self.is_counted) {
            let _written = write!(facts, " · {}", language.say_count("left", left as usize));
        }
        format!("<p class=\"faint\">{facts}</p>")
    }

    /// The top of the page of an entry: facts about it, the way there, and the button that fetches it.
    fn head(&self, language: Language, below: &ZonePath, button: &str) -> String {
        let mut head = self.facts(language);
        if !below.is_root() {
            head.push_str(&self.way(language, below));
        }
        let address = self.address("content", below, "");
        let _written = write!(
            head,
            "<p class=\"buttons\"><a class=\"button primary\" href=\"{address}\">{button}</a></p>"
        );
        head
    }

    /// The page of a directory.
    pub(super) fn folder(
        &self,
        language: Language,
        below: &ZonePath,
        (entries, more): (&[WalkEntry], usize),
    ) -> Response {
        let mut content = self.head(language, below, language.say("download_all"));
        if entries.is_empty() {
            let empty = language.say("empty");
            let _written = write!(content, "<p>{empty}</p>");
        }
        content.push_str("<ul class=\"entries\">\n");
        for entry in entries {
            let Some(name) = entry.path.name() else {
                continue;
            };
            let path = below.join(name);
            let (icon, size) = match entry.kind {
                Kind::Directory => (FOLDER, String::new()),
                _ => (FILE, human_size(entry.size())),
            };
            let is_page = content_type::is_page(content_type::by_name(name).unwrap_or_default());
            let address = if is_page || entry.kind == Kind::Directory {
                self.address("list", &path, "")
            } else {
                self.address("content", &path, "inline=true")
            };
            let modified = Timestamp::from_second(entry.modified() as i64).unwrap_or_default();
            let _written = writeln!(
                content,
                "<li>{icon}<a href=\"{address}\">{}</a><span>{size}</span><span>{}</span></li>",
                escaped(name),
                modified.strftime("%F")
            );
        }
        content.push_str("</ul>");
        if more > 0 {
            let others = language.say_count("more", more);
            let _written = write!(content, "<p class=\"faint\">{others}</p>");
        }
        HtmlPage::new(language, &self.name(below), &content).answer()
    }

    /// The directories above one, which lead there.
    fn way(&self, language: Language, below: &ZonePath) -> String {
        let root = ZonePath::root();
        let top = escaped(&self.name(&root));
        let label = language.say("folders");
        let address = self.address("list", &root, "");
        let mut way = format!(
            "<nav aria-label=\"{label}\"><ul class=\"way\"><li><a href=\"{address}\">{top}</a></li>"
        );
        let mut above = root;
        for name in below.segments() {
            above = above.join(name);
            let name = escaped(name);
            let _written = if above == *below {
                write!(way, "<li aria-current=\"page\">{name}</li>")
            } else {
                let address = self.address("list", &above, "");
                write!(way, "<li><a href=\"{address}\">{name}</a></li>")
            };
        }
        way.push_str("</ul></nav>\n");
        way
    }

    /// The page of a file: an HTML file in a frame if `shows`, of any other the button that fetches it.
    pub(super) fn file(
        &self,
        language: Language,
        (below, size): (&ZonePath, u64),
        shows: bool,
    ) -> Response {
        let name = self.name(below);
        let download = language.say("download");
        let download = format!("{download} ({})", human_size(size));
        let mut content = self.head(language, below, &download);
        if shows {
            let foreign = language.say("foreign_frame");
            let address = self.address("content", below, "inline=true");
            let _written = write!(
                content,
                "<p>{foreign}</p><iframe title=\"{}\" sandbox=\"{SANDBOX}\" src=\"{address}\"></iframe>",
                escaped(&name)
            );
        }
        HtmlPage::new(language, &name, &content).answer()
    }

    /// The page that asks for the password.
    pub(super) fn password(&self, language: Language, is_wrong: bool) -> Response {
        let wrong = language.say("wrong_password");
        let wrong = if is_wrong {
            format!("<p class=\"bad\" role=\"alert\">{wrong}</p>")
        } else {
            String::new()
        };
        let about = language.say("password_about");
        let content = format!(
            "<p>{about}</p>{wrong}<form method=\"post\" action=\"{}password\">\
             <label class=\"field\">{}<input type=\"password\" name=\"password\" \
             autocomplete=\"off\" required autofocus></label>\
             <button type=\"submit\">{}</button></form>",
            self.prefix,
            language.say("password"),
            language.say("open")
        );
        let title = language.say("opens_with_password");
        let page = HtmlPage {
            status: StatusCode::UNAUTHORIZED,
            ..HtmlPage::new(language, title, &content)
        };
        page.answer()
    }
}

/// A directory for programs.
pub(super) fn data(below: &ZonePath, entries: &[WalkEntry], more: usize) -> Response {
    let entries = entries.iter().filter_map(|entry| {
        Some(json!({
            "name": entry.path.name()?,
            "type": entry.kind.entry_type(),
            "size": if entry.kind == Kind::Directory { 0 } else { entry.size() },
            "modified": entry.modified(),
        }))
    });
    let entries: Vec<Value> = entries.collect();
    let body = json!({
        "success": true,
        "data": {"path": below.display(), "entries": entries, "more": more},
    });
    unstored(Json(body).into_response())
}

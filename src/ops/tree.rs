//! `shed_tree`: the entries of a directory, drawn as a tree.

use std::fmt::Write;

use fileshed_core::search::Globs;
use fileshed_core::size::human_size;
use fileshed_core::storage::{DiskError, Kind, WalkEntry};
use fileshed_core::text::without_accents;
use fileshed_core::zone::is_git_name;
use fileshed_core::{Hint, Repeat, Zone, ZonePath, ends_soon};

use super::arguments::at_least;
use super::prelude::*;

/// Most entries of one directory that are drawn.
const ENTRIES: usize = 100;

/// Most lines of the whole drawing.
const LINES: usize = 2000;

/// `shed_tree`
pub struct Tree;

/// The directory.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone to list
    #[schema(value_type = AnyZone)]
    zone: String,
    /// Directory
    #[schema(default = ".")]
    path: Option<String>,
    /// Levels, 1 to 10
    #[schema(default = 3)]
    depth: Option<i64>,
    /// Names to leave out
    exclude: Option<Vec<String>>,
    /// For zone group
    group: Option<String>,
}

/// The tree.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// The tree as lines of text, sizes in brackets.
    tree: String,
    /// Levels that are shown at most.
    depth: u64,
    /// Directory at which the tree begins.
    path: String,
    /// Zone that was listed.
    zone: &'static str,
}

impl Operation for Tree {
    const ID: &str = "shed_tree";
    const SUMMARY: &str = "Show a directory tree";
    const DOC: &str = "List the files of a zone with their sizes. shed_tree(zone=\"storage\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH; FileNotFound];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage"}"#,
        r#"{"zone": "storage", "path": "notes", "depth": 1}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("tree")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let text = request.path.as_deref().unwrap_or(".");
        let path = zone.path("path", text).map_err(|error| {
            match whole_zone(text).filter(|_| error.code() == Code::PathStartsWithZone) {
                Some(named) => error.with_hint(
                    Hint::new("paths are already inside the zone: ")
                        .again(Repeat::with("zone", named.as_str()).and_without("path")),
                ),
                None => error,
            }
        })?;
        let depth = at_least("depth", request.depth, 0, "1 to 10")?.unwrap_or(3);
        let depth = depth.clamp(1, 10);
        let exclude = request.exclude.as_deref().unwrap_or_default();
        let mut drawing = Drawing {
            zone: &zone,
            start: &path,
            exclude: Globs::new("exclude", exclude.iter().map(String::as_str))?,
            text: format!("{path}\n"),
            lines: 0,
            most: core.store.settings.output_of(caller.client) as usize,
        };
        drawing.directory(&path, "", depth)?;
        let mut said = format!("Tree of {path}");
        if let Some(end) = ends_soon(&zone)? {
            let day = end.strftime("%F");
            let _ = write!(
                said,
                "; these uploads are removed on {day}: move the files to keep"
            );
        }
        let response = Response {
            tree: drawing.text.trim_end().to_owned(),
            depth,
            path: path.display().to_owned(),
            zone: zone.name.as_str(),
        };
        Ok(Reply::new(response, said))
    }
}

struct Drawing<'a> {
    zone: &'a Zone<'a>,
    start: &'a ZonePath,
    /// Entries that are not drawn.
    exclude: Globs,
    text: String,
    lines: usize,
    /// Bytes that an answer may have.
    most: usize,
}

impl Drawing<'_> {
    fn directory(&mut self, path: &ZonePath, indent: &str, depth: u64) -> Result<(), Error> {
        let (entries, more) = self
            .entries(path)
            .map_err(|error| self.zone.explain_disk(error))?;
        let last = entries.len() + usize::from(more > 0);
        for (place, entry) in (1..).zip(&entries) {
            let (branch, below) = branches(place == last);
            self.line(&format!("{indent}{branch}{}", label(entry)));
            if entry.kind == Kind::Directory && depth > 1 && self.lines < LINES {
                let inside = format!("{indent}{below}");
                match self.directory(&entry.path, &inside, depth - 1) {
                    Err(error) if error.code() == Code::PermissionDenied => {
                        self.line(&format!("{inside}└── ... belongs to another account"));
                    }
                    // Gone since it was listed.
                    Err(error) if error.code() == Code::FileNotFound => {}
                    other => other?,
                }
            }
        }
        if more > 0 {
            self.line(&format!("{indent}└── ... and {more} more items"));
        }
        Ok(())
    }

    /// The entries of a directory that are drawn, directories first, and how many more there are. The
    /// state of these others is not asked for.
    fn entries(&self, path: &ZonePath) -> Result<(Vec<WalkEntry>, usize), DiskError> {
        let directory = self.zone.data.hold(path)?;
        let mut names = directory.names()?;
        if self.zone.name.is_versioned() {
            names.retain(|(name, _)| !is_git_name(name));
        }
        names.retain(|(name, _)| {
            let below = || path.join(name).below(self.start).to_owned();
            !self.exclude.fit(name, below)
        });
        names.sort_by_cached_key(|(name, kind)| {
            let is_file = *kind != Kind::Directory;
            (is_file, without_accents(name), name.clone())
        });
        let more = names.len().saturating_sub(ENTRIES);
        names.truncate(ENTRIES);
        let looked = names.iter().map(|(name, _)| directory.look(name));
        let entries = looked.filter_map(Result::transpose);
        Ok((entries.collect::<Result<_, _>>()?, more))
    }

    fn line(&mut self, line: &str) {
        if self.lines < LINES && self.text.len() + line.len() > self.most {
            self.lines = LINES;
        }
        self.lines += 1;
        if self.lines <= LINES {
            let _written = writeln!(self.text, "{line}");
        } else if self.lines == LINES + 1 {
            self.text.push_str("... cut here: ask for a path below\n");
        }
    }
}

/// Returns the zone if a path names a zone alone. Never the zone of groups, because the group is unknown.
fn whole_zone(text: &str) -> Option<ZoneName> {
    let (named, inside) = ZonePath::parse("path", text).ok()?.zone_in_front()?;
    (inside.is_root() && named != ZoneName::Group).then_some(named)
}

fn branches(last: bool) -> (&'static str, &'static str) {
    if last {
        ("└── ", "    ")
    } else {
        ("├── ", "│   ")
    }
}

fn label(entry: &WalkEntry) -> String {
    let name = entry.path.name().unwrap_or_default();
    match entry.kind {
        Kind::Directory => format!("{name}/"),
        Kind::File => format!("{name} ({})", human_size(entry.size())),
        Kind::Symlink => format!("{name} (link)"),
        Kind::Special => format!("{name} (special)"),
    }
}

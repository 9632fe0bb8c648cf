//! `GET /skills`: instructions that a user or a group keeps for models, one directory each.
//!
//! A skill is a `SKILL.md` with a name and a description in front, as other agents write them. They
//! are looked for in the home and in the user's groups; of two with one name the home's counts, then
//! the group's that comes first.

use std::collections::HashSet;

use axum::http::Method;
use fileshed_core::storage::Kind;
use fileshed_core::view::{HOME, View, ViewPath};
use fileshed_core::{Error, Zone, ZonePath};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;
use front_matter::FrontMatter;

mod front_matter;
pub(in crate::http::terminal) mod read;

/// Where they lie, below a home or a group.
const DIRECTORY: &str = ".agents/skills";

/// The file of each.
const FILE: &str = "SKILL.md";

/// Most that is read of one.
const BYTES_MAX: u64 = 256 * 1024;

/// Directories that are looked into at one place.
const SKILLS_MAX: usize = 200;

/// Characters of a description: it is in every prompt.
const DESCRIPTION_MAX: usize = 1024;

/// What ids have percent-encoded, as Open WebUI makes them of names.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `GET /skills`
pub(in crate::http::terminal) struct ListSkills;

/// What it takes: nothing.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

/// What a model knows of a skill before it reads it.
#[derive(Clone, Debug, Serialize)]
pub(in crate::http::terminal) struct Skill {
    id: String,
    name: String,
    description: String,
    /// The path of its file in the tree.
    location: String,
    /// Whose it is: `global` for the user's own, else the name of the group.
    scope: String,
}

impl Endpoint for ListSkills {
    const ID: &'static str = "list_skills";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/skills";
    type Request = Request;
    type Response = Vec<Skill>;

    fn run(view: View<'_>, _request: Request) -> Result<Vec<Skill>, Error> {
        Ok(all(view))
    }
}

/// Every skill of the caller.
fn all(view: View<'_>) -> Vec<Skill> {
    let mut places = vec![("global".to_owned(), HOME.to_owned())];
    // Who cannot be asked for groups must not hide the user's own.
    let groups = view.groups().unwrap_or_default().into_iter();
    places.extend(groups.map(|name| (name.clone(), format!("/groups/{name}"))));
    let (mut skills, mut names) = (Vec::new(), HashSet::new());
    for (scope, place) in places {
        let Ok(found) = at(view, &scope, &place) else {
            // What cannot be looked into has none, and the others count.
            continue;
        };
        let found = found.into_iter();
        skills.extend(found.filter(|skill| names.insert(skill.name.clone())));
    }
    skills
}

/// Those at one place, by the names of their directories.
fn at(view: View<'_>, scope: &str, place: &str) -> Result<Vec<Skill>, Error> {
    let path = ViewPath::parse("path", &format!("{place}/{DIRECTORY}"), &ViewPath::home())?;
    let (zone, directory) = view.zone("path", &path)?;
    let Ok(mut found) = zone.data().list(&directory) else {
        return Ok(Vec::new());
    };
    found.retain(|found| found.kind == Kind::Directory);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let skills = found.iter().take(SKILLS_MAX).filter_map(|found| {
        let name = found.path.name().filter(|name| !name.starts_with('.'))?;
        let file = directory.join(name).join(FILE);
        let text = text(&zone, &file)?;
        let (front, _) = FrontMatter::split(&text);
        let description: String = front.description?.chars().take(DESCRIPTION_MAX).collect();
        let name = front.name.unwrap_or_else(|| name.to_owned());
        Some(Skill {
            id: format!("terminal:{}", utf8_percent_encode(&name, RESERVED)),
            name,
            description,
            location: path.join(found.path.name()?).join(FILE).as_str().to_owned(),
            scope: scope.to_owned(),
        })
    });
    Ok(skills.collect())
}

/// The text of a file, if it is a small one.
fn text(zone: &Zone<'_>, path: &ZonePath) -> Option<String> {
    let entry = zone.data().followed(path).ok()?;
    if entry.kind() != Kind::File || entry.size() > BYTES_MAX {
        return None;
    }
    String::from_utf8(entry.content().ok()?).ok()
}

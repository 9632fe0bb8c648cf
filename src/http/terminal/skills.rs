//! `GET /skills`: instructions that a user or a group keeps for models, one directory each.
//!
//! A skill is a `SKILL.md` with a name and a description in its front matter, as other agents write them.
//! They are looked for in the home and in the user's groups. Of several with the same name, the one of
//! the home counts, else the one of the first group.

use std::collections::HashSet;

use fileshed_core::storage::Kind;
use fileshed_core::view::{HOME, ViewPath};
use fileshed_core::{CallerView, Error, Zone, ZonePath, diagnostics};
use percent_encoding::utf8_percent_encode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::front_matter::FrontMatter;
use crate::http::header::UNRESERVED;

mod front_matter;

/// Directory of skills below a home or a group.
const DIRECTORY: &str = ".agents/skills";

/// Name of a skill's file.
const FILE: &str = "SKILL.md";

/// Most bytes of a skill's file.
const BYTES_MAX: u64 = 256 * 1024;

/// Most directories that are read in one home or group.
const SKILLS_MAX: usize = 200;

/// Most characters of a description, which is in every prompt.
const DESCRIPTION_MAX: usize = 1024;

/// Summary of a skill for a model that has not read it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Skill {
    id: String,
    name: String,
    description: String,
    /// The path of its file in the tree.
    location: String,
    /// Its owner: `global` for the user's own, else the name of the group.
    scope: String,
}

/// Every skill of the caller.
pub(super) fn all(view: CallerView<'_>) -> Vec<Skill> {
    let mut places = vec![("global".to_owned(), HOME.to_owned())];
    // A failed lookup of the groups must not hide the user's own skills.
    let groups = view.groups().unwrap_or_default().into_iter();
    places.extend(groups.map(|name| (name.clone(), format!("/groups/{name}"))));
    let (mut skills, mut names) = (Vec::new(), HashSet::new());
    for (scope, place) in places {
        // A directory that cannot be read counts as empty.
        let found = at(view, &scope, &place).into_iter().flatten();
        skills.extend(found.filter(|skill| names.insert(skill.name.clone())));
    }
    skills
}

/// Returns the skills of one home or group, ordered by the names of their directories.
fn at(view: CallerView<'_>, scope: &str, place: &str) -> Option<Vec<Skill>> {
    let place = format!("{place}/{DIRECTORY}");
    let path = ViewPath::parse("path", &place, &ViewPath::home()).ok()?;
    let (zone, directory) = view.zone("path", &path).ok()?;
    let mut found = zone.data.list(&directory).ok()?;
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
            id: format!("terminal:{}", utf8_percent_encode(&name, UNRESERVED)),
            name,
            description,
            location: path.join(found.path.name()?).join(FILE).as_str().to_owned(),
            scope: scope.to_owned(),
        })
    });
    Some(skills.collect())
}

/// Returns the text of a file; `None` if it is too large or cannot be read as text.
fn text(zone: &Zone<'_>, path: &ZonePath) -> Option<String> {
    let entry = zone.data.followed(path).ok()?;
    if entry.kind() != Kind::File || entry.size() > BYTES_MAX {
        return None;
    }
    String::from_utf8(entry.content().ok()?).ok()
}

/// Depth to which files of a skill are looked for.
const DEPTH_MAX: usize = 4;

/// Most files of a skill that are listed.
const RESOURCES_MAX: usize = 50;

/// Skill to read.
#[derive(Deserialize, ToSchema)]
pub(super) struct ReadSkillRequest {
    /// Name of the skill.
    name: String,
}

/// A skill.
#[derive(Serialize)]
pub(super) struct ReadSkillResponse {
    #[serde(flatten)]
    skill: Skill,
    /// Paths of its other files, beside its own.
    resources: Vec<String>,
    /// Text of the skill, without its front matter.
    content: String,
}

/// `GET /skills/read`
pub(super) fn read(
    view: CallerView<'_>,
    request: &ReadSkillRequest,
) -> Result<ReadSkillResponse, Error> {
    let mut skills = all(view).into_iter();
    let unknown = || UnknownSkill {
        name: request.name.chars().take(100).collect(),
    };
    let found = skills.find(|skill| skill.name == request.name);
    let skill = found.ok_or_else(unknown)?;
    let path = ViewPath::parse("path", &skill.location, &ViewPath::home())?;
    let (zone, file) = view.zone("path", &path)?;
    let text = text(&zone, &file).ok_or_else(unknown)?;
    let content = FrontMatter::split(&text).1.to_owned();
    let mut resources = Vec::new();
    if let Some(directory) = file.parent() {
        collect(&zone, &directory, ("", DEPTH_MAX), &mut resources);
    }
    Ok(ReadSkillResponse {
        skill,
        resources,
        content,
    })
}

/// The files below a directory, named as from the top of the skill.
fn collect(
    zone: &Zone<'_>,
    directory: &ZonePath,
    (prefix, depth): (&str, usize),
    resources: &mut Vec<String>,
) {
    let Ok(mut found) = zone.data.list(directory) else {
        return;
    };
    found.sort_by(|one, other| one.path.cmp(&other.path));
    for found in found {
        let name = found.path.name().unwrap_or_default();
        if resources.len() >= RESOURCES_MAX {
            return;
        }
        if name.starts_with('.') || (prefix.is_empty() && name == FILE) {
            continue;
        }
        match found.kind {
            Kind::File => resources.push(format!("{prefix}{name}")),
            Kind::Directory if depth > 1 => {
                let below = (&*format!("{prefix}{name}/"), depth - 1);
                collect(zone, &directory.join(name), below, resources);
            }
            Kind::Directory | Kind::Symlink | Kind::Special => {}
        }
    }
}

diagnostics! {
    /// There is no skill of the name.
    #[derive(Debug, thiserror::Error)]
    #[error("there is no skill `{name}`")]
    struct UnknownSkill { name: String = "weekly report".to_owned() } => {
        code: FileNotFound,
        hint: "each skill is a directory in /storage/.agents/skills with a SKILL.md",
    }
}

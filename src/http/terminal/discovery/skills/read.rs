//! `GET /skills/read`: one skill, and what lies beside it.

use axum::http::Method;
use fileshed_core::storage::Kind;
use fileshed_core::view::{View, ViewPath};
use fileshed_core::{Error, Zone, ZonePath, diagnostics};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Skill;
use super::front_matter::FrontMatter;
use crate::http::terminal::endpoint::Endpoint;

/// How deep files of a skill are looked for.
const DEPTH_MAX: usize = 4;

/// Files of a skill that are named.
const RESOURCES_MAX: usize = 50;

/// `GET /skills/read`
pub(in crate::http::terminal) struct ReadSkill;

/// What it takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Name of the skill.
    name: String,
}

/// A skill.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    #[serde(flatten)]
    skill: Skill,
    /// Paths of its other files, beside its own.
    resources: Vec<String>,
    /// What it says, without what stands in front.
    content: String,
}

impl Endpoint for ReadSkill {
    const ID: &'static str = "read_skill";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/skills/read";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let mut skills = super::all(view).into_iter();
        let unknown = || SkillError::Unknown {
            name: request.name.chars().take(100).collect(),
        };
        let found = skills.find(|skill| skill.name == request.name);
        let skill = found.ok_or_else(unknown)?;
        let path = ViewPath::parse("path", &skill.location, &ViewPath::home())?;
        let (zone, file) = view.zone("path", &path)?;
        let text = super::text(&zone, &file).ok_or_else(unknown)?;
        let content = FrontMatter::split(&text).1.to_owned();
        let mut resources = Vec::new();
        if let Some(directory) = file.parent() {
            collect(&zone, &directory, ("", DEPTH_MAX), &mut resources);
        }
        Ok(Response {
            skill,
            resources,
            content,
        })
    }
}

/// The files below a directory, named as from the top of the skill.
fn collect(
    zone: &Zone<'_>,
    directory: &ZonePath,
    (prefix, depth): (&str, usize),
    resources: &mut Vec<String>,
) {
    let Ok(mut found) = zone.data().list(directory) else {
        return;
    };
    found.sort_by(|one, other| one.path.cmp(&other.path));
    for found in found {
        let name = found.path.name().unwrap_or_default();
        if resources.len() >= RESOURCES_MAX {
            return;
        }
        if name.starts_with('.') || (prefix.is_empty() && name == super::FILE) {
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
    /// A skill that cannot be read.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum SkillError {
        /// There is none of the name.
        #[error("there is no skill `{name}`")]
        Unknown { name: String = "weekly report".to_owned() } => {
            code: FileNotFound,
            hint: "each has a directory in /storage/.agents/skills with a SKILL.md",
        },
    }
}

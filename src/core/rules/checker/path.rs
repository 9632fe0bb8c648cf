//! What a word names: a path, held to the zone, or an address.

use super::Checker;
use crate::error::CommandError;
use crate::path::{self, PathFault};
use crate::plan::PathArgument;
use crate::text;
use fileshed_types::Hint;

impl Checker<'_> {
    /// A path; answers with the name to use when `.` stands for the file being edited.
    pub(super) fn path(
        &mut self,
        value: &str,
        whole: &str,
        alone: bool,
        writes: bool,
    ) -> Result<Option<String>, CommandError> {
        if value == "-" || value == "/dev/null" {
            return Ok(None);
        }
        if value.is_empty() {
            return Err(self.refuse(whole, "a path is empty; the zone itself is `.`"));
        }
        if value == "~" || value.starts_with("~/") {
            return Err(self.refuse_with(
                whole,
                "no shell runs here, so `~` is no home directory",
                "paths in `args` are relative to the zone",
            ));
        }
        if let Some(scheme) = text::scheme(value) {
            return Err(self.refuse_with(
                whole,
                format!("an address (`{scheme}`) stands where a file of the zone is expected"),
                self.download_hint(value),
            ));
        }
        self.path_characters(value, whole)?;
        let normal = self.inside(value, whole)?;
        if writes && self.context.zone.is_versioned() && path::repository(value) {
            return Err(CommandError::Protected(Box::new(
                self.refusal(
                    whole,
                    "the repository is written by the server alone",
                    Hint::from(
                        "leave `.git` out of `args`; the server commits every change by itself",
                    )
                    .or("")
                    .call(text::call(self.context, "git", &["log".to_owned()]))
                    .say(" shows the history"),
                ),
            )));
        }
        if let Some(edited) = self.context.file_being_edited {
            let name = edited.rsplit('/').next().unwrap_or(edited);
            return self
                .edited(value, &normal, whole, alone, writes, name)
                .map(Some);
        }
        if !self.context.allow_zone_in_path
            && path::without_zone(&normal, self.context.zone.as_str()).is_some()
        {
            return Err(CommandError::StartsWithZone(Box::new(self.refusal(
                whole,
                "paths are relative to the zone",
                Hint::new("paths in `args` are already inside the zone").or(
                    "a folder that really has its name is reached with allow_zone_in_path=true",
                ),
            ))));
        }
        self.note(normal, writes, alone, whole);
        Ok(None)
    }

    /// The same for a locked edit, where one file is in reach.
    fn edited(
        &mut self,
        value: &str,
        normal: &str,
        whole: &str,
        alone: bool,
        writes: bool,
        name: &str,
    ) -> Result<String, CommandError> {
        if normal != "." && normal != name {
            return Err(self.refuse_with(
                whole,
                "only the file being edited is in reach",
                Hint::from(format!("in `args`, \".\" is `{name}`"))
                    .or("shed_exec works on other files"),
            ));
        }
        self.note(name.to_owned(), writes, alone, whole);
        if let Some(noted) = self.paths.last_mut() {
            noted.glob = false;
        }
        Ok(match normal {
            "." if name.starts_with('-') => format!("./{name}"),
            "." => name.to_owned(),
            _ => value.to_owned(),
        })
    }

    fn note(&mut self, normal: String, writes: bool, alone: bool, by: &str) {
        if writes {
            self.changes(by);
        }
        self.paths.push(PathArgument {
            glob: path::glob(&normal),
            text: normal,
            writes,
            position: alone.then_some(self.args.len()),
        });
    }

    /// Holds a text to the zone, wherever it leads.
    pub(super) fn inside(&self, value: &str, whole: &str) -> Result<String, CommandError> {
        if path::reserved(value) {
            return Err(CommandError::Protected(Box::new(self.refusal(
                whole,
                "`.lfsig` and `.fs_pepper` are kept for the server",
                "use another name in `args`",
            ))));
        }
        path::normalise(value).map_err(|outside| {
            let (reason, hint) = match outside {
                PathFault::Absolute => (
                    "it is absolute",
                    "paths in `args` are relative to the zone: name what is in it",
                ),
                PathFault::Climbs => (
                    "`..` climbs above the root of the zone",
                    "stay inside the zone; another one is named in `zone`",
                ),
            };
            CommandError::Escape(Box::new(self.refusal(whole, reason, hint)))
        })
    }

    fn path_characters(&self, word: &str, whole: &str) -> Result<(), CommandError> {
        if self.context.confined {
            self.refuse_shell(text::operator_in_path(word), whole)
        } else {
            self.plain(word, whole)
        }
    }

    /// Data of a request: `@file` and `name=@file` read a file.
    pub(super) fn data(&mut self, value: &str, whole: &str) -> Result<(), CommandError> {
        let content = value.split_once('=').map_or(value, |(_, content)| content);
        let file = [value, content]
            .into_iter()
            .find_map(|part| part.strip_prefix(['@', '<']));
        match file {
            Some(file) => {
                let file = file.split(';').next().unwrap_or(file);
                self.path(file, whole, false, false).map(|_| ())
            }
            None => self.expression(value, whole),
        }
    }

    /// What is fetched: http or https, and a host.
    pub(super) fn address(&self, word: &str) -> Result<(), CommandError> {
        let known = match word.split_once(':') {
            Some((scheme, rest)) if rest.starts_with("//") => {
                let scheme = scheme.to_ascii_lowercase();
                scheme == "http" || scheme == "https"
            }
            Some((scheme, _)) => !matches!(
                scheme.to_ascii_lowercase().as_str(),
                "file" | "data" | "dict" | "gopher"
            ),
            None => true,
        };
        if !known || word.starts_with('/') {
            return Err(self.refuse(word, "only http:// and https:// addresses are fetched"));
        }
        if !(self.context.confined && text::only_ampersand(word)) {
            self.plain(word, word)?;
        }
        Ok(())
    }
}

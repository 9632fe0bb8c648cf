//! Files and addresses that words name, held to the zone.

use super::Checker;
use crate::error::CommandError;
use crate::plan::{ArchiveArgument, PathArgument};
use crate::syntax::ArgumentRole;
use crate::text;
use fileshed_types::Hint;
use fileshed_types::zone::{ZoneName, is_git_name, is_reserved};

impl Checker<'_> {
    /// Checks the file that a value of this role names. Returns the name to use if `.` stands for the
    /// file being edited.
    pub(super) fn file(
        &mut self,
        role: ArgumentRole,
        prefix: &str,
        value: &str,
        whole: &str,
    ) -> Result<Option<String>, CommandError> {
        let mut writes = matches!(role, ArgumentRole::Write | ArgumentRole::NewArchive);
        if role == ArgumentRole::Database {
            let scheme = value.get(..5).unwrap_or_default();
            if scheme.eq_ignore_ascii_case("file:") {
                return Err(self.refuse_with(
                    whole,
                    "the address (`file:`) is not the path of a database",
                    "name the database itself in `args`, for instance `data.db`",
                ));
            }
            writes = self.context.zone != ZoneName::Uploads;
            if !writes {
                self.fixed("-readonly");
            }
        }
        let chosen = self.path(value, whole, prefix.is_empty(), writes)?;
        if matches!(role, ArgumentRole::Archive | ArgumentRole::NewArchive) {
            self.archive = Some(ArchiveArgument {
                position: self.args.len(),
                prefix: prefix.to_owned(),
                path: value.to_owned(),
                creates: writes,
                compression: None,
            });
        }
        Ok(chosen)
    }

    /// Checks a path. Returns the name to use if `.` stands for the file being edited.
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
                format!("the address (`{scheme}`) is not the path of a file of the zone"),
                self.download_hint(value),
            ));
        }
        self.expect_no_shell(value, whole, text::operator_in_path)?;
        let mut normal = self.inside(value, whole)?;
        // Other operating systems read more spellings as the name of the repository.
        if writes && self.context.zone.is_versioned() && value.split('/').any(is_git_name) {
            return Err(self.fault(
                CommandError::Protected,
                whole,
                "only the server writes the repository",
                Hint::from("leave `.git` out of `args`; the server commits every change by itself")
                    .or("")
                    .call(text::call(self.context, "git", &["log".to_owned()]))
                    .say(" shows the history"),
            ));
        }
        let zone = self.context.zone.as_str();
        let mut chosen = None;
        if let Some(edited) = self.context.file_being_edited {
            let name = edited.rsplit('/').next().unwrap_or(edited);
            if normal != "." && normal != name {
                return Err(self.refuse_with(
                    whole,
                    "only the file being edited can be used",
                    Hint::from(format!("in `args`, \".\" is `{name}`"))
                        .or("shed_exec works on other files"),
                ));
            }
            chosen = Some(match normal.as_str() {
                "." if name.starts_with('-') => format!("./{name}"),
                "." => name.to_owned(),
                _ => value.to_owned(),
            });
            name.clone_into(&mut normal);
        } else if !self.context.allow_zone_in_path && text::without_zone(&normal, zone).is_some() {
            return Err(self.fault(
                CommandError::StartsWithZone,
                whole,
                "paths are relative to the zone",
                Hint::new("paths in `args` are already inside the zone")
                    .or("for a folder that has the name of the zone, add allow_zone_in_path=true"),
            ));
        }
        if writes {
            self.changes(whole);
        }
        self.paths.push(PathArgument {
            glob: chosen.is_none() && normal.contains(['*', '?']),
            text: normal,
            writes,
            position: alone.then_some(self.args.len()),
        });
        Ok(chosen)
    }

    /// Holds a text to the zone, wherever it leads.
    pub(super) fn inside(&self, value: &str, whole: &str) -> Result<String, CommandError> {
        if value.split('/').any(is_reserved) {
            return Err(self.fault(
                CommandError::Protected,
                whole,
                "`.lfsig` and `.fs_pepper` are reserved for the server",
                "use another name in `args`",
            ));
        }
        text::normalise(value).ok_or_else(|| {
            let (reason, hint) = if value.starts_with('/') {
                (
                    "it is absolute",
                    "paths in `args` are relative to the zone: name a file or directory in it",
                )
            } else {
                (
                    "`..` leads above the root of the zone",
                    "stay inside the zone; name another one in `zone`",
                )
            };
            self.fault(CommandError::Escape, whole, reason, hint)
        })
    }

    /// Checks data of a request: `@file` and `name=@file` read a file.
    pub(super) fn data(&mut self, value: &str, whole: &str) -> Result<(), CommandError> {
        let content = value.split_once('=').map_or(value, |(_, content)| content);
        let file = [value, content]
            .into_iter()
            .find_map(|part| part.strip_prefix(['@', '<']));
        match file {
            Some(file) => {
                let file = file.split(';').next().unwrap_or(file);
                self.path(file, whole, false, false).map(drop)
            }
            None => self.expression(value, whole),
        }
    }

    /// Checks what is fetched: http or https, and a host.
    pub(super) fn address(&self, word: &str) -> Result<(), CommandError> {
        let is_known = word.split_once(':').is_none_or(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            if rest.starts_with("//") {
                scheme == "http" || scheme == "https"
            } else {
                !matches!(scheme.as_str(), "file" | "data" | "dict" | "gopher")
            }
        });
        if !is_known || word.starts_with('/') {
            return Err(self.refuse(word, "only http:// and https:// addresses are fetched"));
        }
        self.expect_no_shell(word, word, |word| {
            text::operator(word).filter(|_| !text::only_ampersand(word))
        })
    }
}

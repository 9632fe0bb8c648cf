//! Gives each word its role, holds paths to the zone, and makes the plan.

use super::error::CommandError;
use super::growth::growth;
use super::path::{self, PathFault};
use super::rule::CommandRule;
use super::syntax::{ArgumentRole, OptionEffect, Syntax};
use super::tokenizer::{OptionFault, Token, TokenizedLine, tokenize};
use super::{
    ArchiveArgument, CommandContext, CommandPlan, PathArgument, RenameArguments, ZoneName, script,
    text,
};
use super::{curl, exiftool, ffmpeg, find, git, magick, pandoc, pdf, rename, sevenzip, tar};
use fileshed_types::Hint;

/// A command line on its way to a plan.
pub(super) struct Checker<'a> {
    pub(super) context: &'a CommandContext<'a>,
    pub(super) rule: &'static CommandRule,
    pub(super) args: Vec<String>,
    paths: Vec<PathArgument>,
    changed_by: Option<String>,
    pub(super) network: bool,
    pub(super) archive: Option<ArchiveArgument>,
    pub(super) renaming: Option<RenameArguments>,
    pdf: Option<String>,
    pub(super) environment: Vec<(&'static str, &'static str)>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(rule: &'static CommandRule, context: &'a CommandContext<'a>) -> Self {
        Self {
            context,
            rule,
            args: rule
                .fixed
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
            paths: Vec::new(),
            changed_by: None,
            network: rule.network,
            archive: None,
            renaming: None,
            pdf: None,
            environment: rule.environment.clone(),
        }
    }

    pub(super) fn command_line(&mut self, args: &[String]) -> Result<(), CommandError> {
        let read = match self.rule.name {
            "7z" | "7za" => sevenzip::read,
            "convert" => magick::convert,
            "curl" => curl::curl,
            "exiftool" => exiftool::read,
            "ffmpeg" => ffmpeg::ffmpeg,
            "ffprobe" => ffmpeg::ffprobe,
            "find" => find::read,
            "git" => git::arguments,
            "identify" => magick::identify,
            "magick" => magick::magick,
            "pandoc" => pandoc::read,
            "pdfimages" | "pdftoppm" => pdf::pictures,
            "pdftotext" => pdf::text,
            "rename" => rename::arguments,
            "tar" => tar::read,
            "wget" => curl::wget,
            _ if self.rule.plain => plain_words,
            _ => options_and_operands,
        };
        read(self, args)
    }

    pub(super) fn finish(self) -> Result<CommandPlan, CommandError> {
        if self.context.zone == ZoneName::Uploads
            && let Some(argument) = &self.changed_by
        {
            return Err(self.readonly(argument));
        }
        Ok(CommandPlan {
            command: self.rule.name,
            growth: growth(self.rule.name, &self.args),
            args: self.args,
            paths: self.paths,
            changes: self.changed_by.is_some(),
            network: self.network,
            archive: self.archive,
            renaming: self.renaming,
            pdf: self.pdf,
            environment: self.environment,
        })
    }

    pub(super) fn tokenize<'w>(
        &self,
        syntax: &'static Syntax,
        args: &'w [String],
    ) -> Result<TokenizedLine<'w>, CommandError> {
        tokenize(syntax, args)
            .map_err(|OptionFault { argument, reason }| self.refuse(argument, reason))
    }

    /// Checks what was read.
    pub(super) fn check_line(
        &mut self,
        syntax: &Syntax,
        line: &TokenizedLine<'_>,
    ) -> Result<(), CommandError> {
        let (in_place, to_stdout) = (
            line.has(OptionEffect::InPlace),
            line.has(OptionEffect::ToStdout),
        );
        if (syntax.changes && !to_stdout) || line.has(OptionEffect::Changes) {
            self.changes(self.rule.name);
        }
        let count = line.operands();
        if let Some(option) = line.find(OptionEffect::InPlace)
            && count > 0
        {
            self.changes(&option.shown());
        }
        let mut index = 0;
        for token in &line.tokens {
            match *token {
                Token::Switch(word) => self.switch(word)?,
                Token::Value { prefix, text, role } => self.value(role, prefix, text)?,
                Token::Operand(word) => {
                    let role = match operand_role(syntax, line, index, count) {
                        ArgumentRole::Read | ArgumentRole::AwkOperand if in_place => {
                            ArgumentRole::Write
                        }
                        ArgumentRole::Write if to_stdout => ArgumentRole::Read,
                        role => role,
                    };
                    self.operand(role, word)?;
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Notes that the zone may change, and by what.
    pub(super) fn changes(&mut self, by: &str) {
        self.changed_by.get_or_insert_with(|| by.to_owned());
    }

    /// An argument of the rule itself.
    pub(super) fn fixed(&mut self, word: &str) {
        self.args.push(word.to_owned());
    }

    /// A word that is neither a value nor an operand.
    pub(super) fn switch(&mut self, word: &str) -> Result<(), CommandError> {
        self.plain(word, word)?;
        self.args.push(word.to_owned());
        Ok(())
    }

    /// A PDF that the server makes of what the command writes.
    pub(super) fn printed(&mut self, path: &str) -> Result<(), CommandError> {
        let name = self.path(path, path, false, true)?;
        self.pdf = Some(name.unwrap_or_else(|| path.to_owned()));
        Ok(())
    }

    pub(super) fn operand(&mut self, role: ArgumentRole, word: &str) -> Result<(), CommandError> {
        self.value(role, "", word)
    }

    /// Checks a value, and appends it behind its prefix.
    pub(super) fn value(
        &mut self,
        role: ArgumentRole,
        prefix: &str,
        value: &str,
    ) -> Result<(), CommandError> {
        let whole = format!("{prefix}{value}");
        self.plain(prefix, &whole)?;
        let mut chosen = None;
        match role {
            ArgumentRole::Word => self.plain(value, &whole)?,
            ArgumentRole::Expression | ArgumentRole::Delimiter => self.expression(value, &whole)?,
            ArgumentRole::Awk
            | ArgumentRole::Sed
            | ArgumentRole::Dc
            | ArgumentRole::Filter
            | ArgumentRole::Sql
            | ArgumentRole::Substitution => {
                self.expression(value, &whole)?;
                script::check(role, value).map_err(|reason| self.refuse(&whole, reason))?;
            }
            ArgumentRole::Mode | ArgumentRole::Suffix | ArgumentRole::Format => {
                self.plain(value, &whole)?;
                script::check(role, value).map_err(|reason| self.refuse(&whole, reason))?;
            }
            ArgumentRole::Url => super::curl::address(self, value)?,
            ArgumentRole::Data => self.data(value, &whole)?,
            ArgumentRole::Revision | ArgumentRole::Member => {
                self.plain(value, &whole)?;
                self.inside(value, &whole)?;
            }
            ArgumentRole::AwkOperand if assignment(value) => self.expression(value, &whole)?,
            ArgumentRole::Archive | ArgumentRole::NewArchive => {
                let writes = role == ArgumentRole::NewArchive;
                chosen = self.path(value, &whole, prefix.is_empty(), writes)?;
                self.archive = Some(ArchiveArgument {
                    position: self.args.len(),
                    prefix: prefix.to_owned(),
                    path: value.to_owned(),
                    creates: writes,
                    compression: None,
                });
            }
            ArgumentRole::AwkOperand | ArgumentRole::Read | ArgumentRole::Folder => {
                chosen = self.path(value, &whole, prefix.is_empty(), false)?;
            }
            ArgumentRole::Database => {
                if value
                    .get(..5)
                    .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
                {
                    return Err(self.refuse_with(
                        &whole,
                        "an address (`file:`) stands where a database is expected",
                        "name the database itself in `args`, for instance `data.db`",
                    ));
                }
                let writes = self.context.zone != ZoneName::Uploads;
                if !writes {
                    self.fixed("-readonly");
                }
                chosen = self.path(value, &whole, prefix.is_empty(), writes)?;
            }
            ArgumentRole::Write => chosen = self.path(value, &whole, prefix.is_empty(), true)?,
        }
        self.args
            .push(chosen.map_or(whole, |name| format!("{prefix}{name}")));
        Ok(())
    }

    /// A path; answers with the name to use when `.` stands for the file being edited.
    fn path(
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

    /// Holds a word that is text to what the sandbox lets be: shell syntax that it is, or with a
    /// command that is not confined shell characters anywhere.
    pub(super) fn plain(&self, word: &str, whole: &str) -> Result<(), CommandError> {
        let found = if self.context.confined {
            text::operator(word)
        } else {
            text::shell(word)
        };
        self.refuse_shell(found, whole)
    }

    fn refuse_shell(
        &self,
        found: Option<text::ShellSyntax>,
        whole: &str,
    ) -> Result<(), CommandError> {
        match found {
            None => Ok(()),
            Some(shell) => Err(self.refuse_with(
                whole,
                format!("`{}` is shell syntax", shell.token),
                shell.instead.to_owned(),
            )),
        }
    }

    pub(super) fn expression(&self, word: &str, whole: &str) -> Result<(), CommandError> {
        if self.context.confined {
            Ok(())
        } else {
            self.plain(word, whole)
        }
    }

    fn path_characters(&self, word: &str, whole: &str) -> Result<(), CommandError> {
        if self.context.confined {
            self.refuse_shell(text::operator_in_path(word), whole)
        } else {
            self.plain(word, whole)
        }
    }

    /// Data of a request: `@file` and `name=@file` read a file.
    fn data(&mut self, value: &str, whole: &str) -> Result<(), CommandError> {
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
}

/// No options: every word has the role of the operands.
fn plain_words(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let role = checker.rule.syntax.rest;
    args.iter().try_for_each(|word| checker.operand(role, word))
}

/// Options and operands in any order, as GNU's getopt reads them.
fn options_and_operands(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = &checker.rule.syntax;
    let line = checker.tokenize(syntax, args)?;
    checker.check_line(syntax, &line)
}

/// The role of an operand by its place.
fn operand_role(
    syntax: &Syntax,
    line: &TokenizedLine<'_>,
    index: usize,
    count: usize,
) -> ArgumentRole {
    let skip = usize::from(line.has(OptionEffect::TakesFirst));
    let first = syntax.first.get(skip..).unwrap_or_default();
    if let Some(role) = first.get(index) {
        return *role;
    }
    match syntax.last {
        Some(last) if index + 1 == count && !line.has(OptionEffect::TakesLast) => last,
        _ => syntax.rest,
    }
}

/// An awk operand that sets a variable.
fn assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

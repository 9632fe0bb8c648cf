//! Gives each word its role, holds paths to the zone, and makes the plan or words the refusal.

mod path;

use super::error::{CommandError, CommandRefusal};
use super::plan::{ArchiveArgument, CommandContext, CommandPlan, PathArgument, growth};
use super::syntax::{ArgumentRole, CommandRule, OptionEffect, Syntax};
use super::text::{self, ShellSyntax};
use super::tokenizer::{Token, TokenizedLine, tokenize};
use super::{alternatives, script};
use fileshed_types::Hint;
use fileshed_types::zone::ZoneName;

/// A command line on its way to a plan.
pub(super) struct Checker<'a> {
    pub(super) context: &'a CommandContext<'a>,
    pub(super) rule: &'static CommandRule,
    pub(super) args: Vec<String>,
    paths: Vec<PathArgument>,
    destination: Option<String>,
    changed_by: Option<String>,
    pub(super) network: bool,
    pub(super) archive: Option<ArchiveArgument>,
    pdf: Option<String>,
    pub(super) environment: Vec<(&'static str, &'static str)>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(rule: &'static CommandRule, context: &'a CommandContext<'a>) -> Self {
        Self {
            context,
            rule,
            args: rule.fixed.iter().map(ToString::to_string).collect(),
            paths: Vec::new(),
            destination: None,
            changed_by: None,
            network: rule.network,
            archive: None,
            pdf: None,
            environment: rule.environment.clone(),
        }
    }

    pub(super) fn finish(self) -> Result<CommandPlan, CommandError> {
        if self.context.zone == ZoneName::Uploads
            && let Some(argument) = &self.changed_by
        {
            return Err(self.fault(
                CommandError::Readonly,
                argument,
                format!("`{}` writes", text::shown(argument)),
                "files in uploads can only be read; shed_copy copies one to \
                 storage, where it can be changed",
            ));
        }
        Ok(CommandPlan {
            command: self.rule.name,
            growth: growth(self.rule.name, &self.args),
            args: self.args,
            paths: self.paths,
            destination: self.destination,
            changes: self.changed_by.is_some(),
            network: self.network,
            archive: self.archive,
            pdf: self.pdf,
            environment: self.environment,
        })
    }

    pub(super) fn tokenize<'w>(
        &self,
        syntax: &'static Syntax,
        args: &'w [String],
    ) -> Result<TokenizedLine<'w>, CommandError> {
        tokenize(syntax, args).map_err(|(argument, reason)| self.refuse(argument, reason))
    }

    /// Checks what was read.
    pub(super) fn check_line(
        &mut self,
        syntax: &Syntax,
        line: &TokenizedLine<'_>,
    ) -> Result<(), CommandError> {
        let to_stdout = line.has(OptionEffect::ToStdout);
        let in_place = line.find(OptionEffect::InPlace);
        if (syntax.changes && !to_stdout) || line.has(OptionEffect::Changes) {
            self.changes(self.rule.name);
        }
        let count = line.operands();
        if let Some(option) = in_place.filter(|_| count > 0) {
            self.changes(&option.shown());
        }
        let takes_last = line.has(OptionEffect::TakesLast);
        let mut index = 0;
        for token in &line.tokens {
            let known = self.paths.len();
            let mut is_destination = false;
            match *token {
                Token::Switch(word) => self.switch(word)?,
                Token::Value { prefix, text, role } => {
                    self.value(role, prefix, text)?;
                    is_destination = takes_last;
                }
                Token::Operand(word) => {
                    let role = match operand_role(syntax, line, index, count) {
                        ArgumentRole::Read | ArgumentRole::AwkOperand if in_place.is_some() => {
                            ArgumentRole::Write
                        }
                        ArgumentRole::Write if to_stdout => ArgumentRole::Read,
                        role => role,
                    };
                    self.operand(role, word)?;
                    index += 1;
                    is_destination = index == count && !takes_last;
                }
            }
            if let Some(path) = self.paths.get(known).filter(|_| is_destination) {
                self.destination = Some(path.text.clone());
            }
        }
        Ok(())
    }

    /// Notes that the zone may change, and by what.
    pub(super) fn changes(&mut self, by: &str) {
        self.changed_by.get_or_insert_with(|| by.to_owned());
    }

    /// Adds an argument of the rule itself.
    pub(super) fn fixed(&mut self, word: &str) {
        self.args.push(word.to_owned());
    }

    /// Adds a word that is neither a value nor an operand.
    pub(super) fn switch(&mut self, word: &str) -> Result<(), CommandError> {
        self.expect_no_shell(word, word, text::operator)?;
        self.fixed(word);
        Ok(())
    }

    /// Notes a PDF that the server makes of what the command writes.
    pub(super) fn printed(&mut self, path: &str) -> Result<(), CommandError> {
        let name = self.path(path, path, false, true)?;
        self.pdf = Some(name.unwrap_or_else(|| path.to_owned()));
        Ok(())
    }

    pub(super) fn operand(&mut self, role: ArgumentRole, word: &str) -> Result<(), CommandError> {
        self.value(role, "", word)
    }

    /// Checks a value, and adds it behind its prefix.
    pub(super) fn value(
        &mut self,
        role: ArgumentRole,
        prefix: &str,
        value: &str,
    ) -> Result<(), CommandError> {
        let whole = format!("{prefix}{value}");
        self.expect_no_shell(prefix, &whole, text::operator)?;
        let mut chosen = None;
        match role {
            ArgumentRole::Expression
            | ArgumentRole::Delimiter
            | ArgumentRole::Awk
            | ArgumentRole::Sed
            | ArgumentRole::Dc
            | ArgumentRole::Filter
            | ArgumentRole::Sql
            | ArgumentRole::Substitution => self.expression(value, &whole)?,
            ArgumentRole::AwkOperand if is_assignment(value) => self.expression(value, &whole)?,
            ArgumentRole::Word
            | ArgumentRole::Mode
            | ArgumentRole::Suffix
            | ArgumentRole::Format => self.expect_no_shell(value, &whole, text::operator)?,
            ArgumentRole::Url => self.address(value)?,
            ArgumentRole::Data => self.data(value, &whole)?,
            ArgumentRole::Revision | ArgumentRole::Member => {
                self.expect_no_shell(value, &whole, text::operator)?;
                self.inside(value, &whole)?;
            }
            ArgumentRole::Archive
            | ArgumentRole::NewArchive
            | ArgumentRole::AwkOperand
            | ArgumentRole::Read
            | ArgumentRole::Folder
            | ArgumentRole::Write
            | ArgumentRole::Database => chosen = self.file(role, prefix, value, &whole)?,
        }
        if let Some(reason) = script::fault(role, value) {
            return Err(self.refuse(&whole, reason));
        }
        self.args
            .push(chosen.map_or(whole, |name| format!("{prefix}{name}")));
        Ok(())
    }

    /// Holds a word that is text to what the sandbox lets be: shell syntax that `is_shell` finds in it,
    /// or with a command that is not confined shell characters anywhere.
    fn expect_no_shell(
        &self,
        word: &str,
        whole: &str,
        is_shell: fn(&str) -> Option<ShellSyntax>,
    ) -> Result<(), CommandError> {
        let found = if self.context.confined {
            is_shell(word)
        } else {
            text::shell(word)
        };
        found.map_or(Ok(()), |(token, instead)| {
            Err(self.refuse_with(
                whole,
                format!("`{token}` is shell syntax"),
                instead.to_owned(),
            ))
        })
    }

    /// Checks a program, a pattern or the like, which may be anything but shell syntax, because the sandbox
    /// confines it.
    fn expression(&self, word: &str, whole: &str) -> Result<(), CommandError> {
        self.expect_no_shell(word, whole, |_| None)
    }

    pub(super) fn refuse(&self, argument: &str, reason: impl Into<String>) -> CommandError {
        self.refuse_with(argument, reason, alternatives::said("@argument"))
    }

    pub(super) fn refuse_with(
        &self,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        self.fault(CommandError::Argument, argument, reason, hint)
    }

    pub(super) fn fault(
        &self,
        kind: fn(Box<CommandRefusal>) -> CommandError,
        argument: &str,
        reason: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> CommandError {
        let (command, context) = (self.rule.name, self.context);
        CommandRefusal::error(kind, command, Some(argument), reason, hint, context)
    }

    pub(super) fn required(&self, reason: &str, hint: &'static str) -> CommandError {
        let (kind, command) = (CommandError::Required, self.rule.name);
        CommandRefusal::error(kind, command, None, reason, hint, self.context)
    }

    pub(super) fn download_hint(&self, address: &str) -> Hint {
        if !alternatives::is_online(self.context) {
            return alternatives::said("@network");
        }
        let args = ["-L", "-o", "download.bin", address].map(str::to_owned);
        Hint::new("download it first: ").call(text::call(self.context, "curl", &args))
    }
}

/// Returns the role of an operand by its place.
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

/// `true` for an awk operand that sets a variable.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

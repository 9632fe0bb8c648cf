//! A rule of the table, and the examples it ships with.

use super::CommandError;
use super::judge::Judge;
use super::role::Syntax;
use crate::Code;

/// A tool with a grammar of its own.
pub(super) type Special =
    fn(&'static CommandRule, &[String], &mut Judge<'_>) -> Result<(), CommandError>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Grammar {
    /// Options and operands in any order, as GNU's getopt reads them.
    Gnu,
    /// No options: every word has the role of the operands.
    Plain,
    /// Read by a function of its own, which may still use the syntax.
    Special(Special),
}

/// What an example shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Runs and changes nothing.
    Reads,
    /// Runs and may change the zone.
    Changes,
    /// Does not run.
    Refused(Code),
}

/// A command line and its verdict in a confined Storage zone, the network at `all`.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The arguments, separated by blanks; single quotes keep blanks together.
    pub line: &'static str,
    /// What the rule says.
    pub verdict: Verdict,
}

impl Example {
    /// The arguments as a caller sends them.
    #[must_use]
    pub fn args(&self) -> Vec<String> {
        words(self.line)
    }
}

/// Splits a line at blanks that no single quotes hold together.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut args, mut current, mut quoted) = (Vec::new(), None::<String>, false);
    for character in line.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                current.get_or_insert_default();
            }
            ' ' if !quoted => args.extend(current.take()),
            other => current.get_or_insert_default().push(other),
        }
    }
    args.extend(current);
    args
}

pub(super) const fn reads(line: &'static str) -> Example {
    Example {
        line,
        verdict: Verdict::Reads,
    }
}

pub(super) const fn changes(line: &'static str) -> Example {
    Example {
        line,
        verdict: Verdict::Changes,
    }
}

pub(super) const fn forbidden(line: &'static str) -> Example {
    Example {
        line,
        verdict: Verdict::Refused(Code::ArgumentForbidden),
    }
}

pub(super) const fn escapes(line: &'static str) -> Example {
    Example {
        line,
        verdict: Verdict::Refused(Code::PathEscape),
    }
}

pub(super) const fn required(line: &'static str) -> Example {
    Example {
        line,
        verdict: Verdict::Refused(Code::ArgumentRequired),
    }
}

/// One command of the whitelist.
#[derive(Clone, Copy, Debug)]
pub struct CommandRule {
    /// The name a caller uses.
    pub name: &'static str,
    /// The program that runs under it, to be found in the system's fixed folders.
    pub program: &'static str,
    /// The Debian package it comes in; empty where the server does it itself.
    pub package: &'static str,
    /// Whether the read-only zone offers it too.
    pub uploads: bool,
    /// Whether it is offered only with the network at `safe` or `all`.
    pub network: bool,
    /// Programs that it starts itself for honest work, by name.
    pub helpers: &'static [&'static str],
    /// Arguments that always come first.
    pub fixed: &'static [&'static str],
    /// Environment beyond the common one.
    pub environment: &'static [(&'static str, &'static str)],
    /// Command lines and what the rule says about them; the first one is shown in hints.
    pub examples: &'static [Example],
    pub(super) grammar: Grammar,
    pub(super) syntax: Syntax,
}

impl CommandRule {
    const fn new(name: &'static str, package: &'static str, uploads: bool, syntax: Syntax) -> Self {
        Self {
            name,
            program: name,
            package,
            uploads,
            network: false,
            helpers: &[],
            fixed: &[],
            environment: &[],
            examples: &[],
            grammar: Grammar::Gnu,
            syntax,
        }
    }

    /// Whether the server does it itself, without a program.
    #[must_use]
    pub const fn is_built_in(&self) -> bool {
        self.package.is_empty()
    }

    /// A command that every zone offers.
    pub(super) const fn everywhere(
        name: &'static str,
        package: &'static str,
        syntax: Syntax,
    ) -> Self {
        Self::new(name, package, true, syntax)
    }

    /// A command that only zones to write in offer.
    pub(super) const fn writable(
        name: &'static str,
        package: &'static str,
        syntax: Syntax,
    ) -> Self {
        Self::new(name, package, false, syntax)
    }

    pub(super) const fn program(mut self, program: &'static str) -> Self {
        self.program = program;
        self
    }

    pub(super) const fn networked(mut self) -> Self {
        self.network = true;
        self
    }

    pub(super) const fn helpers(mut self, helpers: &'static [&'static str]) -> Self {
        self.helpers = helpers;
        self
    }

    pub(super) const fn fixed(mut self, fixed: &'static [&'static str]) -> Self {
        self.fixed = fixed;
        self
    }

    pub(super) const fn environment(
        mut self,
        environment: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.environment = environment;
        self
    }

    pub(super) const fn plain(mut self) -> Self {
        self.grammar = Grammar::Plain;
        self
    }

    pub(super) const fn special(mut self, special: Special) -> Self {
        self.grammar = Grammar::Special(special);
        self
    }

    pub(super) const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.examples = examples;
        self
    }
}

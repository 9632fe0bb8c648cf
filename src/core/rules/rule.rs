//! One command of the whitelist.

use super::syntax::Syntax;

/// One command of the whitelist.
#[derive(Clone, Debug, Default)]
pub struct CommandRule {
    /// The name a caller uses.
    pub name: &'static str,
    /// The program that runs under it, to be found in the system's fixed folders.
    pub program: &'static str,
    /// A program with the same command line that runs if `program` is not installed. It need not refuse
    /// what `own_options` forbid: the kernel alone holds it.
    pub substitute: Option<&'static str>,
    /// Options that `program` takes first, and a substitute does not know.
    pub own_options: Vec<&'static str>,
    /// The Debian package it comes in; empty where the server does it itself.
    pub package: &'static str,
    /// Whether the read-only zone offers it too.
    pub uploads: bool,
    /// Whether it is offered only with the network at `safe` or `all`.
    pub network: bool,
    /// Programs that it starts itself for honest work, by name.
    pub helpers: Vec<&'static str>,
    /// Arguments that always come first.
    pub fixed: Vec<&'static str>,
    /// Environment beyond the common one.
    pub environment: Vec<(&'static str, &'static str)>,
    /// No options: every word has the role of the operands.
    pub(super) plain: bool,
    pub(super) syntax: Syntax,
    /// Words that a tool with a grammar of its own asks for, by the name of their list.
    pub(super) lists: Vec<(&'static str, Vec<&'static str>)>,
    /// Subcommands, or what another mode of the network accepts.
    pub(super) parts: Vec<SyntaxPart>,
}

/// A part of a command with a syntax of its own.
#[derive(Clone, Debug)]
pub(super) struct SyntaxPart {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) fixed: Vec<&'static str>,
    pub(super) syntax: Syntax,
}

impl CommandRule {
    /// Whether the server does it itself, without a program.
    #[must_use]
    pub const fn is_built_in(&self) -> bool {
        self.package.is_empty()
    }

    /// The words of a list.
    pub(super) fn list(&self, name: &str) -> &[&'static str] {
        let found = self.lists.iter().find(|(list, _)| *list == name);
        found.map_or(&[], |(_, words)| words)
    }

    pub(super) fn part(&self, name: &str) -> Option<&SyntaxPart> {
        self.parts.iter().find(|part| part.name == name)
    }
}

//! The rule of a command: the roles of its words, its options, and how they are read.

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};

/// Meaning of a word to the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ArgumentRole {
    /// A number, date, name or text; never a path, and never a word that is shell syntax as a whole.
    #[default]
    Word,
    /// A program, filter or pattern. In a confined command it may contain shell syntax.
    Expression,
    /// A delimiter or a set of characters, like [`ArgumentRole::Expression`].
    Delimiter,
    /// An awk program.
    Awk,
    /// A sed script.
    Sed,
    /// A dc program.
    Dc,
    /// A jq or yq program.
    Filter,
    /// SQL or a dot command of sqlite3.
    Sql,
    /// The `s///` of rename.
    Substitution,
    /// A file mode.
    Mode,
    /// Goes behind a file name: no `/` in it.
    Suffix,
    /// An address that curl or wget fetches.
    Url,
    /// Data of a request, where `@file` reads a file.
    Data,
    /// Words of a repository, or a path that is only looked at: revisions, `HEAD:file`.
    Revision,
    /// A name inside an archive, or a value of unknown meaning: may not lead out, is no file here.
    Member,
    /// A document format of pandoc.
    Format,
    /// An operand of awk: `name=value` or a file.
    AwkOperand,
    /// An archive of tar: read or written as its mode says.
    Archive,
    /// The same, where it is written.
    NewArchive,
    /// The folder tar works in: written when it extracts.
    Folder,
    /// A database: read in Uploads, written elsewhere.
    Database,
    /// A file or folder that is read.
    Read,
    /// A file or folder that is created, changed or removed.
    Write,
}

impl ArgumentRole {
    /// Returns the role of a file that is written, or only read.
    pub(super) const fn of_file(is_written: bool) -> Self {
        if is_written { Self::Write } else { Self::Read }
    }
}

/// The values an option takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum OptionValues {
    Nothing,
    /// In the same word, or the next one.
    One(ArgumentRole),
    /// Only in the same word.
    Glued(ArgumentRole),
    /// The next two words.
    Two(ArgumentRole, ArgumentRole),
    /// All words up to the next option.
    List(ArgumentRole),
}

impl OptionValues {
    /// The role of the value, or of the first of several.
    pub(super) const fn role(self) -> Option<ArgumentRole> {
        match self {
            Self::Nothing => None,
            Self::One(role) | Self::Glued(role) | Self::List(role) | Self::Two(role, _) => {
                Some(role)
            }
        }
    }
}

/// Effect of an option on the rest of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OptionEffect {
    #[serde(skip)]
    Ordinary,
    /// Files that are read are written.
    InPlace,
    /// Files that are written are only read: the result goes to standard output.
    ToStdout,
    /// Stands for the first operand (`grep -e`).
    TakesFirst,
    /// Stands for the last operand (`cp -t`).
    TakesLast,
    /// The zone may change.
    Changes,
    /// Refused, and why.
    #[serde(skip)]
    Refused(&'static str),
}

/// One option of a command.
#[derive(Clone, Debug)]
pub(super) struct OptionRule {
    /// Short names.
    pub(super) letters: String,
    /// Long names without dashes.
    pub(super) names: Vec<&'static str>,
    pub(super) takes: OptionValues,
    pub(super) effect: OptionEffect,
}

impl OptionRule {
    /// The option as one writes it.
    pub(super) fn shown(&self) -> String {
        match (self.letters.chars().next(), self.names.first()) {
            (Some(letter), _) => format!("-{letter}"),
            (None, long) => format!("--{}", long.unwrap_or(&"")),
        }
    }

    /// Returns `true` if this is one of its long names.
    pub(super) fn has(&self, long: &str) -> bool {
        self.names.contains(&long)
    }

    /// Returns the reason if it is refused.
    pub(super) fn refused(&self) -> Option<&'static str> {
        match self.effect {
            OptionEffect::Refused(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Syntax of a command's arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Syntax {
    pub(super) options: Vec<OptionRule>,
    /// Options without a value that are accepted, when no others are.
    pub(super) only: Option<OptionRule>,
    /// Long options have one dash and no bundles.
    pub(super) words: bool,
    /// Roles of the first operands.
    pub(super) first: Vec<ArgumentRole>,
    /// Role of the others.
    pub(super) rest: ArgumentRole,
    /// Role of the last operand, when it differs and is not among the first.
    pub(super) last: Option<ArgumentRole>,
    /// Role of operands behind `--`, for git.
    pub(super) behind: ArgumentRole,
    /// The zone may change whatever the operands are.
    pub(super) changes: bool,
}

impl Syntax {
    /// The option of a long name, as it is.
    pub(super) fn option(&self, name: &str) -> Option<&OptionRule> {
        self.options.iter().find(|option| option.has(name))
    }

    /// The option of a letter.
    pub(super) fn letter(&self, letter: char) -> Option<&OptionRule> {
        self.options
            .iter()
            .find(|option| option.letters.contains(letter))
    }
}

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
    /// `true` if the read-only zone offers it too.
    pub uploads: bool,
    /// `true` if it is offered only with the network at `safe` or `all`.
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
    /// Returns `true` if the server does it itself, without a program.
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

/// The variant of an enum that the table names.
pub(super) fn named<T: Deserialize<'static>>(name: &'static str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<Error>::new(name)).ok()
}

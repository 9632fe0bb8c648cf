//! What words mean: roles, options, and how the words of a command are read.

/// What a word means to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A number, date, name or text; never a path. Nothing that is shell syntax as a whole.
    Word,
    /// A program, filter or pattern. Shell syntax may be its own in a confined command.
    Expression,
    /// A delimiter or a set of characters, like [`Role::Expression`].
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
    /// The `s///` or `y///` of rename.
    Substitution,
    /// A file mode.
    Mode,
    /// Goes behind a file name: no `/` in it.
    Suffix,
    /// What curl or wget fetches.
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

/// The values an option takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    Nothing,
    /// In the same word, or the next one.
    One(Role),
    /// Only in the same word.
    Glued(Role),
    /// The next two words.
    Two(Role, Role),
    /// All words up to the next option.
    List(Role),
}

/// What an option does to the rest of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
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
    Refused(&'static str),
}

/// One option of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opt {
    /// Short names, a character each.
    pub(super) short: &'static str,
    /// Long names without dashes, separated by blanks.
    pub(super) long: &'static str,
    pub(super) takes: Takes,
    pub(super) effect: Effect,
}

impl Opt {
    pub(super) const fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// The option as one writes it.
    pub(super) fn shown(&self) -> String {
        match (
            self.short.chars().next(),
            self.long.split_ascii_whitespace().next(),
        ) {
            (Some(letter), _) => format!("-{letter}"),
            (None, long) => format!("--{}", long.unwrap_or_default()),
        }
    }

    /// Whether this is one of its long names.
    pub(super) fn has(&self, long: &str) -> bool {
        self.long.split_ascii_whitespace().any(|name| name == long)
    }
}

const fn option(short: &'static str, long: &'static str, takes: Takes) -> Opt {
    Opt {
        short,
        long,
        takes,
        effect: Effect::Ordinary,
    }
}

/// An option without a value that does something to the rest.
pub(super) const fn flag(short: &'static str, long: &'static str, effect: Effect) -> Opt {
    option(short, long, Takes::Nothing).effect(effect)
}

/// An option with a value.
pub(super) const fn value(short: &'static str, long: &'static str, role: Role) -> Opt {
    option(short, long, Takes::One(role))
}

/// An option whose value, if any, stands in the same word.
pub(super) const fn glued(short: &'static str, long: &'static str, role: Role) -> Opt {
    option(short, long, Takes::Glued(role))
}

/// An option with two values.
pub(super) const fn two(short: &'static str, long: &'static str, one: Role, two: Role) -> Opt {
    option(short, long, Takes::Two(one, two))
}

/// An option that takes all words up to the next option.
pub(super) const fn list(short: &'static str, long: &'static str, role: Role) -> Opt {
    option(short, long, Takes::List(role))
}

/// An option that is never accepted, and why.
pub(super) const fn refused(short: &'static str, long: &'static str, why: &'static str) -> Opt {
    option(short, long, Takes::Nothing).effect(Effect::Refused(why))
}

/// How the words of a command are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    pub(super) options: &'static [Opt],
    /// Options without a value that are accepted, when no others are: short, long.
    pub(super) only: Option<(&'static str, &'static str)>,
    /// Long options have one dash and no bundles.
    pub(super) words: bool,
    /// Roles of the first operands.
    pub(super) first: &'static [Role],
    /// Role of the others.
    pub(super) rest: Role,
    /// Role of the last operand, when it differs and is not among the first.
    pub(super) last: Option<Role>,
    /// The zone may change whatever the operands are.
    pub(super) changes: bool,
}

impl Syntax {
    pub(super) const fn new(rest: Role) -> Self {
        Self {
            options: &[],
            only: None,
            words: false,
            first: &[],
            rest,
            last: None,
            changes: false,
        }
    }

    pub(super) const fn options(mut self, options: &'static [Opt]) -> Self {
        self.options = options;
        self
    }

    pub(super) const fn only(mut self, short: &'static str, long: &'static str) -> Self {
        self.only = Some((short, long));
        self
    }

    pub(super) const fn words(mut self) -> Self {
        self.words = true;
        self
    }

    pub(super) const fn first(mut self, first: &'static [Role]) -> Self {
        self.first = first;
        self
    }

    pub(super) const fn last(mut self, last: Role) -> Self {
        self.last = Some(last);
        self
    }

    pub(super) const fn changes(mut self) -> Self {
        self.changes = true;
        self
    }
}

//! What the program that makes a call was offered, and what it asks for.
//!
//! It changes no right and no effect, only words: which operations a hint may name, how much an
//! answer tells.

/// Which operations a client was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toolset {
    /// Every one.
    #[default]
    All,
    /// Those that a small model needs.
    Core,
}

impl Toolset {
    /// The names in addresses and on the command line.
    pub const NAMES: [&str; 2] = ["all", "core"];

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "all" => Some(Self::All),
            "core" => Some(Self::Core),
            _ => None,
        }
    }
}

/// How much an answer tells (RFC 7240, part 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// Every field of the contract.
    #[default]
    Full,
    /// What the caller cannot know yet.
    Minimal,
}

/// What the program that calls was offered, and in which form it wants its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The operations that it was offered.
    pub toolset: Toolset,
    /// The form of the answers that it asks for.
    pub answers: Answers,
    /// Whether it is an application in which a model calls, so that a model reads the answers.
    pub gateway: bool,
}

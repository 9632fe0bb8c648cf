//! Which tools a client is offered.

use fileshed_core::Toolset;

/// The lists of tools that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McpToolset {
    /// Every operation.
    #[default]
    Shed,
    /// The operations that a small model needs.
    Core,
    /// What models are offered of the terminal: files by absolute paths, and a shell.
    Terminal,
}

impl McpToolset {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Shed, Self::Core, Self::Terminal];

    /// The names on the command line.
    pub const NAMES: [&str; 3] = ["shed", "core", "terminal"];

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|other| *other == name)?;
        Self::ALL.get(at).copied()
    }

    /// The address that has it.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Shed => "/mcp",
            Self::Core => "/mcp/core",
            Self::Terminal => "/mcp/terminal",
        }
    }

    /// The operations that hints may name.
    pub(super) fn operations(self) -> Toolset {
        match self {
            Self::Shed | Self::Terminal => Toolset::All,
            Self::Core => Toolset::Core,
        }
    }

    /// Whether paths of calls are those of one tree of all zones.
    pub(super) fn has_tree(self) -> bool {
        self == Self::Terminal
    }
}

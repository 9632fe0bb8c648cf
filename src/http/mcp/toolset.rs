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
    /// The compact tools for files.
    Files,
    /// What models are offered of the terminal: files by absolute paths, and a shell.
    Terminal,
}

impl McpToolset {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Shed, Self::Core, Self::Files, Self::Terminal];

    /// The names on the command line.
    pub const NAMES: [&str; 4] = ["shed", "core", "fs", "terminal"];

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
            Self::Files => "/mcp/fs",
            Self::Terminal => "/mcp/terminal",
        }
    }

    /// The operations that hints may name.
    pub(super) fn operations(self) -> Toolset {
        match self {
            Self::Shed | Self::Files | Self::Terminal => Toolset::All,
            Self::Core => Toolset::Core,
        }
    }

    /// Whether its tools are operations, whose paths begin in a zone.
    pub(super) fn has_operations(self) -> bool {
        matches!(self, Self::Shed | Self::Core)
    }
}

//! Which tools a client is offered.

use fileshed_core::Toolset;

/// The lists of tools that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::http) enum McpToolset {
    /// Every operation.
    #[default]
    Shed,
    /// The operations that a small model needs.
    Core,
}

impl McpToolset {
    /// Every one.
    pub(in crate::http) const ALL: [Self; 2] = [Self::Shed, Self::Core];

    /// The address that has it.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Shed => "/mcp",
            Self::Core => "/mcp/core",
        }
    }

    /// The operations in it.
    pub(super) fn operations(self) -> Toolset {
        match self {
            Self::Shed => Toolset::All,
            Self::Core => Toolset::Core,
        }
    }
}

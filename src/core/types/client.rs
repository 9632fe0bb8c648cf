//! The client of a call: the operations that it was offered, the form of answers that it asks for, and
//! the channel by which the call came.
//!
//! It changes no right and no effect, only words: the operations that a hint may name, and the length of
//! an answer.

use crate::names;

names! {
    /// The operations that a client was offered.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Toolset {
        /// Every one.
        #[default]
        All = "all",
        /// Those that a small model needs.
        Core = "core",
    }
}

/// The length of answers (RFC 7240, part 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// Every field of the contract.
    #[default]
    Full,
    /// Only the fields that the caller cannot know yet.
    Minimal,
}

/// The program that makes a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The operations that it was offered.
    pub toolset: Toolset,
    /// The form of the answers that it asks for.
    pub answers: Answers,
    /// `true` if it is an application in which a model calls, so that a model reads the answers.
    pub gateway: bool,
}

names! {
    /// A way to call the server.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Channel {
        /// The operations, one address each.
        Operations = "operations",
        /// The tools for small models.
        Fs = "fs",
        /// The Model Context Protocol.
        Mcp = "mcp",
        /// The part of the terminal that models are offered.
        Terminal = "terminal",
        /// The part of the terminal that only the application in front of it calls, for the person at its
        /// file browser.
        FileBrowser = "file-browser",
        /// An interactive shell.
        Shell = "shell",
        /// The server's own page.
        Page = "page",
        /// A drive.
        WebDav = "webdav",
        /// Files that are sent as they are.
        Files = "files",
        /// An upload link.
        Link = "link",
    }
}

impl Channel {
    /// Returns `model` or `person`: the one who makes the calls that come by it.
    pub fn by(self) -> &'static str {
        match self {
            Self::Operations | Self::Fs | Self::Mcp | Self::Terminal => "model",
            Self::FileBrowser
            | Self::Shell
            | Self::Page
            | Self::WebDav
            | Self::Files
            | Self::Link => "person",
        }
    }
}

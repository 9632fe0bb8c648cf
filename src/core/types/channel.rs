//! By which way a call came, and so whether a model or a person makes it.

/// A way to call the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The operations, one address each.
    Operations,
    /// The tools for small models.
    Fs,
    /// The Model Context Protocol.
    Mcp,
    /// What models are offered of the terminal.
    Terminal,
    /// What only the application in front of the terminal asks, for the person at its file browser.
    FileBrowser,
    /// An interactive shell.
    Shell,
    /// The server's own page.
    Page,
    /// A drive.
    WebDav,
    /// Files that are sent as they are.
    Files,
    /// An upload link.
    Link,
}

impl Channel {
    /// Who makes the calls that come by it.
    #[must_use]
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

    /// The name in histories.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Fs => "fs",
            Self::Mcp => "mcp",
            Self::Terminal => "terminal",
            Self::FileBrowser => "file-browser",
            Self::Shell => "shell",
            Self::Page => "page",
            Self::WebDav => "webdav",
            Self::Files => "files",
            Self::Link => "link",
        }
    }
}

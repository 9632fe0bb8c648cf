//! `fileshed openwebui`: registers this server in Open WebUI.

use std::process::ExitCode;

use clap::Subcommand;
use clap::error::ErrorKind;

use super::{CommandFailure, print, tell};
use crate::config::Config;
use crate::openwebui::register::{
    ConnectionFileOptions, Grantee, RegisterOptions, connection_file, register,
};

/// Commands for Open WebUI.
#[derive(Debug, Subcommand)]
pub enum OpenWebUiCommand {
    /// Create or update the connection to this server; options that are not given stay as they are
    Register(Box<RegisterOptions>),
    /// Print the connection to this server as a file that Open WebUI's settings import
    Connection(Box<ConnectionFileOptions>),
}

impl OpenWebUiCommand {
    /// Refuses arguments that contradict each other.
    pub(super) fn check(&self) -> Result<(), clap::Error> {
        let grants = match self {
            Self::Register(options) => &options.grants,
            Self::Connection(options) => &options.grants,
        };
        if grants.len() > 1 && grants.contains(&Grantee::Nobody) {
            let text = "`--grant nobody` cannot be combined with other grants\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
        }
        Ok(())
    }

    /// Returns the setting that the arguments override for this run, with its value.
    pub(super) fn setting(&self) -> Option<(String, String)> {
        let Self::Register(options) = self else {
            return None;
        };
        let url = options.url.as_ref()?;
        Some(("openwebui_api_url".to_owned(), url.to_string()))
    }

    pub(super) fn run(self, config: &Config) -> Result<ExitCode, CommandFailure> {
        match self {
            Self::Register(options) => print(&register(config, &options)?.join("\n")),
            Self::Connection(options) => {
                let (file, lines) = connection_file(config, &options)?;
                for line in &lines {
                    tell(line);
                }
                print(&file)
            }
        }
    }
}

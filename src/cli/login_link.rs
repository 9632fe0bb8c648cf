//! `fileshed login-link`: how an administrator lets somebody into the page.

use std::process::ExitCode;

use clap::Args;
use fileshed_core::{Caller, Chat, UserId};

use super::{Failure, open, print, start};
use crate::config::Config;

/// Whom the link signs in.
#[derive(Debug, Args)]
pub struct LoginLinkArguments {
    /// The user whose files it opens
    #[arg(long, value_name = "ID", value_parser = UserId::parse)]
    user: UserId,
}

impl LoginLinkArguments {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, Failure> {
        let store = open(config)?;
        store.listens_at(start::from_here(config.bind));
        let caller = Caller::known(self.user.clone(), Chat::default());
        print(&store.create_sign_in_link(&caller)?.url)
    }
}

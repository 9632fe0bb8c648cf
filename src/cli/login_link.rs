//! `fileshed login-link`: how an administrator lets somebody into the page.

use std::process::ExitCode;

use clap::Args;
use fileshed_core::UserId;
use fileshed_core::sign_in::Principal;

use super::{Failure, open, print};
use crate::config::{Config, local_address};

/// Whom the link signs in.
#[derive(Debug, Args)]
pub struct LoginLinkArguments {
    /// The user whose files it opens
    #[arg(long, value_name = "ID", value_parser = UserId::parse)]
    user: UserId,
}

impl LoginLinkArguments {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, Failure> {
        let core = open(config)?;
        core.store.listens_at(local_address(config.bind));
        let principal = Principal::of(self.user.clone());
        print(&core.admin.sign_in_link_of(&principal)?.url)
    }
}

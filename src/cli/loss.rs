//! `fileshed accept-loss`: the way on where a part of the store is lost and no backup has it.

use std::process::ExitCode;

use clap::Args;
use fileshed_core::store::Part;

use super::{Failure, cannot_open, name_directory, one_of, print};
use crate::config::Config;

const PARTS: [Part; 2] = [Part::Pepper, Part::Registry];
const NAMES: [&str; 2] = ["pepper", "registry"];

/// What is lost, and whether that is meant.
#[derive(Debug, Args)]
pub struct LossArguments {
    /// What is lost: the server does not start without it, and says so
    #[arg(value_parser = one_of(&NAMES, part))]
    part: Part,
    /// It is meant: without this nothing is changed
    #[arg(long)]
    yes: bool,
}

fn part(name: &str) -> Option<Part> {
    PARTS.into_iter().find(|part| part.as_str() == name)
}

impl LossArguments {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, Failure> {
        let part = self.part;
        name_directory(config);
        let failed = |error| cannot_open(config, error);
        if !self.yes {
            let loss = fileshed_core::Store::loss(&config.core, part).map_err(failed)?;
            return Err(Failure::LossNotConfirmed(loss));
        }
        let loss = fileshed_core::Store::accept_loss(&config.core, part).map_err(failed)?;
        print(&format!("lost: {}", loss.text))?;
        print(&format!("a new {} is there", part.as_str()))
    }
}

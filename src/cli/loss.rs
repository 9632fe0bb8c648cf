//! `fileshed accept-loss`: the way on where a part of the store is lost and no backup has it.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use fileshed_core::Store;
use fileshed_core::store::Part;

use super::{Failure, cannot_open, name_directory, print};
use crate::config::Config;

/// Whether it was said that something is meant.
pub type Confirmed = bool;

const PARTS: [Part; 2] = [Part::Pepper, Part::Registry];

/// `accept-loss`
pub(super) fn command() -> Command {
    let part = Arg::new("part")
        .help("What is lost: the server does not start without it, and says so")
        .required(true)
        .value_name("PART")
        .value_parser(PARTS.map(Part::as_str));
    let yes = Arg::new("yes")
        .long("yes")
        .help("It is meant: without this nothing is changed")
        .action(ArgAction::SetTrue);
    Command::new("accept-loss")
        .about("Go on without a pepper or registry that no backup has; says what is lost with it")
        .args([part, yes])
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<(Part, Confirmed), clap::Error> {
    let named = matches.get_one::<String>("part");
    let part = PARTS
        .into_iter()
        .find(|part| named.is_some_and(|name| name == part.as_str()));
    let part = part.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue))?;
    Ok((part, matches.get_flag("yes")))
}

/// Runs `fileshed accept-loss`: says what would be lost, or accepts the loss.
pub fn run(config: &Config, part: Part, confirmed: Confirmed) -> Result<ExitCode, Failure> {
    name_directory(config);
    let failed = |error| cannot_open(config, error);
    if !confirmed {
        let loss = Store::loss(&config.core, part).map_err(failed)?;
        return Err(Failure::LossNotConfirmed(loss));
    }
    let loss = Store::accept_loss(&config.core, part).map_err(failed)?;
    print(&format!("lost: {}", loss.text))?;
    print(&format!("a new {} is there", part.as_str()))
}

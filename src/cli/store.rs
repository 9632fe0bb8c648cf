//! `fileshed registry` and `fileshed data`: copy the registry to another place, and continue without a
//! part of the store that is lost and that no backup has.

use std::process::ExitCode;

use clap::Subcommand;
use fileshed_core::settings::RegistryUrl;
use fileshed_core::store::DataPart;

use super::{CommandFailure, cannot_open, enter, print, print_all};
use crate::config::{Config, one_of};

/// Commands for the registry.
#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Copy the registry to another place, compare all rows, and set the old one aside; stop all
    /// servers first
    Copy {
        /// Source: file (beside the data), setting (the value of `registry`), or a database URL
        #[arg(long, value_name = "place")]
        from: RegistryPlace,
        /// Destination, in the form of --from
        #[arg(long, value_name = "place")]
        to: RegistryPlace,
    },
}

/// A place that holds a registry.
#[derive(Clone, Debug)]
pub enum RegistryPlace {
    /// The file beside the data.
    File,
    /// The registry of the configuration.
    Setting,
    /// A database.
    Database(RegistryUrl),
}

impl std::str::FromStr for RegistryPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "setting" => Ok(Self::Setting),
            _ => text.parse().map(Self::Database).map_err(|error| {
                format!("{error}; or file, or setting, which is the value of `registry`")
            }),
        }
    }
}

impl RegistryPlace {
    fn url(&self, config: &Config) -> Option<RegistryUrl> {
        match self {
            Self::File => None,
            Self::Setting => config.core.registry.clone(),
            Self::Database(url) => Some(url.clone()),
        }
    }
}

impl RegistryCommand {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, CommandFailure> {
        let Self::Copy { from, to } = self;
        let (from, to) = (from.url(config), to.url(config));
        if from == to {
            let text = "--from and --to are the same place: give two different places";
            return Err(CommandFailure::Refused(text.to_owned()));
        }
        enter(config)?;
        let copied = fileshed_core::Store::copy_registry(&config.core, from, to)
            .map_err(|error| cannot_open(config, error))?;
        let filled = copied.iter().filter(|table| table.rows > 0);
        print_all(filled.map(|table| format!("{}\t{}", table.name, table.rows)))?;
        let rows: u64 = copied.iter().map(|table| table.rows).sum();
        print(&format!(
            "copied and compared {rows} rows; the old registry is set aside"
        ))
    }
}

/// Commands for the data directory.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Continue without a pepper or registry that no backup has, and list the consequences
    AcceptLoss {
        /// Lost part, as the server names it when it does not start
        #[arg(value_parser = one_of(DataPart::NAMES, DataPart::parse))]
        part: DataPart,
        /// Confirm: without this flag nothing is changed
        #[arg(long)]
        yes: bool,
    },
}

impl DataCommand {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, CommandFailure> {
        let Self::AcceptLoss { part, yes } = *self;
        enter(config)?;
        let failed = |error| cannot_open(config, error);
        if !yes {
            let loss = fileshed_core::Store::loss(&config.core, part).map_err(failed)?;
            return Err(CommandFailure::Refused(format!(
                "without the {} this is lost: {}. Add --yes to confirm",
                part.as_str(),
                loss
            )));
        }
        let loss = fileshed_core::Store::accept_loss(&config.core, part).map_err(failed)?;
        print(&format!("lost: {loss}"))?;
        print(&format!("created a new {}", part.as_str()))
    }
}

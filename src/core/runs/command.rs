//! Commands of a zone: a command line judged, a program started in the sandbox ([`fileshed_sandbox`]),
//! and what it changed taken into history.

mod built_in;
mod command_line;
mod content;
mod error;
mod fetch;
mod filter;
mod git;
mod glob;
mod invocation;
mod limit;
mod line;
mod names;
mod outcome;
mod output;
mod pipeline;
mod places;
mod run;
mod targets;
mod unsearched;

use crate::runs::Runs;
use fileshed_sandbox::egress::{EgressGrant, RefusalStyle};
use fileshed_types::Error;
use fileshed_types::settings::NetworkMode;

pub use command_line::{CommandLine, Ran, answer_max};
pub use error::ExecError;
pub use fetch::fetch;
pub(crate) use filter::{PDF_COMMAND, PICTURE_COMMAND, filter, pdf_page, pdf_text, recognise_page};
pub use limit::Limit;
pub(crate) use names::NamesBefore;
pub use run::{run, run_on_copy};

impl Runs {
    /// Returns what the network mode leaves to a command that wants the network: the proxy, until it is
    /// dropped, or none.
    pub(crate) fn grant_network(
        &self,
        wanted: bool,
        command: &str,
    ) -> Result<Option<EgressGrant>, Error> {
        if !wanted || self.store.settings.network_mode == NetworkMode::Disabled {
            return Ok(None);
        }
        let holds = self.confinement().holds_connections();
        holds.map_err(|missing| ExecError::NoNetwork { missing })?;
        // curl takes an answer for the document, whatever its status.
        let style = match command {
            "curl" => RefusalStyle::Silent,
            _ => RefusalStyle::InWords,
        };
        Ok(Some(self.egress.grant(style)?))
    }
}

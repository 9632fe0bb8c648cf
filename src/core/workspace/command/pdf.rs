//! pandoc into a PDF: two programs one after the other, each in its own jail. The page lies beside
//! the zone meanwhile.

use super::invocation::{Invocation, Run};
use super::outcome::CommandOutcome;
use crate::Error;
use crate::changes::OpenEndedPermit;
use crate::process::{StreamFile, file_sink};
use fileshed_sandbox::Sink;

/// What prints the page.
const PRINTER: &str = "weasyprint";

/// Bytes of what it says.
const COMPLAINTS: usize = 4096;

/// Runs pandoc; `invocation` is the command as it was judged, which writes the page.
pub(super) fn run(
    run: &Run<'_>,
    path: &str,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let mut destination = StreamFile::new(zone, "shed_exec", "args", path)?;
    let mut page = zone.store.staging(&zone.tenant)?.create()?;
    let (_, stderr) = invocation.sinks;
    let written = run.start(Invocation {
        sinks: (file_sink(&mut page)?, stderr),
        writes: false,
        ..invocation
    })?;
    if written.status != 0 {
        return Ok(written);
    }
    let printed = run.start(Invocation {
        command: PRINTER,
        arguments: ["-q", "-", "-"].map(str::to_owned).to_vec(),
        directory: zone.data(),
        writes: false,
        input: Some(&page),
        sinks: (
            file_sink(&mut destination.staged)?,
            Sink::Answer(COMPLAINTS),
        ),
        environment: Vec::new(),
        repository: None,
    })?;
    if printed.status != 0 {
        return Ok(printed);
    }
    destination.install_by(zone, permit)?;
    Ok(written)
}

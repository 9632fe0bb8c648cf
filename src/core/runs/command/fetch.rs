//! A file from an address: fetched by curl as a command is run, confined and as far as the network
//! mode lets it, and stored as what a person brings, so that it may go into uploads too.

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::runs::Runs;
use fileshed_changes::{SizeError, check_lock, check_owner};
use fileshed_sandbox::OutputSink;
use fileshed_types::{Error, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// The program.
const COMMAND: &str = "curl";

/// Bytes of what it says.
const COMPLAINTS: usize = 4096;

/// Downloads `url` to `path`, replaces an existing file there, and returns the size. If the download fails,
/// the existing file stays as it was.
pub fn fetch(
    runs: &Runs,
    zone: &Zone<'_>,
    path: &ZonePath,
    url: &str,
    operation: &'static str,
) -> Result<u64, Error> {
    let shown = || url.chars().take(200).collect();
    let has_scheme = |scheme: &str| {
        let begin = url.get(..scheme.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    if !["http://", "https://"].into_iter().any(has_scheme) {
        return Err(FetchError::Address { url: shown() }.into());
    }
    zone.expect_write_scope()?;
    check_lock(zone, path)?;
    check_owner(zone, [zone.target("url", path)?.path()])?;
    let settings = &zone.store.settings;
    let arguments = ["-fsSLg", url].map(str::to_owned);
    let command_line = CommandLine {
        command: COMMAND,
        arguments: &arguments,
        timeout: Some(settings.exec_timeout_max as i64),
        stdout_file: Some(path.as_str()),
        ..CommandLine::default()
    };
    let plan = line::judge_apart(runs, zone, &command_line)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let mut staged = zone.store.staging(&zone.tenant)?.create()?;
    let sinks = (file_sink(&mut staged)?, OutputSink::Answer(COMPLAINTS));
    let outcome = run.start(Invocation {
        writes: false,
        ..run.invocation(sinks)
    })?;
    let (size, limit) = (staged.size()?, settings.largest_file());
    if size > limit {
        let path = path.clone();
        return Err(zone.explain(SizeError { path, size, limit }.into()));
    }
    let ran = run.finish(outcome, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        return Err(FetchError::Failed {
            url: shown(),
            reason: ran.stderr.trim().to_owned(),
        }
        .into());
    }
    let writer = fileshed_changes::receiver(zone, operation)?;
    let target = zone.target("url", path)?;
    writer.write(staged, target, None, &format!("Fetch {path}"))?;
    Ok(size)
}

diagnostics! {
    /// A file that did not come.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum FetchError {
        /// No address of a file.
        #[error("`{url}` is not the address of a file")]
        Address {
            /// The address received.
            url: String = "file:///etc/passwd".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "give one that begins with https:// or http://",
            details: { "parameter": "url", "url": url },
        },
        /// The download failed or is incomplete.
        #[error("`{url}` could not be fetched: {reason}")]
        Failed {
            /// The address.
            url: String = "https://example.org/data.csv".to_owned(),
            /// The message of curl.
            reason: String = "curl: (22) The requested URL returned error: 404".to_owned(),
        } => {
            code: ExecError,
            hint: "check the address, or upload the file itself",
            details: { "url": url },
        },
    }
}

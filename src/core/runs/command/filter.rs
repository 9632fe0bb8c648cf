//! Programs that read a document on standard input and write another on standard output: in the jail of
//! every command, without a file of their own.

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::runs::Runs;
use fileshed_storage::Staged;
use fileshed_types::Error;
use fileshed_zones::zone::Zone;

/// Runs `command` with these arguments on `input`. Returns its output, or why it failed. `judged` is the
/// same command without a name in the zone, which stands for what runs.
pub(crate) fn filter(
    runs: &Runs,
    zone: &Zone<'_>,
    command: &'static str,
    judged: &[&str],
    arguments: &[&str],
    input: &Staged,
) -> Result<Result<Staged, String>, Error> {
    let judged: Vec<String> = judged.iter().map(|&word| word.to_owned()).collect();
    let command_line = CommandLine {
        command,
        arguments: &judged,
        ..CommandLine::default()
    };
    let plan = line::judge(runs, zone, &command_line, None)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let mut output = zone.store.staging(&zone.tenant)?.create()?;
    let sink = file_sink(&mut output)?;
    let ran = run.start(Invocation::helper(command, arguments, input, sink))?;
    let ran = run.finish(ran, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        let first = ran.stderr.lines().next().unwrap_or_default().trim();
        return Ok(Err(match first {
            "" => format!("{command} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        }));
    }
    Ok(Ok(output))
}

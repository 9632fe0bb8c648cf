//! Programs that read a document on standard input and write another on standard output: in the jail of
//! every command, without a file of their own.

use super::invocation::{Invocation, Run};
use super::{CommandLine, line};
use crate::process::file_sink;
use crate::runs::Runs;
use fileshed_storage::Staged;
use fileshed_types::Error;
use fileshed_zones::zone::Zone;

/// Runs `command` with these arguments on `input`. Returns its output, or why it failed. `judged` is a
/// command without a name in the zone, which stands for what runs: every zone has it.
pub(crate) fn filter(
    runs: &Runs,
    zone: &Zone<'_>,
    command: &'static str,
    (judged, words): (&'static str, &[&str]),
    arguments: &[&str],
    input: &Staged,
) -> Result<Result<Staged, String>, Error> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let command_line = CommandLine {
        command: judged,
        arguments: &words,
        ..CommandLine::default()
    };
    let plan = line::judge(runs, zone, &command_line, None)?;
    let run = Run::new(runs, zone, &command_line, &plan, &zone.data)?;
    let mut output = zone.store.staging(&zone.tenant)?.create()?;
    let sink = file_sink(&mut output)?;
    let ran = run.start(Invocation::helper(command, arguments, input, sink))?;
    let ran = run.finish(ran, None, |_| Ok([None; 2]))?;
    if ran.status != 0 {
        // Among what is wrong with the syntax of a document.
        let says = |line: &&str| line.contains("password") || line.contains("page range");
        let mut lines = ran.stderr.lines();
        let said = lines.clone().find(says).or_else(|| lines.next());
        return Ok(Err(match said.unwrap_or_default().trim() {
            "" => format!("{command} ended with status {}", ran.status),
            said => said.chars().take(200).collect(),
        }));
    }
    Ok(Ok(output))
}

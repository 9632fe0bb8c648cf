//! `shed_exec`: run one whitelisted command in a zone.

use std::borrow::Cow;

use fileshed_core::Settings;
use fileshed_core::chat_host::{Task, counted};
use fileshed_core::command::{self, CommandLine};
use fileshed_core::size::human_size;

use super::arguments::{integer, not_negative, split_words};
use super::missing_file;
use super::prelude::*;

/// Commands that only read, whatever their arguments are.
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "grep", "wc", "stat", "du", "pwd", "file",
];

/// The part of the text of `shed_exec` that an administrator's own programs change.
const NO_PROGRAMS: &str = ", no python";

/// `shed_exec`
pub struct Exec;

/// The text of a tool as models read it on a server whose administrator added these programs.
pub(crate) fn description(id: &str, doc: &'static str, programs: &[&str]) -> Cow<'static, str> {
    if id != Exec::ID || programs.is_empty() {
        return doc.into();
    }
    let python = if programs.contains(&"python3") {
        ""
    } else {
        NO_PROGRAMS
    };
    let also = format!("{python}; also {}", programs.join(", "));
    doc.replace(NO_PROGRAMS, &also).into()
}

/// The command, and files for its output.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    #[schema(value_type = AnyZone)]
    zone: String,
    /// Name alone, such as ls
    cmd: String,
    /// One item an argument; globs work
    #[serde(default)]
    args: Vec<String>,
    /// Seconds
    timeout: Option<i64>,
    /// Bytes in the answer
    max_output: Option<i64>,
    /// File for stdout, as >
    stdout_file: Option<String>,
    /// File for stderr
    stderr_file: Option<String>,
    /// As 2>&1
    #[serde(default)]
    redirect_stderr_to_stdout: bool,
    /// For zone group
    group: Option<String>,
}

/// The command's result.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone in which the command ran.
    zone: &'static str,
    /// The command, without its arguments.
    command: String,
    /// Arguments as they were given, before globs were expanded.
    args: Vec<String>,
    /// Standard output as text, unless it went to a file.
    stdout: String,
    /// Standard error as text, unless it went to a file or to standard output.
    stderr: String,
    /// Exit status; negative if a signal ended the command.
    returncode: i32,
    /// `true` if part of the output is missing.
    truncated: bool,
    /// File that has the standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_file: Option<String>,
    /// Bytes of that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_file_size: Option<u64>,
    /// File that has the standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_file: Option<String>,
    /// Bytes of that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_file_size: Option<u64>,
}

impl Operation for Exec {
    const ID: &str = "shed_exec";
    const SUMMARY: &str = "Run a command";
    const DOC: &str = "Run one command in a zone: ls, cat, grep, sed, git … No shell (no pipes, >, &&, cd), no python. Paths are relative to the zone. shed_exec(zone=\"storage\", cmd=\"grep\", args=[\"-rn\", \"TODO\", \".\"])";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::CHANGES.outside();
    /// A command says by itself what it does, and models add parameters of other shells.
    const IGNORES_UNKNOWN: bool = true;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, CHANGE, COMMAND, GROWTH;
        ArgumentRequired, InvalidFormat, NotAFile, PermissionDenied, ExecError
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "cmd": "ls", "args": ["-la"]}"#,
        r#"{"zone": "storage", "cmd": "mkdir", "args": ["-p", "projects/2026"]}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("stdout"),
        Keep::Unusual("stderr"),
        Keep::Unusual("returncode"),
        Keep::Always("stdout_file_size"),
        Keep::Always("stderr_file_size"),
    ];
    type Request = Request;
    type Response = Response;

    fn is_harmless(arguments: &Map<String, Value>) -> bool {
        let command = arguments.get("cmd").and_then(Value::as_str);
        let writes = ["stdout_file", "stderr_file"];
        command.is_some_and(|command| READERS.contains(&command))
            && !writes.iter().any(|name| arguments.contains_key(*name))
    }

    fn answer_max(settings: &Settings, arguments: &Map<String, Value>) -> u64 {
        let asked = arguments.get("max_output").and_then(integer);
        command::answer_max(settings, asked)
    }

    fn shorten(data: &mut Map<String, Value>) {
        if data.contains_key("stdout_file_size") {
            data.shift_remove("stdout");
        }
    }

    fn task(request: &Request) -> Option<Task> {
        Some(Task::new("Running", &request.cmd))
    }

    fn result(response: &Response) -> Option<String> {
        match (response.returncode, response.stdout_file_size) {
            (0, Some(size)) => Some(human_size(size)),
            (0, None) if response.truncated || response.stdout.is_empty() => None,
            (0, None) => Some(counted(response.stdout.lines().count() as u64, "line")),
            (status, _) => Some(format!("status {status}")),
        }
    }

    /// One text is split into arguments.
    fn prepare(arguments: &mut Map<String, Value>) {
        split_words(arguments, "args");
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        not_negative("timeout", request.timeout)?;
        not_negative("max_output", request.max_output)?;
        let zone = core.open_zone(caller, zone, request.group.as_deref())?;
        let ran = command::run(
            &core.runs,
            &zone,
            &CommandLine {
                command: &request.cmd,
                arguments: &request.args,
                timeout: request.timeout,
                max_output: request.max_output,
                stdout_file: request.stdout_file.as_deref(),
                stderr_file: request.stderr_file.as_deref(),
                merge_streams: request.redirect_stderr_to_stdout,
            },
        )?;
        let (message, note) = (ran.message(&request.cmd, "ran"), ran.note());
        let found = missing_file::of_command(core, &zone, &ran, &request.args);
        let response = Response {
            zone: zone.name.as_str(),
            command: request.cmd,
            args: request.args,
            stdout: ran.stdout,
            stderr: ran.stderr,
            returncode: ran.status,
            truncated: ran.truncated,
            stdout_file: request.stdout_file.filter(|_| ran.stdout_size.is_some()),
            stdout_file_size: ran.stdout_size,
            stderr_file: request.stderr_file.filter(|_| ran.stderr_size.is_some()),
            stderr_file_size: ran.stderr_size,
        };
        Ok(Reply::new(response, message)
            .noting(ran.left_out)
            .noting(note)
            .noting(ran.renamed)
            .noting(ran.history)
            .noting(ran.lost)
            .noting(ran.unsearched)
            .noting(ran.misnamed)
            .noting(found))
    }
}

//! `shed_lockedit_exec`: run a command on a locked file.

use fileshed_core::chat_host::Task;
use fileshed_core::command::{CommandLine, run_on_copy};
use fileshed_core::lockedit;

use super::arguments::{not_negative, split_words};
use super::prelude::*;

/// `shed_lockedit_exec`
pub struct LockeditExec;

/// The open file and the command.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// The open file
    path: String,
    /// Name alone, such as sed
    cmd: String,
    /// One item an argument; "." is the file
    #[serde(default)]
    args: Vec<String>,
    /// Seconds
    timeout: Option<i64>,
    /// For zone group
    group: Option<String>,
}

/// The command's result.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone of the file.
    zone: &'static str,
    /// Path of the locked file.
    path: String,
    /// The command, without its arguments.
    command: String,
    /// Standard output as text.
    stdout: String,
    /// Standard error as text.
    stderr: String,
    /// Exit status; negative if a signal ended the command.
    returncode: i32,
    /// `true` if part of the output is missing.
    truncated: bool,
}

impl Operation for LockeditExec {
    const ID: &str = "shed_lockedit_exec";
    const SUMMARY: &str = "Run a command on a locked file";
    const DOC: &str = "Run a command on the working copy of an open locked edit. shed_lockedit_exec(zone=\"storage\", path=\"a.md\", cmd=\"sed\", args=[\"-i\", \"s/old/new/\", \".\"])";
    const EFFECT: Effect = Effect::CHANGES.outside();
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, CHANGE, OPEN_EDIT, COMMAND, GROWTH];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "notes/todo.md", "cmd": "sed", "args": ["-i", "s/old/new/", "."]}"#,
    ];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("stdout"),
        Keep::Unusual("stderr"),
        Keep::Unusual("returncode"),
    ];
    type Request = Request;
    type Response = Response;

    fn task(request: &Request) -> Option<Task> {
        Some(Task::new("Running", &request.cmd))
    }

    fn result(response: &Response) -> Option<String> {
        (response.returncode != 0).then(|| format!("status {}", response.returncode))
    }

    /// One text is split into arguments.
    fn prepare(arguments: &mut Map<String, Value>) {
        split_words(arguments, "args");
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        not_negative("timeout", request.timeout)?;
        let zone = core.open_zone(caller, zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let edit = lockedit::held(&zone, &path)?;
        let line = CommandLine {
            command: &request.cmd,
            arguments: &request.args,
            timeout: request.timeout,
            ..CommandLine::default()
        };
        let ran = run_on_copy(&core.runs, &edit, &line)?;
        let message = ran.message(&request.cmd, "ran on the working copy");
        let note = ran.note();
        let response = Response {
            zone: zone.name.as_str(),
            path: edit.path().as_str().to_owned(),
            command: request.cmd,
            stdout: ran.stdout,
            stderr: ran.stderr,
            returncode: ran.status,
            truncated: ran.truncated,
        };
        Ok(Reply::new(response, message)
            .noting(ran.left_out)
            .noting(note))
    }
}

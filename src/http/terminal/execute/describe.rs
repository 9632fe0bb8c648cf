//! What models are told about commands with every turn: the facts of this server, in few words.

use fileshed_core::Core;
use fileshed_core::health::Sandbox;
use fileshed_core::settings::NetworkMode;

/// Programs that are worth a word where they are installed; what every system has is not.
const NOTABLE: [&str; 24] = [
    "git",
    "python3",
    "node",
    "gcc",
    "perl",
    "sqlite3",
    "jq",
    "rg",
    "curl",
    "wget",
    "ffmpeg",
    "convert",
    "exiftool",
    "pandoc",
    "pdftotext",
    "pdftoppm",
    "xlsx2csv",
    "weasyprint",
    "iconv",
    "zip",
    "unzip",
    "7z",
    "zstd",
    "tar",
];

/// Of these a model assumes that they are there.
const EXPECTED: [&str; 3] = ["python3", "node", "gcc"];

/// The description of `run_command`. It starts a helper at its first call, and blocks.
pub(in crate::http::terminal) fn describe_execute(core: &Core) -> String {
    let settings = core.store.settings();
    if core.admin.sandbox() == Sandbox::Off {
        return "Commands do not run on this server.".to_owned();
    }
    let (there, missing): (Vec<&str>, Vec<&str>) = NOTABLE
        .into_iter()
        .partition(|program| core.runs.programs().has(program));
    let missing: Vec<&str> = EXPECTED
        .into_iter()
        .filter(|program| missing.contains(program))
        .collect();
    let missing = if missing.is_empty() {
        String::new()
    } else {
        format!("; no {}", missing.join(", "))
    };
    let added = added(core);
    let places = if core.admin.has_namespaces() {
        "/storage and /documents are writable, /uploads and /groups can be read."
    } else {
        "Use relative paths: in commands only the zone of the working directory exists."
    };
    let network = match settings.network_mode {
        NetworkMode::Disabled => "No network",
        NetworkMode::Safe => "Network: downloads only",
        NetworkMode::All => "Network",
    };
    let bounded = if core.runs.zygote().bounds_trees().is_ok() {
        "a command"
    } else {
        "a process"
    };
    format!(
        "Run a line of sh (pipes, loops, redirections) in the background. With `wait` the answer has \
         the output; else ask get_process_status. Begins in the working directory. {places} \
         {network}; {memory} MB {bounded}, {minutes} minutes, {processes} at once. Installed: the \
         usual Unix tools, {there}{missing}.{added}",
        memory = settings.exec_memory_limit_mb,
        minutes = settings.terminal_process_max_minutes,
        processes = settings.terminal_max_processes,
        there = there.join(", "),
    )
}

/// Names of added programs that a description has room for.
const ADDED: usize = 12;

/// What the administrator has added, as the last sentence.
fn added(core: &Core) -> String {
    if core.store.settings().has_any_program() {
        return " Every program of the machine may run, and what you build or install in /storage \
                (venv, pip, npm)."
            .to_owned();
    }
    let names: Vec<&str> = core.runs.programs().chosen().collect();
    let shown = names[..names.len().min(ADDED)].join(", ");
    match names.len() {
        0 => String::new(),
        count if count > ADDED => format!(" Added: {shown} and more."),
        _ => format!(" Added: {shown}."),
    }
}

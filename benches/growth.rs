//! Growth of the cost of a call with the stored files, with other users, and with connections: `cargo bench
//! --bench growth`, or with the name of a part: `files`, `documents`, `commits`, `users`, `connections`.
//!
//! Each size has a zone or a server of its own, and the same call is made at all of them in turns, so
//! that a machine that is busy for a while is so for all. Only ratios count: the largest size against
//! the smallest. A missed target ends with status 1. `GROWTH_MOST` bounds every size.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

#[path = "growth/imported.rs"]
mod imported;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use fileshed_test_support::Server;
use fileshed_test_support::processes::processor_time;
use fileshed_test_support::wire::Wire;

/// Most times that a call at the largest size may take what it takes at the smallest.
const GROWTH_RATIO: f64 = 1.5;

/// Files of `storage`; of `documents`, whose first commit names and compresses each of them.
const FILES: [usize; 3] = [10, 10_000, 1_000_000];
const DOCUMENTS: [usize; 3] = [10, 10_000, 100_000];
const COMMITS: [usize; 3] = [10, 5_000, 100_000];
const USERS: [usize; 3] = [10, 10_000, 100_000];
const CONNECTIONS: [usize; 4] = [1, 16, 256, 2_000];

/// Names in a directory, so that none is large because the zone is.
const NAMES: usize = 100;

/// Measurements of each figure, fewer where they take longer than this.
const REPETITIONS: usize = 101;
const LONGEST: Duration = Duration::from_secs(20);

/// Users who share the connections.
const CALLERS: usize = 64;

/// Duration for which connections are used.
const SLICE: Duration = Duration::from_secs(2);

/// Number of clients that make the files to be measured.
const MAKERS: usize = 8;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |part: &str| {
        let named = wanted.iter().filter(|name| !name.starts_with('-'));
        named.clone().count() == 0 || named.clone().any(|name| name == part)
    };
    let mut met = true;
    for (name, part) in PARTS {
        if is_wanted(name) {
            met &= part();
        }
    }
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\na target is missed");
        ExitCode::FAILURE
    }
}

/// A part by its name: prints its table, and gives whether its targets are met.
type Part = (&'static str, fn() -> bool);

const PARTS: [Part; 5] = [
    ("files", files),
    ("documents", documents),
    ("commits", commits),
    ("users", users),
    ("connections", connections),
];

/// A call, made with a number that tells its repetitions apart.
type Call = fn(&mut Wire, usize);

fn files() -> bool {
    let server = server();
    let sizes = bounded(&FILES);
    let mut callers = callers_with_files(&server, "Storage", &sizes);
    let calls: [(&str, Call); 5] = [
        ("shed_read", |wire, _| {
            wire.data(
                "shed_read",
                &json!({"zone": "storage", "path": "own/a.txt"}),
            );
        }),
        ("shed_tree of a small directory", |wire, _| {
            wire.data("shed_tree", &json!({"zone": "storage", "path": "own"}));
        }),
        ("shed_create_file", |wire, number| {
            wire.data("shed_create_file", &own_file("storage", number));
        }),
        ("shed_exec touch", |wire, _| {
            let call = json!({"zone": "storage", "cmd": "touch", "args": ["own/a.txt"]});
            wire.data("shed_exec", &call);
        }),
        ("shed_stats", |wire, _| {
            wire.data("shed_stats", &json!({}));
        }),
    ];
    table("files in storage", &sizes, &mut callers, &calls)
}

fn documents() -> bool {
    let server = server();
    let sizes = bounded(&DOCUMENTS);
    let mut callers = callers_with_files(&server, "Documents", &sizes);
    table("files in documents", &sizes, &mut callers, &VERSIONED)
}

/// Calls that need the history.
const VERSIONED: [(&str, Call); 4] = [
    ("shed_create_file and its commit", |wire, number| {
        wire.data("shed_create_file", &own_file("documents", number));
    }),
    ("shed_exec date into a file and its commit", |wire, _| {
        let call = json!({
            "zone": "documents", "cmd": "date", "args": ["+%s %N"], "stdout_file": "own/date.txt",
        });
        wire.data("shed_exec", &call);
    }),
    ("shed_read", |wire, _| {
        wire.data(
            "shed_read",
            &json!({"zone": "documents", "path": "own/a.txt"}),
        );
    }),
    ("shed_exec git log -n 5", |wire, _| {
        let call = json!({"zone": "documents", "cmd": "git", "args": ["log", "-n", "5"]});
        wire.data("shed_exec", &call);
    }),
];

/// Users of one server, whose zone has so many files, in directories of `NAMES` each.
fn callers_with_files(server: &Server, zone: &str, sizes: &[usize]) -> Vec<Wire> {
    let caller = |&size: &usize| {
        let user = format!("owner-of-{size}");
        let data = server.data().join(format!("users/{user}/{zone}/data"));
        furnish(&data, size);
        let mut wire = Wire::open(server, &user, "bench");
        let begun = Instant::now();
        let name = zone.to_lowercase();
        wire.data("shed_create_file", &own_file(&name, 0));
        let call = json!({"zone": name, "cmd": "touch", "args": ["own/a.txt"], "timeout": 300});
        wire.data("shed_exec", &call);
        println!(
            "first calls in {name} of {size} files: {:.1} s",
            begun.elapsed().as_secs_f64()
        );
        wire
    };
    sizes.iter().map(caller).collect()
}

/// Makes so many small files, which no server has seen.
fn furnish(directory: &Path, files: usize) {
    std::fs::create_dir_all(directory).unwrap();
    if files <= NAMES {
        for number in 0..files {
            let file = directory.join(format!("file-{number}.txt"));
            std::fs::write(file, format!("{number} of {files}\n")).unwrap();
        }
        return;
    }
    for number in 0..NAMES {
        furnish(&directory.join(format!("d{number}")), files / NAMES);
    }
}

fn own_file(zone: &str, number: usize) -> Value {
    json!({
        "zone": zone, "path": "own/a.txt", "content": format!("{number}\n"), "overwrite": true,
    })
}

fn commits() -> bool {
    let mut before = server();
    let sizes = bounded(&COMMITS);
    let user = |size: usize| format!("writer-of-{size}");
    for &size in &sizes {
        let mut wire = Wire::open(&before, &user(size), "bench");
        wire.data("shed_create_file", &own_file("documents", 0));
    }
    before.terminate();
    before.wait();
    for &size in &sizes {
        let users = before.data().join("users");
        imported::add(&users.join(user(size)).join("Documents"), size);
    }
    let server = before.again();
    let caller = |&size: &usize| {
        let mut wire = Wire::open(&server, &user(size), "bench");
        let call = json!({
            "zone": "documents", "cmd": "touch", "args": ["own/a.txt"], "timeout": 300,
        });
        wire.data("shed_exec", &call);
        wire
    };
    let mut callers: Vec<_> = sizes.iter().map(caller).collect();
    let calls = [&VERSIONED[..], &HISTORIES[..]].concat();
    table("commits", &sizes, &mut callers, &calls)
}

/// Calls that ask a history for the changes of one file: the last of them, and as many as the page shows.
const HISTORIES: [(&str, Call); 2] = [
    ("shed_exec git log -n 5 of a file", |wire, _| {
        let args = ["log", "-n", "5", "--", "own/a.txt"];
        let call = json!({"zone": "documents", "cmd": "git", "args": args});
        wire.data("shed_exec", &call);
    }),
    ("the history of a file, as the page asks", |wire, _| {
        let args = [
            "log",
            "-n",
            "200",
            "-z",
            "--name-status",
            "--no-renames",
            "--format=%x1e%H%x1f%an%x1f%aI%x1f%s",
            "--",
            "own/a.txt",
        ];
        let call = json!({"zone": "documents", "cmd": "git", "args": args, "timeout": 60});
        wire.data("shed_exec", &call);
    }),
];

fn users() -> bool {
    let sizes = bounded(&USERS);
    let servers: Vec<_> = sizes.iter().map(|_| server()).collect();
    for (server, &size) in servers.iter().zip(&sizes) {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for maker in 0..MAKERS {
                scope.spawn(move || {
                    for user in (maker..size).step_by(MAKERS) {
                        let mut wire = Wire::open(server, &format!("user-{user}"), "bench");
                        wire.data("shed_create_file", &own_file("storage", user));
                    }
                });
            }
        });
        println!(
            "{size} users, each with a file: {:.1} s",
            begun.elapsed().as_secs_f64()
        );
    }
    let open = |server| Wire::open(server, "user-1", "bench");
    let mut callers: Vec<_> = servers.iter().map(open).collect();
    let calls: [(&str, Call); 4] = [
        ("shed_read", |wire, _| {
            wire.data(
                "shed_read",
                &json!({"zone": "storage", "path": "own/a.txt"}),
            );
        }),
        ("shed_create_file", |wire, number| {
            wire.data("shed_create_file", &own_file("storage", number));
        }),
        ("shed_create_file and its commit", |wire, number| {
            wire.data("shed_create_file", &own_file("documents", number));
        }),
        ("shed_exec true", |wire, _| {
            wire.data("shed_exec", &json!({"zone": "storage", "cmd": "true"}));
        }),
    ];
    table("users", &sizes, &mut callers, &calls)
}

/// Prints what each call takes at each size, made in turns; whether none grows.
fn table(of: &str, sizes: &[usize], callers: &mut [Wire], calls: &[(&str, Call)]) -> bool {
    heading(of, sizes);
    let mut met = true;
    for (name, call) in calls {
        let mut times = vec![Vec::new(); callers.len()];
        let row_begun = Instant::now();
        for number in 0..REPETITIONS + 5 {
            if number > 5 && row_begun.elapsed() > LONGEST {
                break;
            }
            for (wire, times) in callers.iter_mut().zip(&mut times) {
                let begun = Instant::now();
                call(wire, number);
                // The first ones warm up.
                if number >= 5 {
                    times.push(begun.elapsed().as_secs_f64() * 1000.0);
                }
            }
        }
        let figures: Vec<_> = times.into_iter().map(median).collect();
        met &= row(&format!("{name}, ms"), &figures);
    }
    met
}

/// Processor time of a call while so many connections make calls, and memory of each that waits.
fn connections() -> bool {
    let sizes = bounded(&CONNECTIONS);
    heading("connections, calls at the same time", &sizes);
    let calls: [(&str, Call); 2] = [
        ("shed_read", |wire, _| {
            wire.data(
                "shed_read",
                &json!({"zone": "storage", "path": "own/a.txt"}),
            );
        }),
        ("shed_create_file", |wire, number| {
            wire.data("shed_create_file", &own_file("storage", number));
        }),
    ];
    let mut met = true;
    for (name, call) in calls {
        let cost = |&size: &usize| cost_of_connections(size, call);
        let figures: Vec<_> = sizes.iter().map(cost).collect();
        met &= row(&format!("{name}, µs of the server"), &figures);
    }
    met
}

/// Microseconds of the server's processor time a call.
fn cost_of_connections(connections: usize, call: Call) -> f64 {
    let server = server();
    for caller in 0..CALLERS.min(connections) {
        let mut wire = Wire::open(&server, &format!("user-{caller}"), "bench");
        wire.data("shed_create_file", &own_file("storage", 0));
    }
    let all_are_there = Barrier::new(connections + 1);
    let (server, all_are_there) = (&server, &all_are_there);
    std::thread::scope(|scope| {
        let client = move |number: usize| {
            let mut wire = Wire::open(server, &format!("user-{}", number % CALLERS), "bench");
            call(&mut wire, number);
            all_are_there.wait();
            let until = Instant::now() + SLICE;
            let mut count = 0;
            while Instant::now() < until {
                call(&mut wire, number);
                count += 1;
            }
            count
        };
        let clients: Vec<_> = (0..connections)
            .map(|number| scope.spawn(move || client(number)))
            .collect();
        all_are_there.wait();
        let process = server.process().as_raw_nonzero().get();
        let before = processor_time(process);
        let calls: usize = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum();
        processor_time(process).saturating_sub(before).as_secs_f64() * 1e6 / calls as f64
    })
}

fn server() -> Server {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_QUOTA_PER_USER_MB", "20000")
        .env("FILESHED_MAX_FILES", "2000000")
        .start()
}

fn bounded(sizes: &[usize]) -> Vec<usize> {
    let most = std::env::var("GROWTH_MOST").ok();
    let most = most.and_then(|number| number.parse().ok());
    let fits = |size: &usize| most.is_none_or(|most| *size <= most);
    sizes.iter().copied().filter(fits).collect()
}

fn heading(of: &str, sizes: &[usize]) {
    print!("\n{of:<48}");
    for size in sizes {
        print!("{size:>11}");
    }
    println!("    growth");
}

/// Prints the figures of a call; whether the last is about the first.
fn row(name: &str, figures: &[f64]) -> bool {
    print!("{name:<48}");
    for figure in figures {
        print!("{figure:>11.2}");
    }
    let growth = figures[figures.len() - 1] / figures[0];
    let met = growth <= GROWTH_RATIO;
    let said = if met { "met" } else { "MISSED" };
    println!("{growth:>9.2} x   target {GROWTH_RATIO} x: {said}");
    met
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

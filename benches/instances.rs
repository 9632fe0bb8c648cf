//! Throughput of one, two and three servers on one PostgreSQL compared with one server on a file, and the
//! cost of a call there: `cargo bench --bench instances`.
//!
//! Everything runs on this machine, PostgreSQL and the callers too, so more servers have the same
//! processors: the figures say what sharing costs, not what another machine brings. Each user calls one
//! server, as a proxy sends them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints and measures"
)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use fileshed_test_servers::Postgres;
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

/// Users, each with one connection.
const USERS: usize = 12;

/// Duration of each measurement of a rate.
const TIME: Duration = Duration::from_secs(5);

/// Calls of one user alone, of whose times the median is told.
const ALONE: usize = 201;

/// A kind of call: its name, its operation, and its arguments by a number.
type Call = (&'static str, &'static str, fn(usize) -> Value);

const CALLS: [Call; 3] = [
    (
        "reads",
        "shed_read",
        |_| json!({"zone": "storage", "path": "0.txt"}),
    ),
    ("writes to storage", "shed_create_file", |number| {
        file("storage", number)
    }),
    ("writes to documents", "shed_create_file", |number| {
        file("documents", number)
    }),
];

fn file(zone: &str, number: usize) -> Value {
    let path = format!("{}.txt", number % 20);
    json!({"zone": zone, "path": path, "content": format!("{number}\n"), "overwrite": true})
}

fn main() {
    let Some(postgres) = Postgres::start_durable() else {
        return;
    };
    let with = || Server::with().env("FILESHED_API_KEYS", "service-key");
    let on_a_file = [with().start()];
    let first = with()
        .env("FILESHED_REGISTRY", &postgres.database())
        .start();
    let on_postgres = [first.again(), first.again(), first];
    let installations: [(&str, &[Server]); 4] = [
        ("file, 1 server", &on_a_file),
        ("PostgreSQL, 1", &on_postgres[..1]),
        ("2 servers", &on_postgres[..2]),
        ("3 servers", &on_postgres),
    ];
    for servers in [on_a_file.as_slice(), &on_postgres[..1]] {
        for user in 0..USERS {
            for zone in ["storage", "documents"] {
                open(servers, user).data("shed_create_file", &file(zone, 0));
            }
        }
    }
    table("calls a second", 0, &installations, rate);
    table("one call, median, ms", 2, &installations, median);
}

/// A figure of every kind of call, in every installation.
fn table(
    name: &str,
    decimals: usize,
    installations: &[(&str, &[Server])],
    measure: fn(&[Server], &Call) -> f64,
) {
    print!("\n{name:<22}");
    for (name, _) in installations {
        print!("{name:>16}");
    }
    println!();
    for call in &CALLS {
        print!("{:<22}", call.0);
        for (_, servers) in installations {
            print!("{:>16.decimals$}", measure(servers, call));
        }
        println!();
    }
}

fn open(servers: &[Server], user: usize) -> Wire {
    Wire::open(
        &servers[user % servers.len()],
        &format!("user{user}"),
        "bench",
    )
}

/// Calls a second of all users together.
fn rate(servers: &[Server], (_, operation, arguments): &Call) -> f64 {
    let (stopped, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for user in 0..USERS {
            let (stopped, calls) = (&stopped, &calls);
            scope.spawn(move || {
                let mut wire = open(servers, user);
                for number in 0.. {
                    if stopped.load(Ordering::Relaxed) {
                        break;
                    }
                    wire.data(operation, &arguments(number));
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(TIME);
        stopped.store(true, Ordering::Relaxed);
    });
    calls.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

/// Returns the median milliseconds of a user's calls while no other user calls.
fn median(servers: &[Server], (_, operation, arguments): &Call) -> f64 {
    let mut wire = open(servers, 0);
    let mut times: Vec<f64> = (0..ALONE)
        .map(|number| {
            let begun = Instant::now();
            wire.data(operation, &arguments(number));
            begun.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ALONE / 2]
}

//! Cost of calls with the registry on PostgreSQL, compared with a file: `cargo bench --bench registry`.
//!
//! Both servers run on this machine and are asked in turns; PostgreSQL listens on a socket and flushes
//! every commit. Then the same among few and among many tenants. A missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, measures, and stops where it cannot go on"
)]

use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};

use fileshed_test_servers::Postgres;
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

/// Most milliseconds that a call may take more with PostgreSQL, at the median.
const MORE: f64 = 1.0;

/// Most times that a call among many tenants may take what it takes among few.
const GROWTH: f64 = 1.5;

/// Tenants of which the registry knows in the end.
const TENANTS: usize = 100_000;

/// Measurements of each figure.
const REPETITIONS: usize = 301;

/// A call by its name, with its arguments; a number tells its repetitions apart.
type Call = (&'static str, &'static str, fn(usize) -> Value);

const CALLS: [Call; 6] = [
    (
        "shed_read",
        "shed_read",
        |_| json!({"zone": "storage", "path": "a.txt"}),
    ),
    ("shed_tree", "shed_tree", |_| json!({"zone": "storage"})),
    (
        "shed_create_file in storage",
        "shed_create_file",
        |number| file("storage", number),
    ),
    (
        "shed_create_file in documents",
        "shed_create_file",
        |number| file("documents", number),
    ),
    ("shed_link_list", "shed_link_list", |_| json!({})),
    (
        "shed_exec true",
        "shed_exec",
        |_| json!({"zone": "storage", "cmd": "true"}),
    ),
];

fn file(zone: &str, number: usize) -> Value {
    let path = format!("{}.txt", number % 20);
    json!({"zone": zone, "path": path, "content": format!("{number}\n"), "overwrite": true})
}

fn main() -> ExitCode {
    let Some(postgres) = Postgres::start_durable() else {
        return ExitCode::SUCCESS;
    };
    let url = postgres.database();
    let with = || Server::with().env("FILESHED_API_KEYS", "service-key");
    let servers = [
        with().start(),
        with().env("FILESHED_REGISTRY", &url).start(),
    ];
    println!(
        "\n{:<34}{:>10}{:>13}{:>10}",
        "call, median", "SQLite", "PostgreSQL", "more"
    );
    let few = measure(&servers);
    let mut met = true;
    for ((name, ..), [file, database]) in CALLS.iter().zip(&few) {
        let more = database - file;
        let verdict = if more <= MORE { "met" } else { "missed" };
        met &= more <= MORE;
        println!(
            "{name:<34}{file:>7.2} ms{database:>10.2} ms{more:>7.2} ms   target {MORE} ms: {verdict}"
        );
    }
    // As many tenants as have used every zone and made a link.
    let name = url.rsplit('/').next().unwrap();
    postgres.run(
        name,
        &format!(
            "SET search_path TO fileshed;
             INSERT INTO users SELECT 'user' || n, 'User', 1, NULL FROM generate_series(1, {TENANTS}) n;
             INSERT INTO usage SELECT 'users/' || n, zone, 1000, 10 FROM generate_series(1, {TENANTS}) n,
             (VALUES ('storage'), ('documents'), ('uploads')) zones (zone);
             INSERT INTO last_calls SELECT 'users/' || n, 1 FROM generate_series(1, {TENANTS}) n;
             INSERT INTO links SELECT 'link' || n, 'users/' || n, 'user' || n, 'c', 'storage', NULL, 'a',
             'download', 1, 4000000000 FROM generate_series(1, {TENANTS}) n; ANALYZE;"
        ),
    );
    println!(
        "\n{:<34}{:>10}{:>13}{:>10}",
        "PostgreSQL, tenants", "few", TENANTS, "growth"
    );
    let many = measure(&servers);
    for (((name, ..), [_, few]), [_, many]) in CALLS.iter().zip(&few).zip(&many) {
        let growth = many / few;
        let verdict = if growth <= GROWTH { "met" } else { "missed" };
        met &= growth <= GROWTH;
        println!(
            "{name:<34}{few:>7.2} ms{many:>10.2} ms{growth:>9.2}x   target {GROWTH}: {verdict}"
        );
    }
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The medians of all calls on both servers, in milliseconds, measured in turns.
fn measure(servers: &[Server; 2]) -> Vec<[f64; 2]> {
    let mut wires = servers
        .each_ref()
        .map(|server| Wire::open(server, "ada", "bench"));
    for wire in &mut wires {
        let made =
            json!({"zone": "storage", "path": "a.txt", "content": "text\n", "overwrite": true});
        wire.data("shed_create_file", &made);
    }
    let measured = CALLS.iter().map(|(_, operation, arguments)| {
        let mut times = [Vec::new(), Vec::new()];
        for number in 0..REPETITIONS {
            for (wire, times) in wires.iter_mut().zip(&mut times) {
                let begun = Instant::now();
                wire.data(operation, &arguments(number));
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
        }
        times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[REPETITIONS / 2]
        })
    });
    measured.collect()
}

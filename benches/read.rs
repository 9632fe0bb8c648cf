//! Cost of reading a small file compared with a bare handler of axum that opens one, reads it and answers:
//! `cargo bench --bench read`.
//!
//! One bare handler reads where the request is served, as fast as that can be; the other hands the read
//! to a thread that may block, as handlers have to where files may lie on a slow disk. Only ratios
//! count. A missed target ends with status 1.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it cannot go on"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;
use serde_json::json;

#[path = "bare/handler.rs"]
mod handler;

use handler::Process;

/// Least share of either bare handler.
const SHARE: f64 = 0.6;

/// Clients at a time.
const CLIENTS: [usize; 2] = [1, 8];

/// Duration of a measurement of a rate, and number of measurements.
const SLICE: Duration = Duration::from_millis(700);
const SLICES: usize = 7;

/// The file below the directory of the server that its log goes to.
const LOG: &str = "server.log";

/// Longest wait until a server listens.
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    if let Some(mut told) = handler::arguments() {
        handler::serve(bare_routes(told.next().unwrap().into()));
        return ExitCode::SUCCESS;
    }
    let setup = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .env("FILESHED_NAMESPACE", "plain")
        .through(&["sh", "-c", &format!("exec \"$0\" \"$@\" 2>{LOG}")]);
    let server = Process(setup.piped(&["serve", "--bind", "127.0.0.1:0"]));
    let address = listening(&setup.path(LOG));
    let content = "a line of a small file\n".repeat(40);
    let call = json!({"zone": "storage", "path": "notes/small.txt", "content": content});
    let mut wire = Wire::connect(&address, "reader", "bench").unwrap();
    wire.data("shed_create_file", &call);
    let file = setup.path("data/users/reader/Storage/data/notes/small.txt");
    let (bare, bare_address) = handler::start(&[&file]);
    let request = |line: &str, headers: &str, body: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let terminal_key =
        "Authorization: Bearer terminal-key\r\nX-User-Id: reader\r\nX-Session-Id: bench\r\n";
    let service_key = "Authorization: Bearer service-key\r\nX-OpenWebUI-User-Id: reader\r\n";
    let sides = [
        (
            "GET /terminal/files/read",
            &*address,
            request(
                "GET /terminal/files/read?path=/storage/notes/small.txt",
                terminal_key,
                "",
            ),
        ),
        (
            "GET /files/content",
            &*address,
            request(
                "GET /files/content?zone=storage&path=notes/small.txt",
                service_key,
                "",
            ),
        ),
        (
            "POST /shed_read",
            &*address,
            request(
                "POST /shed_read",
                service_key,
                r#"{"zone": "storage", "path": "notes/small.txt"}"#,
            ),
        ),
        ("bare", &*bare_address, request("GET /in-place", "", "")),
        ("bare", &*bare_address, request("GET /handed-over", "", "")),
    ];
    let mut met = true;
    for clients in CLIENTS {
        let mut rates = sides.each_ref().map(|_| Vec::new());
        for slice in 0..=SLICES {
            for ((_, address, request), rates) in sides.iter().zip(&mut rates) {
                let rate = rate(clients, address, request, content.len());
                // The first ones warm up.
                if slice > 0 {
                    rates.push(rate);
                }
            }
        }
        let [ours @ .., in_place, handed_over] = rates.map(median);
        println!("{clients} client(s):");
        for ((name, ..), rate) in sides.iter().zip(ours) {
            for (floor, bare) in [("in another thread", handed_over), ("in place", in_place)] {
                let share = rate / bare;
                let said = if share >= SHARE { "met" } else { "MISSED" };
                met &= share >= SHARE;
                println!(
                    "    {name:<26}{rate:>8.0} /s   bare, {floor:<18}{bare:>8.0} /s   {share:>5.2}   \
                     target {SHARE}: {said}"
                );
            }
        }
    }
    drop((server, bare));
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\na target is missed");
        ExitCode::FAILURE
    }
}

/// The routes without a workspace.
fn bare_routes(file: PathBuf) -> Router {
    let other = file.clone();
    let read = |file: &Path| std::fs::read(file).unwrap();
    Router::new()
        .route("/in-place", get(async move || read(&file)))
        .route(
            "/handed-over",
            get(async move || {
                let file = other.clone();
                let work = tokio::task::spawn_blocking(move || read(&file));
                work.await.unwrap()
            }),
        )
}

/// Returns the address of the server from its log.
fn listening(log: &Path) -> String {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let line = text.split_once("listening address=");
        if let Some((address, _)) = line.and_then(|(_, rest)| rest.split_once('\n')) {
            return address.to_owned();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the server does not listen");
}

/// Returns how often a second so many clients read the same, each on a connection of its own. Each answer
/// has at least `least` bytes.
fn rate(clients: usize, address: &str, request: &[u8], least: usize) -> f64 {
    let begun = Instant::now();
    let until = begun + SLICE;
    let count: usize = std::thread::scope(|scope| {
        let client = || {
            let mut stream = handler::connect(address);
            let mut read = [0; 8192];
            let mut count = 0;
            while Instant::now() < until {
                let body = handler::exchange(&mut stream, request, &mut read);
                assert!(body >= least, "{body} bytes");
                count += 1;
            }
            count
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let counts = threads.into_iter().map(|thread| thread.join().unwrap());
        counts.sum()
    });
    count as f64 / begun.elapsed().as_secs_f64()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

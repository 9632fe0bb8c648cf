//! Effect of one user's many calls on another user, and that none of them is refused.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

use super::at_most;

/// Connections of the user who writes.
const WRITERS: usize = 256;

/// Most times that a call of the other user takes, at the median, what it takes alone.
const RATIO: f64 = 8.0;

/// Calls of the other user.
const CALLS: usize = 400;

/// Commands and readers of one user at the same time, and rounds of them.
const COMMANDS: usize = 8;
const READERS: usize = 16;
const ROUNDS: usize = 5;

/// Bytes of the file that is read.
const FILE_BYTES: usize = 4 * 1024 * 1024;

pub(super) fn fairness(server: &Server) -> bool {
    beside_writes(server, "storage") & beside_writes(server, "documents") & in_parallel(server)
}

/// `shed_tree` of one user while another writes as much as can be.
fn beside_writes(server: &Server, zone: &str) -> bool {
    let (quiet, busy) = (format!("quiet-{zone}"), format!("busy-{zone}"));
    let mut wire = Wire::open(server, &quiet, "bench");
    wire.data("shed_create_file", &small_file("storage", 0));
    trees(&mut wire);
    let alone = trees(&mut wire);
    let all_write = Barrier::new(WRITERS + 1);
    let stops = AtomicBool::new(false);
    let [written, refused] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let (beside, rate) = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (busy, all_write, stops) = (&busy, &all_write, &stops);
            let (written, refused) = (&written, &refused);
            scope.spawn(move || {
                let mut wire = Wire::open(server, busy, "bench");
                all_write.wait();
                while !stops.load(Ordering::Relaxed) {
                    let call = small_file(zone, writer);
                    let (status, answer) = wire.call("shed_create_file", &call).unwrap();
                    assert!([200, 429, 503].contains(&status), "{status} {answer}");
                    let count = if status == 200 { written } else { refused };
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        all_write.wait();
        let (begun, before) = (Instant::now(), written.load(Ordering::Relaxed));
        let beside = trees(&mut wire);
        let writes = written.load(Ordering::Relaxed) - before;
        let rate = writes as f64 / begun.elapsed().as_secs_f64();
        stops.store(true, Ordering::Relaxed);
        (beside, rate)
    });
    let refused = refused.into_inner();
    println!(
        "shed_tree beside {WRITERS} connections that write into {zone} ({rate:.0} /s, {refused} told to come back):"
    );
    for (name, times) in [("alone", &alone), ("beside", &beside)] {
        let (median, late) = (share(times, 50), share(times, 99));
        println!("    {name}: median {median:.2} ms, 99 of 100 below {late:.2} ms");
    }
    let ratio = share(&beside, 50) / share(&alone, 50);
    at_most("    median beside against alone", ratio, RATIO, "x")
}

fn small_file(zone: &str, name: usize) -> Value {
    json!({"zone": zone, "path": format!("{name}.txt"), "content": "x", "overwrite": true})
}

/// Milliseconds of `shed_tree`, sorted.
fn trees(wire: &mut Wire) -> Vec<f64> {
    let mut times: Vec<f64> = (0..CALLS)
        .map(|_| {
            let begun = Instant::now();
            wire.data("shed_tree", &json!({"zone": "storage"}));
            begun.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times
}

/// Returns the value that `percent` of a hundred do not exceed.
fn share(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

/// Commands and readers of one user, more than have a place: none is refused.
fn in_parallel(server: &Server) -> bool {
    let content = vec![b'x'; FILE_BYTES];
    let address = "/files/content?zone=storage&path=large.bin";
    let client = server.as_user("parallel");
    assert!(client.send("PUT", address, &content).status < 300);
    let refused = |parallel: usize, call: &(dyn Fn() -> u16 + Sync)| {
        let refused = AtomicUsize::new(0);
        for _ in 0..ROUNDS {
            std::thread::scope(|scope| {
                for _ in 0..parallel {
                    scope.spawn(|| {
                        let is_refused = !(200..300).contains(&call());
                        refused.fetch_add(usize::from(is_refused), Ordering::Relaxed);
                    });
                }
            });
        }
        refused.into_inner() as f64
    };
    let command = || {
        let call = json!({"zone": "storage", "cmd": "sleep", "args": ["0.05"]});
        server.as_user("parallel").call("shed_exec", &call).status
    };
    let read = || server.as_user("parallel").get(address).status;
    let row = |parallel: usize, what: &str, call: &(dyn Fn() -> u16 + Sync)| {
        let name = format!("{parallel} {what} of one user, refused");
        at_most(&name, refused(parallel, call), 0.0, "")
    };
    row(COMMANDS, "commands", &command) & row(READERS, "readers", &read)
}

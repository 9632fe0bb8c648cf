//! Very many commands, after which the server is as it was.

use std::path::{Path, PathBuf};

use serde_json::json;

use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, comes, processes, skip, variables, wait_until};

const CLIENTS: usize = 4;

/// Commands of all clients, unless `FILESHED_TEST_COMMANDS` says otherwise.
const COMMANDS: u64 = 120;

/// Commands that end in every way: well, with a status, refused, with a file and with a change.
const LINES: &[(&str, &[&str])] = &[
    ("echo", &["hello"]),
    ("cat", &["a.txt"]),
    ("false", &[]),
    ("cat", &["missing"]),
    ("cat", &["/etc/passwd"]),
    ("sort", &["-o", "sorted.txt", "a.txt"]),
];

fn proc(server: &Server, name: &str) -> PathBuf {
    let pid = server.process().as_raw_nonzero();
    Path::new("/proc").join(pid.to_string()).join(name)
}

/// Returns the targets of the open descriptors. The server hides them from its own account: only root sees
/// them.
fn descriptors(server: &Server) -> Vec<PathBuf> {
    let open = std::fs::read_dir(proc(server, "fd"));
    let open = open.into_iter().flatten().flatten();
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .collect()
}

fn sockets(server: &Server) -> usize {
    let open = descriptors(server);
    let socket = |to: &&PathBuf| to.to_string_lossy().starts_with("socket:");
    open.iter().filter(socket).count()
}

/// Open descriptors, once no more sockets are open than `idle`: connections that clients have
/// closed are closed here a moment later.
fn settled(server: &Server, idle: usize) -> usize {
    let _closed = comes(|| (sockets(server) <= idle).then_some(()));
    descriptors(server).len()
}

fn staged(server: &Server) -> Vec<PathBuf> {
    let homes = std::fs::read_dir(server.data().join("users")).expect("listed");
    homes
        .flatten()
        .filter_map(|home| std::fs::read_dir(home.path().join("staging")).ok())
        .flat_map(Iterator::flatten)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|end| end != "lock"))
        .collect()
}

fn run(server: &Server, commands: usize) {
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut wire = Wire::open(server, &format!("user{client}"), "chat");
                for number in 0..commands / CLIENTS {
                    let (command, args) = LINES[number % LINES.len()];
                    let line = json!({"zone": "storage", "cmd": command, "args": args});
                    let (status, answer) = wire.call("shed_exec", &line).expect("answered");
                    assert!(status < 500, "{answer}");
                }
            });
        }
    });
}

#[test]
fn very_many_commands_leave_nothing_behind() {
    let commands = variables::commands(COMMANDS) as usize;
    let server = Server::with_key();
    let idle = sockets(&server);
    for client in 0..CLIENTS {
        let file = json!({"zone": "storage", "path": "a.txt", "content": "b\na\n"});
        let user = server.as_user(&format!("user{client}"));
        user.call("shed_create_file", &file).data();
    }
    // Resources that the first calls create exist before the first measurement.
    run(&server, CLIENTS * LINES.len());
    let open = settled(&server, idle);
    if open == 0 {
        assert!(!rustix::process::geteuid().is_root());
        skip("descriptors of the server: only root can count them");
    }
    run(&server, commands);
    let pid = server.process().as_raw_nonzero().get();
    assert_eq!(processes::left_of_commands(pid), Vec::<String>::new());
    // Its streams, of which the first is the socket, its handle on itself, and the jails that wait. Only
    // root can look.
    if open > 0 {
        let kept = format!("/proc/{}/fd", processes::helper(pid));
        wait_until("the helper keeps few descriptors", || {
            std::fs::read_dir(&kept).expect("listed").count() <= 4 + 2 * 6
        });
    }
    let open_after = settled(&server, idle);
    assert!(
        open_after.abs_diff(open) <= 3,
        "{open} open descriptors became {open_after}"
    );
    assert_eq!(staged(&server), Vec::<PathBuf>::new());
}

//! What shells take, and that nothing of them stays.

use fileshed_test_support::processes::left_of_commands;
use fileshed_test_support::{Server, skip, wait_until};

use super::{proxy, setup, shell};

/// Descriptors and kilobytes of memory of a server.
fn taken(app: &Server) -> (usize, u64) {
    let process = app.process().as_raw_nonzero();
    if std::fs::read_dir(format!("/proc/{process}/fd")).is_err() {
        skip("memory of the server: it is hidden from who is not root");
        return (0, 0);
    }
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"))
        .expect("there")
        .count();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("there");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse().ok());
    (descriptors, resident.expect("a number"))
}

#[test]
fn who_prints_for_ever_waits_for_who_reads() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    let (_, before) = taken(&app);
    shell.type_in("yes 'for ever and ever'\n");
    // Nobody reads for a while: the server must not.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let (_, after) = taken(&app);
    assert!(after < before + 8 * 1024, "{before} kB, then {after} kB");
    // A client that reads has everything, and its signal arrives.
    let shown = shell.bytes(1 << 20);
    assert!(
        shown
            .windows(16)
            .any(|window| window == b"for ever and eve")
    );
    shell.type_in("\x03");
    shell.until("^C");
    shell.until("$ ");
    shell.type_in("echo qui''et\n");
    shell.until("\nquiet\r\n");
}

#[test]
fn fifty_at_once_leave_nothing() {
    let app = setup().env("FILESHED_TERMINAL_MAX_SHELLS", "50").start();
    drop(shell(&app, "warm", "c0"));
    let all = |round: u32| {
        let shells: Vec<_> = (0..50)
            .map(|number| {
                shell(
                    &app,
                    &format!("user{}", number % 10),
                    &format!("c{round}-{number}"),
                )
            })
            .collect();
        for (number, (_, mut shell)) in shells.into_iter().enumerate() {
            shell.type_in(&format!("sleep 1000 & echo $(({number} * 1000))\n"));
            shell.until(&format!("\n{}\r\n", number * 1000).replace("\n0\r\n", "0\r\n"));
            if number % 2 == 0 {
                shell.type_in("exit\n");
                // Bash says once that there are jobs.
                shell.type_in("exit\n");
                shell.close_code();
            }
        }
        for number in 0..10 {
            for chat in 0..50 {
                let client = proxy(&app, &format!("user{number}"), &format!("c{round}-{chat}"));
                let listed = client.get("/terminal/api/terminals");
                for entry in listed.body.as_array().expect("a list") {
                    let id = entry["id"].as_str().expect("an id");
                    client.send("DELETE", &format!("/terminal/api/terminals/{id}"), b"");
                }
            }
        }
    };
    all(0);
    let before = taken(&app);
    all(1);
    wait_until("descriptors are given back", || {
        taken(&app).0 <= before.0 + 5
    });
    let after = taken(&app);
    assert!(after.1 < before.1 + 16 * 1024, "{before:?} {after:?}");
}

#[test]
fn the_end_of_the_server_is_the_end_of_its_shells() {
    for kill in [true, false] {
        let mut app = setup().start();
        let (_, mut shell) = shell(&app, "ada", "c1");
        let mark = format!("{}", 3_000_000 + std::process::id());
        shell.type_in(&format!("sleep {mark} & set''sid sleep {mark} & (trap '' HUP TERM; sleep {mark}) & echo st''arted\n"));
        shell.until("\nstarted\r\n");
        shell.type_in("echo do''ne > /storage/done; echo o''k\n");
        shell.until("\nok\r\n");
        if kill {
            app.kill();
        } else {
            app.terminate();
            assert_eq!(app.wait(), Some(0));
        }
        wait_until("all processes are gone", || sleeping(&mark) == 0);
    }
}

/// Processes of `sleep` with this argument.
fn sleeping(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("there").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let named = format!("sleep\0{mark}\0");
    lines.filter(|line| line == named.as_bytes()).count()
}

#[test]
fn a_shell_that_ends_takes_its_jobs_along() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("sleep 1000 & (sleep 1000 &) ; echo st''arted\n");
    shell.until("\nstarted\r\n");
    shell.type_in("exit\n");
    shell.type_in("exit\n");
    shell.close_code();
    assert_eq!(
        left_of_commands(app.process().as_raw_nonzero().get()),
        [""; 0]
    );
}

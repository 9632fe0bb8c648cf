//! Memory of shells, and its release when they end.

use fileshed_test_support::commands::running;
use fileshed_test_support::processes::left_of_commands;
use fileshed_test_support::{Server, skip, wait_until};

use super::{proxy, setup, shell};

/// Descriptors of a server.
fn descriptors(app: &Server) -> usize {
    let process = app.process().as_raw_nonzero();
    let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
        skip("descriptors of the server: they are hidden from everybody but root");
        return 0;
    };
    open.count()
}

#[test]
fn who_prints_for_ever_waits_for_who_reads() {
    let app = setup().start();
    let (_, mut shell) = shell(&app, "ada", "c1");
    shell.type_in("yes 'for ever and ever'\n");
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
fn many_at_once_leave_nothing() {
    let app = setup().env("FILESHED_TERMINAL_MAX_SHELLS", "20").start();
    drop(shell(&app, "warm", "c0"));
    let all = |round: u32| {
        let shells: Vec<_> = (0..20)
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
            for chat in 0..20 {
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
    let before = descriptors(&app);
    all(1);
    wait_until("descriptors are given back", || {
        descriptors(&app) <= before + 5
    });
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
        wait_until("all processes are gone", || running(&mark).is_empty());
    }
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

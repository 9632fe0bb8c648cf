//! Many members at once.

use serde_json::json;

use crate::groups::team::{app, assert_sound, call, done, file, home, make, setup};
use fileshed_test_support::on_disk::take_turn;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, wait_until};

const MEMBERS: usize = 50;

/// Changes of each member.
const ROUNDS: usize = 4;

#[test]
fn fifty_members_who_write_at_once_lose_nothing() {
    let server: Server = setup().start();
    let names: Vec<String> = (0..MEMBERS).map(|number| format!("m{number}")).collect();
    let mut members: Vec<&str> = names.iter().map(String::as_str).collect();
    members.push("ada");
    make(&server, "team", "Team", &members);
    std::thread::scope(|scope| {
        for name in &names {
            let server = &server;
            scope.spawn(move || {
                let mut wire = Wire::open(server, name, "work");
                for round in 0..ROUNDS {
                    let own = json!({"zone": "group", "group": "Team", "path": format!("{name}/{round}.md"),
                        "content": format!("{name} {round}\n"), "mode": "owner"});
                    wire.data("shed_create_file", &own);
                    let log = json!({"zone": "group", "group": "Team", "path": "log.md",
                        "content": format!("{name} {round}\n")});
                    wire.data("shed_patch_text", &log);
                }
            });
        }
    });
    let data = home(&server).join("data");
    let log = std::fs::read_to_string(data.join("log.md")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), MEMBERS * ROUNDS, "a line is lost or doubled");
    for name in &names {
        for round in 0..ROUNDS {
            let text = std::fs::read_to_string(data.join(format!("{name}/{round}.md"))).unwrap();
            assert_eq!(text, format!("{name} {round}\n"));
        }
    }
    assert_sound(&server);
    let repository = crate::groups::team::repository(&server);
    assert_eq!(repository.commits(), (MEMBERS * ROUNDS * 2) as u64);
    // Each commit is that of who made it.
    for name in &names {
        let author = format!("--author=^{name} <");
        let count = repository.text(&["rev-list", "--count", &author, "HEAD"]);
        assert_eq!(count, (ROUNDS * 2).to_string(), "{name}");
    }
}

#[test]
fn who_reads_does_not_wait_for_who_writes() {
    let server = app();
    let [ada, bob] = ["ada", "bob"].map(|user| server.as_user(user));
    file(&ada, "d/f.txt", "text", "owner");
    // The turn of a writer in another process that shares the data.
    let Some(turn) = take_turn(&home(&server).join("staging/group.lock")) else {
        return;
    };
    for (operation, arguments) in [
        ("shed_tree", json!({})),
        ("shed_group_info", json!({})),
        ("shed_exec", json!({"cmd": "cat", "args": ["d/f.txt"]})),
        ("shed_file_type", json!({"path": "d/f.txt"})),
        ("shed_hexdump", json!({"path": "d/f.txt"})),
    ] {
        done(&bob, operation, arguments);
    }
    let content = "/files/content?zone=group&group=Team&path=d/f.txt";
    assert_eq!(bob.get(content).text, "text");
    // The calls above did not wait for the writer, whose lock is released only after all of this.
    let write = json!({"path": "g.txt", "content": "x"});
    std::thread::scope(|scope| {
        let late = scope.spawn(|| call(&bob, "shed_create_file", write));
        wait_until("who waits for the turn is told", || {
            server.advance(1);
            late.is_finished()
        });
        late.join().unwrap().refused(429, "BUSY");
    });
    drop(turn);
    done(
        &bob,
        "shed_create_file",
        json!({"path": "g.txt", "content": "x"}),
    );
}

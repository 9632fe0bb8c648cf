//! A whole project of a hundred files.

use std::fmt::Write as _;

use serde_json::json;

use crate::jobs::desk::{Desk, ZONES};
use fileshed_test_support::Server;
use fileshed_test_support::on_disk::Tree;
use fileshed_test_support::rng::Rng;

/// Seed of what the files hold.
const SEED: u64 = 7;

/// The files of the project, always the same: some short, some of hundreds of lines.
fn sources() -> Tree {
    let mut rng = Rng::new(SEED);
    let names = ["lib.rs", "main.rs", "ops/help.rs", "http/page/style.css"];
    let names = names.into_iter().map(str::to_owned);
    let names = names.chain((0..36).map(|number| format!("ops/operation_{number}.rs")));
    let names = names.chain((0..20).map(|number| format!("http/page/web/{number}.js")));
    let names = names.chain((0..40).map(|number| format!("core/{}/{number}.rs", number % 8)));
    names
        .map(|name| {
            let mut text = format!("//! {name}\n");
            for line in 0..=rng.below(300) {
                writeln!(text, "    let value_{line} = {:x}; // \u{e9}", rng.draw()).unwrap();
            }
            (name, text.into_bytes())
        })
        .collect()
}

#[test]
fn two_people_keep_a_project_each() {
    let server = Server::with_key();
    let sources = sources();
    std::thread::scope(|scope| {
        for user in ["ada", "grace"] {
            let (server, sources) = (&server, &sources);
            scope.spawn(move || keep_a_project(server, user, sources));
        }
    });
}

fn keep_a_project(server: &Server, user: &str, sources: &Tree) {
    let mut desk = Desk::of(server, user);
    for zone in ZONES {
        for (path, content) in sources {
            desk.create(zone, &format!("src/{path}"), content);
        }
        for (number, path) in sources.keys().enumerate() {
            let path = format!("src/{path}");
            if number % 4 == 0 {
                desk.reads_back(zone, &path);
            }
            if number % 12 == 0 {
                desk.copy_by_output(zone, &path, &format!("copies/{number}.txt"));
            }
        }
        edit(&mut desk, zone, user, sources);
        let found = desk.exec(
            zone,
            "grep",
            &["-rlF", &format!("edited by {user}"), "source"],
        );
        assert_eq!(found.lines().count(), sources.len().div_ceil(3));
    }
    let listed = desk
        .wire
        .data("shed_tree", &json!({"zone": "documents", "depth": 1}));
    assert!(listed["tree"].as_str().unwrap().contains("source/"));
    desk.assert_in_order();
}

/// Changes some files, moves the project, and removes a part of it.
fn edit(desk: &mut Desk<'_>, zone: &'static str, user: &str, sources: &Tree) {
    for path in sources.keys().step_by(3) {
        desk.append(zone, &format!("src/{path}"), &format!("edited by {user}\n"));
    }
    for path in sources.keys().step_by(7) {
        let path = format!("src/{path}");
        let call = json!({"zone": zone, "path": path, "content": "first\n", "position": "before",
            "line": 1});
        desk.wire.data("shed_patch_text", &call);
        let content = &desk.files(zone)[&path];
        let content = [b"first\n", content.as_slice()].concat();
        desk.files(zone).insert(path, content);
        desk.changed(zone);
    }
    desk.rename(zone, "src", "source");
    desk.rename(zone, "source/ops/help.rs", "source/ops/guides.rs");
    desk.rename(zone, "copies", "a/b c/copies");
    desk.delete(zone, "a");
    desk.append(zone, "source/lib.rs", "// the end\n");
    desk.exec(zone, "cp", &["-r", "source/http", "source/http copy"]);
    let copied: Vec<(String, Vec<u8>)> = desk
        .files(zone)
        .iter()
        .filter_map(|(path, content)| {
            let rest = path.strip_prefix("source/http/")?;
            Some((format!("source/http copy/{rest}"), content.clone()))
        })
        .collect();
    // The copies hold what was edited, too.
    for (path, content) in copied {
        desk.files(zone).insert(path, content);
    }
    desk.changed(zone);
    desk.delete(zone, "source/http copy");
}

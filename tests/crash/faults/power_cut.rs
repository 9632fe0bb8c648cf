//! Power cuts, as far as they can be simulated from outside: content that was not flushed is missing, empty
//! or cut, and the kernel was restarted.

use std::path::{Path, PathBuf};

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::on_disk::{Repository, Tree, assert_same, tree};

/// Every file of an object, the ones that came last at the end.
fn objects(repository: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in std::fs::read_dir(repository.join("objects")).unwrap() {
        let directory = directory.unwrap().path();
        if directory.file_name().unwrap().len() == 2 {
            let items = std::fs::read_dir(directory).unwrap();
            found.extend(items.map(|item| item.unwrap().path()));
        }
    }
    found
}

fn leave(file: &Path, number: usize) {
    let content = std::fs::read(file).unwrap();
    std::fs::remove_file(file).unwrap();
    match number % 4 {
        0 => {}
        1 => std::fs::write(file, "").unwrap(),
        2 => std::fs::write(file, &content[..content.len() / 2]).unwrap(),
        _ => std::fs::write(file, vec![0; content.len()]).unwrap(),
    }
}

fn start_of_another_kernel(repository: &Path) {
    let earlier = "00000000-0000-4000-8000-000000000000";
    std::fs::write(repository.join("fileshed/boot"), earlier).unwrap();
}

/// A zone with history, and the names of what holds it and of the call's parameters.
fn power_cut(zone: &str, parent: &str) {
    let mut server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "headers")
        .start();
    let parent = server.data().join(parent);
    let repository = parent.join("repo.git");
    let mut expected = Tree::new();
    let write = |server: &Server, expected: &mut Tree, number: usize| {
        let client = server.as_user("ada").chat("chat");
        let (path, content) = (format!("notes/{}.md", number % 3), format!("{number}\n"));
        let file = json!({"path": path, "content": content});
        client.data_in(zone, "shed_create_file", file);
        expected.insert(path, content.into_bytes());
    };
    for number in 0..4 {
        write(&server, &mut expected, number);
    }
    let git = Repository::at(&repository, &parent.join("data"));
    let flushed = git.text(&["rev-parse", "HEAD"]);
    let before = objects(&repository);
    for number in 4..10 {
        write(&server, &mut expected, number);
    }
    server.kill();
    let mut lost = objects(&repository);
    lost.retain(|file| !before.contains(file));
    for (number, file) in lost.iter().enumerate() {
        leave(file, number);
    }
    std::fs::write(repository.join("refs/heads/main"), "").unwrap();
    std::fs::write(repository.join("index"), "").unwrap();
    start_of_another_kernel(&repository);
    let server = server.again();
    let client = server.as_user("ada").chat("chat");
    let read = client.data_in(
        zone,
        "shed_exec",
        json!({"cmd": "cat", "args": ["notes/0.md"]}),
    );
    assert_eq!(read["stdout"], "9\n");
    assert_same(&tree(&parent.join("data")), &expected, "files");
    git.assert_sound();
    assert_eq!(git.text(&["rev-parse", "HEAD^"]), flushed);
    assert_eq!(git.text(&["status", "--porcelain"]), "");
    // The next change is a commit of its own again.
    write(&server, &mut expected, 10);
    let subjects = git.text(&["log", "-2", "--format=%an: %s"]);
    assert_eq!(
        subjects.trim_end(),
        "ada: Update notes/1.md\nfileshed: Recovered after the machine stopped"
    );
    assert_same(&tree(&parent.join("data")), &expected, "files");
}

#[test]
fn documents_are_committed_again_after_a_power_cut() {
    power_cut("documents", "users/ada/Documents");
}

#[test]
fn a_group_is_committed_again_after_a_power_cut() {
    power_cut("group", "groups/team-ada");
}

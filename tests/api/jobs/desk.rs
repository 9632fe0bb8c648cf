//! A user at work, and what everything should be like afterwards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use fileshed_test_support::on_disk::{Repository, Tree, assert_same, staged, totals, tree};
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, wait_until};

/// The zones that keep files.
pub(crate) const ZONES: [&str; 2] = ["storage", "documents"];

/// One user with a connection, and the files that the user should have.
pub(crate) struct Desk<'a> {
    server: &'a Server,
    pub(crate) wire: Wire,
    user: String,
    expected: BTreeMap<&'static str, Tree>,
    /// Commits that the calls so far should have made.
    pub(crate) commits: u64,
}

impl<'a> Desk<'a> {
    pub(crate) fn of(server: &'a Server, user: &str) -> Self {
        let mut desk = Self {
            server,
            wire: Wire::open(server, user, "work"),
            user: user.to_owned(),
            expected: ZONES.map(|zone| (zone, Tree::new())).into(),
            commits: 0,
        };
        desk.create("storage", "whose", user.as_bytes());
        desk
    }

    pub(crate) fn files(&mut self, zone: &'static str) -> &mut Tree {
        self.expected.entry(zone).or_default()
    }

    /// Counts a change where changes are commits.
    pub(crate) fn changed(&mut self, zone: &str) {
        self.commits += u64::from(zone == "documents");
    }

    pub(crate) fn create(&mut self, zone: &'static str, path: &str, content: &[u8]) {
        let text = std::str::from_utf8(content).unwrap();
        let arguments = json!({"zone": zone, "path": path, "content": text});
        let data = self.wire.data("shed_create_file", &arguments);
        assert_eq!(data["file_size"], content.len(), "{path}");
        self.files(zone).insert(path.to_owned(), content.to_vec());
        self.changed(zone);
    }

    /// Appends a text.
    pub(crate) fn append(&mut self, zone: &'static str, path: &str, text: &str) {
        let arguments = json!({"zone": zone, "path": path, "content": text});
        self.wire.data("shed_patch_text", &arguments);
        let content = self.files(zone).entry(path.to_owned()).or_default();
        content.extend_from_slice(text.as_bytes());
        self.changed(zone);
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn exec(&mut self, zone: &str, command: &str, arguments: &[&str]) -> String {
        let call = json!({"zone": zone, "cmd": command, "args": arguments, "max_output": 0});
        let data = self.wire.data("shed_exec", &call);
        assert_eq!(data["returncode"], 0, "{command} {arguments:?}: {data}");
        assert_eq!(data["truncated"], false, "{command} {arguments:?}");
        assert_eq!(data["stderr"], "", "{command} {arguments:?}");
        data["stdout"].as_str().unwrap().to_owned()
    }

    /// Asserts that a command reads what was written.
    pub(crate) fn reads_back(&mut self, zone: &'static str, path: &str) {
        let content = self.exec(zone, "cat", &[path]);
        assert!(
            content.as_bytes() == self.files(zone)[path],
            "{zone} {path}"
        );
    }

    /// Stores what `cat` prints in another file.
    pub(crate) fn copy_by_output(&mut self, zone: &'static str, from: &str, to: &str) {
        let call = json!({"zone": zone, "cmd": "cat", "args": [from], "stdout_file": to});
        let data = self.wire.data("shed_exec", &call);
        let content = self.files(zone)[from].clone();
        assert_eq!(data["stdout_file_size"], content.len(), "{to}");
        self.files(zone).insert(to.to_owned(), content);
        self.changed(zone);
    }

    /// Renames a file, or a directory with everything below.
    pub(crate) fn rename(&mut self, zone: &'static str, from: &str, to: &str) {
        let call = json!({"zone": zone, "old_path": from, "new_path": to});
        self.wire.data("shed_rename", &call);
        let files = std::mem::take(self.files(zone));
        let moved = files.into_iter().map(|(path, content)| {
            let path = match path.strip_prefix(from) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
                _ => path,
            };
            (path, content)
        });
        *self.files(zone) = moved.collect();
        self.changed(zone);
    }

    /// Deletes a file, or a directory with everything below.
    pub(crate) fn delete(&mut self, zone: &'static str, path: &str) {
        let call = json!({"zone": zone, "path": path});
        self.wire.data("shed_delete", &call);
        let below = format!("{path}/");
        self.files(zone)
            .retain(|name, _| name != path && !name.starts_with(&below));
        self.changed(zone);
    }

    /// Returns the user's directory, which only the files in it identify.
    pub(crate) fn home(&self) -> PathBuf {
        let users = std::fs::read_dir(self.server.data().join("users")).unwrap();
        let mut homes = users.map(|item| item.unwrap().path());
        let mine = |home: &PathBuf| {
            std::fs::read_to_string(home.join("Storage/data/whose")).is_ok_and(|it| it == self.user)
        };
        homes.find(mine).unwrap()
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::of(&self.home())
    }

    /// Asserts that disk, history and ledger have what they should have.
    pub(crate) fn assert_in_order(&mut self) {
        let home = self.home();
        let stats = self.wire.data("shed_stats", &json!({}));
        for (zone, directory) in [("storage", "Storage"), ("documents", "Documents")] {
            let found = tree(&home.join(directory).join("data"));
            assert_same(
                &found,
                &self.expected[zone],
                &format!("{} {zone}", self.user),
            );
            let counted = |name: &str| stats[zone][name].as_u64().unwrap();
            assert_eq!(
                (counted("size_bytes"), counted("files")),
                totals(&found),
                "{zone}"
            );
        }
        if self.commits > 0 {
            assert_eq!(
                self.exec("documents", "git", &["status", "--porcelain"]),
                ""
            );
            let repository = self.repository();
            repository.assert_sound();
            assert_same(
                &repository.tree("HEAD"),
                &self.expected["documents"],
                "HEAD",
            );
            assert_eq!(repository.commits(), self.commits, "{}", self.user);
        }
        // Removed files leave the disk after the answer.
        wait_until("nothing is staged", || staged(&home).is_empty());
    }
}

/// A member of an answer as a text.
#[track_caller]
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap()
}

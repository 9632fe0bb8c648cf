//! Directories that arrive whole, and several renames that count as one.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;

use super::*;

impl Scene {
    /// Every file and directory of the zone.
    fn everything(&self) -> BTreeMap<String, String> {
        let mut everything = BTreeMap::new();
        let see = |found: &WalkEntry| {
            let content = match found.kind {
                Kind::File => self.read(found.path.as_str()),
                kind => kind.describe().to_owned(),
            };
            everything.insert(found.path.as_str().to_owned(), content);
            Ok(true)
        };
        self.data.walk(&ZonePath::root(), see).expect("walked");
        everything
    }

    fn directory(&self, files: &[(&str, &str)]) -> StagedDirectory {
        let directory = self.staging.directory().expect("made");
        for (name, content) in files {
            let mut file = directory.create_file(&path(name), false).expect("made");
            file.write_all(content.as_bytes()).expect("written");
        }
        directory
    }

    fn merge(&self, files: &[(&str, &str)], into: &str) -> Result<Merge, DiskError> {
        let entry = self.data.entry(&path(into)).expect("there");
        self.directory(files).merge_into(&self.data, &entry)
    }
}

#[test]
fn a_staged_directory_holds_what_is_made_in_it_and_nothing_else() {
    let scene = Scene::new();
    let directory = scene.staging.directory().expect("made");
    directory
        .create_directory(&path("empty/below"))
        .expect("made");
    directory
        .create_directory(&path("empty"))
        .expect("is there");
    for (name, executable) in [("a/b/run", true), ("a/b/read", false)] {
        let mut file = directory
            .create_file(&path(name), executable)
            .expect("made");
        file.write_all(b"12345").expect("written");
        let noon = std::time::UNIX_EPOCH + fileshed_types::timings::hours(12);
        file.set_modified(noon).expect("set");
    }
    let error = directory.create_file(&path("a/b/run"), true);
    assert!(matches!(error, Err(DiskError::Exists { .. })), "{error:?}");
    let error = directory.create_directory(&path("a/b/run/x"));
    assert!(
        matches!(error, Err(DiskError::NotADirectory { .. })),
        "{error:?}"
    );
    let totals = Totals {
        bytes: 10,
        files: 2,
    };
    assert_eq!(directory.weight().expect("counted").totals, totals);
    let largest = directory.weight().expect("weighed").largest;
    assert_eq!(largest.expect("a file").1, 5);
    let target = scene.data.target(&path("x/y")).expect("free");
    directory.install(target).expect("installed").keep();
    for (name, mode) in [("run", 0o755), ("read", 0o644)] {
        let there = fs::metadata(scene.at(&format!("x/y/a/b/{name}"))).expect("there");
        assert_eq!((there.mode() & 0o777, there.mtime()), (mode, 43_200));
    }
    assert!(scene.at("x/y/empty/below").is_dir());
    drop(scene.directory(&[("a/b", "gone with its handle")]));
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn names_and_kinds_are_told_without_the_state_of_each() {
    let scene = Scene::new();
    scene.write("some/file", "12345");
    scene.write("some/below/file", "");
    std::os::unix::fs::symlink("file", scene.at("some/link")).expect("made");
    let directory = scene.data.hold(&path("some")).expect("open");
    let mut names = directory.names().expect("listed");
    names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let expected = [
        ("below", Kind::Directory),
        ("file", Kind::File),
        ("link", Kind::Symlink),
    ];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let found = directory.look("file").expect("seen").expect("there");
    assert_eq!((found.path.as_str(), found.size()), ("some/file", 5));
    assert!(directory.look("other").expect("seen").is_none());
}

#[test]
fn a_directory_takes_the_place_of_another_or_leaves_it_as_it_was() {
    let scene = Scene::new();
    scene.write("old/a/b", "old");
    let before = scene.everything();
    for keep in [false, true] {
        let entry = scene.data.entry(&path("old")).expect("there");
        let staged = scene.directory(&[("new/c", "new")]);
        let installed = staged.install(Target::Entry(entry)).expect("installed");
        assert!(!scene.at("old/a").exists());
        assert_eq!(scene.read("old/new/c"), "new");
        if keep {
            installed.keep();
            assert_eq!(scene.read("old/new/c"), "new");
        } else {
            drop(installed);
            assert_eq!(scene.everything(), before);
        }
        assert_eq!(scene.staged(), Vec::<String>::new());
    }
}

#[test]
fn a_copy_has_the_contents_that_are_not_left_out() {
    let scene = Scene::new();
    scene.write("from/a/one", "1");
    scene.write("from/b/two", "22");
    scene.write("from/empty", "");
    scene.write("from/large", &"x".repeat(1 << 20));
    scene.write("from/b/left", "out");
    let entry = scene.data.entry(&path("from")).expect("there");
    let skip = |inside: &ZonePath| inside.as_str() == "b/left";
    let copied = scene.staging.copy_tree(&scene.data, &entry, skip);
    let copy = copied.expect("copied");
    let staged = copy.stamp(&path("a/one")).expect("a state");
    assert_eq!(copy.weight().expect("weighed").totals.files, 4);
    let target = scene.data.target(&path("to")).expect("free");
    copy.install(target, None).expect("installed").keep();
    assert_eq!(scene.read("to/large"), "x".repeat(1 << 20));
    assert_eq!(scene.read("to/b/two"), "22");
    // The states are those of the files wherever they are.
    let there = scene.data.entry(&path("to/a/one")).expect("there");
    assert!(staged.has_content_of(&there.stamp()));
}

#[test]
fn copies_have_files_and_directories_and_nothing_else() {
    let scene = Scene::new();
    scene.write("from/a/run", "#!");
    fs::set_permissions(scene.at("from/a/run"), fs::Permissions::from_mode(0o700)).expect("set");
    scene.write("from/.git/config", "secret");
    fs::create_dir(scene.at("from/empty")).expect("made");
    let copy = |what: &str| {
        let entry = scene.data.entry(&path(what)).expect("there");
        let skip = |inside: &ZonePath| inside.has_git_segment();
        let copied = scene.staging.copy_tree(&scene.data, &entry, skip);
        copied.map(|copy| (copy.weight().expect("weighed").totals.bytes, copy))
    };
    let (bytes, whole) = copy("from").expect("copied");
    assert_eq!(bytes, 2);
    let target = scene.data.target(&path("to")).expect("free");
    whole.install(target, None).expect("installed").keep();
    assert!(scene.at("to/empty").is_dir());
    assert!(!scene.at("to/.git").exists());
    let mode = fs::metadata(scene.at("to/a/run")).expect("there").mode();
    assert_eq!(mode & 0o777, 0o755);
    let (bytes, _file) = copy("from/a/run").expect("copied");
    assert_eq!(bytes, 2);

    symlink("a/run", scene.at("from/link")).expect("linked");
    for what in ["from", "from/link"] {
        let error = copy(what).expect_err("a link");
        assert!(
            error.to_string().contains("`from/link` is a symbolic link"),
            "{error}"
        );
    }
    fs::remove_file(scene.at("from/link")).expect("removed");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, scene.at("from/pipe"), fifo, Mode::RWXU, 0).expect("made");
    let error = copy("from").expect_err("a pipe");
    assert!(
        error.to_string().contains("`from/pipe` is a special file"),
        "{error}"
    );
    fs::remove_file(scene.at("from/pipe")).expect("removed");
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"from/\xff");
    fs::write(
        scene.base.path().join("data").join::<&std::ffi::OsStr>(odd),
        "x",
    )
    .expect("written");
    let error = copy("from").expect_err("not UTF-8");
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[test]
fn files_that_are_replaced_come_back_when_it_was_not_final() {
    let scene = Scene::new();
    scene.write("a", "old a");
    scene.write("d/b", "old b");
    scene.write("d/kept", "kept");
    let before = scene.everything();
    let files = [("a", "new a"), ("d/b", "new b"), ("e/c", "new c")];
    let merge = || {
        let root = scene.data.entry(&ZonePath::root()).expect("there");
        let merge = scene.directory(&files).merge_over(&scene.data, &root);
        merge.expect("fits")
    };
    let living = || Ok(vec!["other".to_owned()]);
    for steps in 0..=3 {
        let (journal, _) = merge().prepare().expect("written");
        assert_eq!(journal.take_some(steps), steps);
        std::mem::forget(journal);
        for journal in scene.staging.journals(living).expect("read") {
            scene.staging.roll_back(&journal).expect("undone");
        }
        assert_eq!(scene.everything(), before, "{steps}");
        scene.staging.sweep(living).expect("swept");
    }
    drop(merge().carry_out().expect("moved in"));
    assert_eq!(scene.everything(), before, "undone");
    let journal = merge().carry_out().expect("moved in");
    journal.keep().expect("kept");
    for (name, content) in files {
        assert_eq!(scene.read(name), content);
    }
    assert_eq!(scene.read("d/kept"), "kept");
    assert_eq!(scene.staged(), Vec::<String>::new());
    // A directory is never replaced, nor a file by one.
    for files in [[("d", "x")], [("a/b", "x")]] {
        let root = scene.data.entry(&ZonePath::root()).expect("there");
        let merge = scene.directory(&files).merge_over(&scene.data, &root);
        assert!(matches!(merge, Err(DiskError::Clash { .. })), "{merge:?}");
    }
}

#[test]
fn merging_adds_and_never_replaces() {
    let scene = Scene::new();
    scene.write("to/a/old", "old");
    scene.write("to/b", "old");
    let before = scene.everything();
    let files = [
        ("a/new", "1"),
        ("a/c/d", "22"),
        ("e/f", "333"),
        ("g", "4444"),
    ];
    let merge = scene.merge(&files, "to").expect("fits");
    let mut paths: Vec<&str> = merge.paths().map(ZonePath::as_str).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["to/a/c", "to/a/new", "to/e", "to/g"]);
    assert_eq!(
        (merge.weight().totals.bytes, merge.weight().totals.files),
        (10, 4)
    );
    assert_eq!(merge.largest(), Some((path("to/g"), 4)));
    drop(merge.carry_out().expect("moved in"));
    assert_eq!(scene.everything(), before, "undone");
    scene
        .merge(&files, "to")
        .expect("fits")
        .carry_out()
        .expect("moved in")
        .keep()
        .expect("kept");
    assert_eq!(scene.read("to/a/c/d"), "22");
    assert_eq!(scene.read("to/a/old"), "old");
    let before = scene.everything();
    assert_eq!(scene.staged(), Vec::<String>::new());

    // Existing entries stay, and the failure names them.
    let files = [("a/new", "x"), ("b/c", "x"), ("h", "x"), ("g/x", "x")];
    let error = scene.merge(&files, "to").expect_err("in the way");
    assert_eq!(
        error.to_string(),
        "already exists: `to/a/new`, `to/b`, `to/g`"
    );
    let many: Vec<String> = (0..9).map(|number| format!("a/{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
    scene
        .merge(&many, "to")
        .expect("fits")
        .carry_out()
        .expect("in")
        .keep()
        .expect("kept");
    let error = scene.merge(&many, "to").expect_err("in the way");
    assert!(
        error.to_string().ends_with("`to/a/4` and 4 more"),
        "{error}"
    );
    for (name, _) in &many {
        fs::remove_file(scene.at(&format!("to/{name}"))).expect("removed");
    }

    // Entries that were created in between are in the way, too.
    let merge = scene.merge(&[("i", "x"), ("j", "x")], "to").expect("fits");
    scene.write("to/i", "theirs");
    scene.write("to/j", "theirs");
    let error = merge.carry_out().expect_err("in the way");
    assert!(matches!(error, DiskError::Clash { .. }), "{error:?}");
    assert_eq!(scene.read("to/i"), "theirs");
    fs::remove_file(scene.at("to/i")).expect("removed");
    fs::remove_file(scene.at("to/j")).expect("removed");
    assert_eq!(scene.everything(), before);
    assert_eq!(scene.staged(), Vec::<String>::new());
}

/// Merges five entries, is gone after `steps` of them, and somebody else comes.
fn interrupted_after(scene: &Scene, steps: usize) {
    let files = [
        ("a/1", "1"),
        ("b/2", "2"),
        ("3", "3"),
        ("a/4", "4"),
        ("c/5", "5"),
    ];
    let (journal, _) = scene
        .merge(&files, "to")
        .expect("fits")
        .prepare()
        .expect("written");
    assert_eq!(journal.take_some(steps), steps.min(5));
    std::mem::forget(journal);
}

#[test]
fn a_merge_that_was_interrupted_is_undone() {
    let scene = Scene::new();
    scene.write("to/a/old", "old");
    let before = scene.everything();
    for steps in 0..=5 {
        interrupted_after(&scene, steps);
        let living = || Ok(vec!["other".to_owned()]);
        scene.staging.sweep(living).expect("swept");
        assert!(scene.staged().len() >= 2, "what a journal needs stays");
        let mine = || Ok(vec!["me".to_owned()]);
        assert_eq!(
            scene.staging.journals(mine).expect("read"),
            Vec::<String>::new()
        );
        for journal in scene.staging.journals(living).expect("read") {
            scene.staging.roll_back(&journal).expect("undone");
            scene.staging.roll_back(&journal).expect("once is enough");
        }
        assert_eq!(scene.everything(), before, "{steps}");
        scene.staging.sweep(living).expect("swept");
        assert_eq!(scene.staged(), Vec::<String>::new());
    }
}

#[test]
fn a_journal_that_was_not_written_out_means_nothing() {
    let scene = Scene::new();
    let journal = scene.base.path().join("staging/dead-1.journal");
    for text in ["", "[{\"exchange\":fal"] {
        fs::write(&journal, text).expect("written");
        scene
            .staging
            .roll_back("dead-1.journal")
            .expect("nothing to do");
        assert!(!journal.exists());
    }
}

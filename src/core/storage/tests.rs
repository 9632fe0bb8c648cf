//! Effects that are undone, trees of any depth, and links that lead nowhere.

mod append;
mod cached;
mod directories;
mod renames;

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets};
use tempfile::TempDir;

use super::staging::{Staging, remove_tree};
use super::*;
use fileshed_types::Clock;
use fileshed_types::settings::Durability;
use fileshed_types::timings::{StorageTimings, hours};
use fileshed_types::zone::ZonePath;

struct Scene {
    base: TempDir,
    data: Root,
    staging: Staging,
}

impl Scene {
    fn new() -> Self {
        let base = TempDir::new().expect("a directory");
        let root = Root::open_ambient(base.path()).expect("opens");
        let beside = root.subdirectory("staging").expect("made");
        Self {
            data: root.subdirectory("data").expect("made"),
            staging: Staging::new(beside, "me"),
            base,
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.path().join("data").join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().expect("a parent")).expect("made");
        fs::write(at, content).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("read")
    }

    fn staged(&self) -> Vec<String> {
        let listing = fs::read_dir(self.base.path().join("staging")).expect("listed");
        let name = |item: std::io::Result<fs::DirEntry>| item.expect("an item").file_name();
        let names = listing.map(|item| name(item).to_string_lossy().into_owned());
        names.collect()
    }

    fn install(&self, at: &str, content: &[u8]) -> Result<Installed, DiskError> {
        let target = self.data.target(&path(at)).expect("a target");
        self.staging.write(content).expect("staged").install(target)
    }
}

fn path(text: &str) -> ZonePath {
    ZonePath::parse("path", text).expect("a path")
}

/// Runs without the rights that root has over files that it owns.
fn as_nobody_special<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let none = CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: CapabilitySet::empty(),
                inheritable: CapabilitySet::empty(),
            };
            rustix::thread::set_capabilities(None, none).expect("dropped");
            work()
        });
        thread.join().expect("no panic")
    })
}

#[test]
fn a_name_is_found_in_the_spelling_that_it_has() {
    let scene = Scene::new();
    scene.write("e\u{301}/o\u{308}.md", "text");
    let asked = path("\u{e9}/\u{f6}.md");
    let found = scene.data.entry(&asked).expect("there");
    assert_eq!(found.path().as_str(), "e\u{301}/o\u{308}.md");
    assert!(matches!(
        scene.data.entry_as_named(&asked),
        Err(DiskError::NotFound { .. })
    ));
    // A second spelling cannot be created beside it.
    let free = scene.data.vacancy(&path("\u{e9}/\u{f6}.md"));
    assert!(matches!(free, Err(DiskError::Exists { .. })), "{free:?}");
    let free = scene.data.vacancy(&path("\u{e9}/n/new.md")).expect("free");
    assert_eq!(free.path().as_str(), "e\u{301}/n/new.md");
    assert_eq!(free.existing_segments(), 1);
    // NFC comes first if both exist.
    scene.write("\u{e9}/\u{f6}.md", "composed");
    let found = scene.data.entry(&asked).expect("there");
    assert_eq!(found.path(), &asked);
    let all = scene.data.spellings(&asked).expect("found");
    assert_eq!(all.len(), 2);
    assert_eq!(all.first(), Some(&asked));
}

#[test]
fn what_is_not_kept_is_as_it_was() {
    let scene = Scene::new();
    scene.write("old", "old");
    fs::set_permissions(scene.at("old"), fs::Permissions::from_mode(0o750)).expect("set");

    let installed = scene.install("old", b"new").expect("installed");
    assert_eq!(scene.read("old"), "new");
    drop(installed);
    assert_eq!(scene.read("old"), "old");

    let installed = scene.install("a/b/c/new", b"new").expect("installed");
    assert_eq!(scene.read("a/b/c/new"), "new");
    drop(installed);
    assert!(
        !scene.at("a").exists(),
        "directories that were made go, too"
    );

    let entry = scene.data.entry(&path("old")).expect("there");
    let removed = scene.staging.remove(&entry).expect("removed");
    assert!(!scene.at("old").exists());
    drop(removed);
    assert_eq!(scene.read("old"), "old");

    let vacancy = scene.data.vacancy(&path("x/y/z")).expect("free");
    let renamed = Renamed::new(&entry, vacancy, &scene.staging).expect("renamed");
    assert_eq!(scene.read("x/y/z"), "old");
    drop(renamed);
    assert_eq!(scene.read("old"), "old");
    assert!(!scene.at("x").exists());

    let mode = fs::metadata(scene.at("old")).expect("there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o750);
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn what_is_kept_stays() {
    let scene = Scene::new();
    scene.write("old", "old");
    fs::set_permissions(scene.at("old"), fs::Permissions::from_mode(0o750)).expect("set");
    scene.install("old", b"new").expect("installed").keep();
    assert_eq!(scene.read("old"), "new");
    let mode = fs::metadata(scene.at("old")).expect("there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o750, "the mode is the file's");
    scene.install("a/b", b"b").expect("installed").keep();

    let entry = scene.data.entry(&path("a")).expect("there");
    let vacancy = scene.data.vacancy(&path("c/d")).expect("free");
    Renamed::new(&entry, vacancy, &scene.staging)
        .expect("renamed")
        .keep();
    assert_eq!(scene.read("c/d/b"), "b");

    let entry = scene.data.entry(&path("c")).expect("there");
    let removed = scene.staging.remove(&entry).expect("removed");
    removed.keep().expect("gone");
    assert!(!scene.at("c").exists());
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn a_directory_that_others_use_is_not_taken_back() {
    let scene = Scene::new();
    let installed = scene.install("a/b/new", b"new").expect("installed");
    scene.write("a/other", "other");
    drop(installed);
    assert!(!scene.at("a/b").exists());
    assert_eq!(scene.read("a/other"), "other");
}

#[test]
fn what_came_in_between_is_in_the_way() {
    let scene = Scene::new();
    // A free name that is taken by now.
    let target = scene.data.target(&path("a/new")).expect("a target");
    let staged = scene.staging.write(b"mine").expect("staged");
    scene.write("a/new", "theirs");
    let error = staged.install(target).expect_err("taken");
    assert!(matches!(error, DiskError::Exists { .. }), "{error:?}");
    assert_eq!(scene.read("a/new"), "theirs");
    // A file that is a directory by now: it stays with all that it holds.
    let target = scene.data.target(&path("a/new")).expect("a target");
    let staged = scene.staging.write(b"mine").expect("staged");
    fs::remove_file(scene.at("a/new")).expect("removed");
    scene.write("a/new/precious", "precious");
    let error = staged.install(target).expect_err("a directory");
    assert!(matches!(error, DiskError::NotAFile { .. }), "{error:?}");
    assert_eq!(scene.read("a/new/precious"), "precious");
    // A directory cannot move into itself.
    let entry = scene.data.entry(&path("a")).expect("there");
    let vacancy = scene.data.vacancy(&path("a/b/c")).expect("free");
    let error = Renamed::new(&entry, vacancy, &scene.staging).expect_err("into itself");
    assert!(matches!(error, DiskError::IntoItself { .. }), "{error:?}");
    assert!(!scene.at("a/b").exists());
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn staged_content_and_private_directories_go_with_their_handles() {
    let scene = Scene::new();
    let staged = scene.staging.write(b"x").expect("staged");
    let private = scene.staging.private_directory().expect("made");
    fs::create_dir_all(private.location().join("a/b")).expect("made");
    symlink("/", private.location().join("link")).expect("linked");
    assert_eq!(scene.staged().len(), 2);
    drop((staged, private));
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn what_a_child_leaves_in_its_private_directory_leads_no_write_elsewhere() {
    let scene = Scene::new();
    let private = scene.staging.private_directory().expect("made");
    let replace = || private.replace(("own", "a"), &mut &b"new"[..], None);
    replace().expect("written");
    let own = private.location().join("own");
    let outside = scene.base.path().join("outside");
    fs::create_dir(&outside).expect("made");
    let kept = outside.join("a");
    fs::write(&kept, "kept").expect("written");
    fs::remove_file(own.join("a")).expect("removed");
    for name in ["a", "a.new"] {
        symlink(&kept, own.join(name)).expect("linked");
    }
    replace().expect("written");
    assert_eq!(fs::read_to_string(own.join("a")).expect("read"), "new");
    fs::remove_dir_all(&own).expect("removed");
    symlink(&outside, &own).expect("linked");
    replace().expect_err("a link");
    assert_eq!(fs::read_to_string(&kept).expect("read"), "kept");
    assert!(!outside.join("a.new").exists());
}

#[test]
fn sweeping_spares_the_living() {
    let scene = Scene::new();
    let mine = scene.staging.write(b"x").expect("staged");
    let staging = scene.base.path().join("staging");
    fs::write(staging.join("other-1"), "x").expect("written");
    fs::write(staging.join("dead-1"), "x").expect("written");
    fs::write(staging.join("me2-1"), "x").expect("written");
    fs::create_dir_all(staging.join("dead-2/a")).expect("made");
    fs::write(staging.join("storage.lock"), "").expect("written");
    let living = || Ok(vec!["me".to_owned(), "other".to_owned()]);
    scene.staging.sweep(living).expect("swept");
    let mut left = scene.staged();
    left.sort();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left[0].starts_with("me-"));
    assert_eq!(left[1..], ["other-1", "storage.lock"]);
    drop(mine);
}

#[test]
fn what_two_remove_at_once_is_gone_for_both() {
    let scene = Scene::new();
    let parent = scene.data.handle().try_clone_to_owned();
    let parent = Arc::new(parent.expect("cloned"));
    for round in 0..100 {
        let name = format!("tree{round}");
        for directory in ["a/b", "c", "d"] {
            fs::create_dir_all(scene.at(&format!("{name}/{directory}"))).expect("made");
        }
        std::thread::scope(|scope| {
            let removing = [(); 2].map(|()| scope.spawn(|| remove_tree(&parent, &name)));
            for removed in removing {
                removed.join().expect("joined").expect("removed");
            }
        });
    }
    assert_eq!(fs::read_dir(scene.at(".")).expect("listed").count(), 0);
}

/// A chain of directories that no path could name, with a file and a link on the way.
fn nest(top: &Path, levels: usize, outside: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::create_dir(top).expect("made");
    let mut at: OwnedFd = rustix::fs::open(top, flags, Mode::empty()).expect("opened");
    for level in 0..levels {
        if level % 100 == 0 {
            rustix::fs::symlinkat(outside, &at, "link").expect("linked");
            let file = OFlags::WRONLY | OFlags::CREATE;
            let file = rustix::fs::openat(&at, "file", file, Mode::RWXU).expect("made");
            rustix::io::write(&file, b"12345").expect("written");
        }
        rustix::fs::mkdirat(&at, "nested", Mode::RWXU).expect("made");
        at = rustix::fs::openat(&at, "nested", flags, Mode::empty()).expect("opened");
    }
}

#[test]
fn trees_of_any_depth_are_counted_and_removed() {
    let scene = Scene::new();
    let outside = scene.base.path().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("precious"), "precious").expect("written");
    nest(&scene.at("deep"), 3000, &outside);
    let totals = Totals {
        bytes: 30 * 5,
        files: 30,
    };
    assert_eq!(scene.data.measure().expect("counted"), totals);
    let mut seen = 0;
    let walked = scene.data.walk(&path("deep"), |_| {
        seen += 1;
        Ok(true)
    });
    walked.expect("walked");
    assert!(seen > 400, "as far as a path can say: {seen}");
    let entry = scene.data.entry(&path("deep")).expect("there");
    let removed = scene.staging.remove(&entry).expect("removed");
    removed.keep().expect("gone");
    assert_eq!(scene.staged(), Vec::<String>::new());
    assert!(outside.join("precious").exists());
}

#[test]
fn what_nobody_may_look_into_is_counted_and_removed() {
    let scene = Scene::new();
    for directory in ["closed", "closed/inner", "readonly", "readonly/inner"] {
        scene.write(&format!("{directory}/file"), "12345");
    }
    for (directory, mode) in [
        ("closed/inner", 0o000),
        ("closed", 0o000),
        ("readonly/inner", 0o500),
        ("readonly", 0o500),
    ] {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(scene.at(directory), mode).expect("set");
    }
    as_nobody_special(|| {
        assert!(fs::read_dir(scene.at("closed")).is_err(), "rights count");
        let totals = scene.data.measure().expect("counted");
        assert_eq!((totals.bytes, totals.files), (20, 4));
        for name in ["closed", "readonly"] {
            let parent = scene.data.handle().try_clone_to_owned();
            remove_tree(&Arc::new(parent.expect("cloned")), name).expect("removed");
            assert!(!scene.at(name).exists());
        }
    });
    assert_eq!(fs::read_dir(scene.at(".")).expect("listed").count(), 0);
}

#[test]
fn links_are_followed_inside_and_nowhere_else() {
    let scene = Scene::new();
    fs::write(scene.base.path().join("secret"), "secret").expect("written");
    scene.write("a/file", "inside");
    for (name, target) in [
        ("in", "a/file"),
        ("directory", "a"),
        ("out", "../secret"),
        ("absolute", "/etc/passwd"),
        // Nobody learns what is there outside.
        ("unknown", "../unknown"),
        ("absolute-unknown", "/unknown/file"),
        ("above", ".."),
        ("magic", "/proc/self/cwd"),
        ("loop", "loop"),
        ("dangling", "a/nothing"),
    ] {
        symlink(target, scene.at(name)).expect("linked");
    }
    let read = |name: &str| scene.data.followed(&path(name)).and_then(|it| it.content());
    assert_eq!(read("in").expect("inside"), b"inside");
    assert_eq!(read("directory/file").expect("inside"), b"inside");
    for name in [
        "out",
        "absolute",
        "unknown",
        "absolute-unknown",
        "above/secret",
        "above",
        "magic",
        "loop",
    ] {
        let error = read(name).expect_err(name);
        assert!(
            matches!(error, DiskError::Escape { .. }),
            "{name}: {error:?}"
        );
    }
    // A dangling link is neither read nor written through, and its name is taken.
    let error = read("dangling").expect_err("nothing there");
    assert!(matches!(error, DiskError::NotFound { .. }), "{error:?}");
    let error = scene.data.target(&path("dangling")).expect_err("a link");
    assert!(matches!(error, DiskError::Exists { .. }), "{error:?}");
    let error = scene.data.vacancy(&path("dangling")).expect_err("a link");
    assert!(matches!(error, DiskError::Exists { .. }), "{error:?}");
    let error = scene.data.vacancy(&path("dangling/x")).expect_err("a link");
    assert!(
        matches!(error, DiskError::NotADirectory { .. }),
        "{error:?}"
    );
    // Links themselves can be removed; their targets stay.
    for name in ["out", "directory", "dangling"] {
        let entry = scene.data.entry(&path(name)).expect("a link");
        assert_eq!(entry.kind(), Kind::Symlink);
        let removed = scene.staging.remove(&entry).expect("removed");
        removed.keep().expect("gone");
    }
    assert_eq!(scene.read("a/file"), "inside");
    // Links count nothing, and a measurement does not go through them.
    let totals = scene.data.measure().expect("counted");
    assert_eq!((totals.bytes, totals.files), (6, 1));
}

#[test]
fn a_directory_that_is_made_meanwhile_is_no_file() {
    let scene = Scene::new();
    let looked_at = |directory: &ZonePath| {
        fs::create_dir_all(scene.at(directory.as_str())).expect("made");
        scene.data.entry_as_named(directory)
    };
    let vacancy = scene.data.vacancy_where(&path("d/a.txt"), looked_at);
    assert_eq!(vacancy.expect("free").path(), &path("d/a.txt"));
}

#[test]
fn a_vacancy_knows_what_is_missing() {
    let scene = Scene::new();
    scene.write("a/file", "x");
    symlink("a", scene.at("link")).expect("linked");
    let vacancy = scene.data.vacancy(&path("a/b/c/d")).expect("free");
    assert_eq!(vacancy.existing_segments(), 1);
    assert_eq!(vacancy.path().as_str(), "a/b/c/d");
    // Through a link inside: the path without it.
    let vacancy = scene.data.vacancy(&path("link/b")).expect("free");
    assert_eq!(
        (vacancy.existing_segments(), vacancy.path().as_str()),
        (1, "a/b")
    );
    for (name, taken) in [("a/file", true), ("a", true), ("a/file/b", false)] {
        let error = scene.data.vacancy(&path(name)).expect_err(name);
        match error {
            DiskError::Exists { .. } => assert!(taken, "{name}"),
            DiskError::NotADirectory { .. } => assert!(!taken, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_strict_flusher_waits_and_a_relaxed_one_does_not() {
    let scene = Scene::new();
    let strict = Flusher::start(
        &scene.data,
        Durability::Strict,
        &Clock::SYSTEM,
        &StorageTimings::STANDARD,
    )
    .expect("starts");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    strict.changed();
                }
            });
        }
    });
    assert!(strict.is_flushed(), "nobody came back before the flush");
    let clock = Clock::movable();
    let start = || {
        let slow = StorageTimings {
            sync: hours(100),
            ..StorageTimings::STANDARD
        };
        let relaxed = Flusher::start(&scene.data, Durability::Relaxed, &clock, &slow);
        relaxed.expect("starts")
    };
    let relaxed = start();
    relaxed.changed();
    assert!(!relaxed.is_flushed(), "what comes soon shares the flush");
    while !relaxed.is_flushed() {
        clock.pass(hours(100));
        std::thread::yield_now();
    }
    // Nobody waits for hours until one ends.
    let relaxed = start();
    relaxed.changed();
    drop(relaxed);
}

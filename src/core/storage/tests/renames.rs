//! Interrupted steps of journals, if the file system needs several calls for one step.

use std::os::unix::fs::MetadataExt as _;

use super::*;

const ASIDE: &str = "staging/dead-1.journal.aside";
const STAGED: &str = "staging/dead-0";
const PLACE: &str = "data/place";

impl Scene {
    /// A file or a directory with one, that holds `content`.
    fn make(&self, name: &str, is_directory: bool, content: &str) {
        let at = self.base.path().join(name);
        if is_directory {
            fs::create_dir(&at).expect("made");
            fs::write(at.join("inside"), content).expect("written");
        } else {
            fs::write(at, content).expect("written");
        }
    }

    /// Returns the content that [`Scene::make`] wrote, if it is there.
    fn holds(&self, name: &str) -> Option<String> {
        let at = self.base.path().join(name);
        fs::read_to_string(&at)
            .or_else(|_| fs::read_to_string(at.join("inside")))
            .ok()
    }

    fn move_by_hand(&self, from: &str, to: &str) {
        let (from, to) = (self.base.path().join(from), self.base.path().join(to));
        fs::rename(from, to).expect("moved");
    }

    fn link_by_hand(&self, from: &str, to: &str) {
        let (from, to) = (self.base.path().join(from), self.base.path().join(to));
        fs::hard_link(from, to).expect("linked");
    }

    /// Writes the journal of a dead process for this step.
    fn note(&self, exchange: bool, from: &str, to: &str) {
        let inode = fs::symlink_metadata(self.base.path().join(from)).expect("there");
        let step = serde_json::json!([
            {"exchange": exchange, "inode": inode.ino(), "from": from, "to": to}
        ]);
        let note = self.base.path().join("staging/dead-1.journal");
        fs::write(note, step.to_string()).expect("written");
    }

    fn undo_dead(&self) {
        self.staging.roll_back("dead-1.journal").expect("undone");
    }
}

#[test]
fn an_exchange_is_undone_wherever_it_was_cut_off() {
    // Calls before the exchange was cut off: its own, and those of an undoing that was cut off as well.
    let of_files: [&[fn(&Scene)]; 6] = [
        &[],
        &[|scene| scene.link_by_hand(PLACE, ASIDE)],
        &[
            |scene| scene.link_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
        ],
        &[
            |scene| scene.move_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
            |scene| scene.move_by_hand(ASIDE, STAGED),
        ],
        &[
            |scene| scene.move_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
            |scene| scene.link_by_hand(PLACE, STAGED),
        ],
        &[
            |scene| scene.link_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
            |scene| scene.link_by_hand(PLACE, STAGED),
            |scene| scene.move_by_hand(ASIDE, PLACE),
        ],
    ];
    let of_directories: [&[fn(&Scene)]; 4] = [
        &[],
        &[|scene| scene.move_by_hand(PLACE, ASIDE)],
        &[
            |scene| scene.move_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
        ],
        &[
            |scene| scene.move_by_hand(PLACE, ASIDE),
            |scene| scene.move_by_hand(STAGED, PLACE),
            |scene| scene.move_by_hand(ASIDE, STAGED),
        ],
    ];
    for (old, new) in [(false, false), (true, false), (false, true), (true, true)] {
        let cuts = if old || new {
            &of_directories[..]
        } else {
            &of_files[..]
        };
        for (number, calls) in cuts.iter().enumerate() {
            let scene = Scene::new();
            scene.make(PLACE, old, "old");
            scene.make(STAGED, new, "new");
            scene.note(true, STAGED, PLACE);
            for call in *calls {
                call(&scene);
            }
            scene.undo_dead();
            let case = format!("directories: {old} {new}, cut {number}");
            assert_eq!(scene.holds(PLACE).as_deref(), Some("old"), "{case}");
            assert_eq!(scene.holds(STAGED).as_deref(), Some("new"), "{case}");
            assert_eq!(scene.holds(ASIDE), None, "{case}");
            assert_eq!(scene.staged(), ["dead-0"], "{case}");
        }
    }
}

#[test]
fn what_was_replaced_comes_back_beside_what_took_its_name() {
    let scene = Scene::new();
    scene.make(PLACE, true, "old");
    scene.make(STAGED, true, "new");
    scene.note(true, STAGED, PLACE);
    scene.move_by_hand(PLACE, ASIDE);
    scene.make(PLACE, false, "of a command");
    scene.undo_dead();
    assert_eq!(scene.holds(PLACE).as_deref(), Some("of a command"));
    assert_eq!(
        scene.holds("data/place (recovered)").as_deref(),
        Some("old")
    );
    assert_eq!(scene.holds(STAGED).as_deref(), Some("new"));
}

#[test]
fn a_file_with_both_names_has_its_old_one_again() {
    let scene = Scene::new();
    scene.make("data/from", false, "content");
    scene.note(false, "data/from", "data/to");
    scene.link_by_hand("data/from", "data/to");
    scene.undo_dead();
    assert_eq!(scene.holds("data/from").as_deref(), Some("content"));
    assert_eq!(scene.holds("data/to"), None);
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn what_the_file_system_promises_is_told() {
    let scene = Scene::new();
    let promises = scene
        .data
        .try_promises(fileshed_types::Clock::default().now())
        .expect("tried");
    let kept = |name: &str| {
        let promise = promises.iter().find(|promise| promise.name == name);
        promise.expect("a promise").support
    };
    assert!(promises.len() > 12, "{promises:?}");
    assert!(
        promises
            .iter()
            .all(|promise| promise.support != Support::Missing),
        "{promises:?}"
    );
    let is_plain = std::env::var("FILESHED_TEST_RENAMES").as_deref() == Ok("plain");
    let expected = if is_plain {
        Support::Emulated
    } else {
        kept("one-call")
    };
    assert_eq!(kept("one-call"), expected, "{promises:?}");
    assert_eq!(fs::read_dir(scene.at("")).expect("listed").count(), 0);
}

#[test]
fn names_change_on_a_file_system_that_can_do_little() {
    let scene = Scene::new();
    if std::env::var("FILESHED_TEST_RENAMES").as_deref() == Ok("plain") {
        scene.write("taken", "");
        let (data, flags) = (scene.data.handle(), rustix::fs::RenameFlags::NOREPLACE);
        let refused = rustix::fs::renameat_with(data, "taken", data, "free", flags);
        assert_eq!(
            refused,
            Err(rustix::io::Errno::INVAL),
            "the way is in force"
        );
    }
    for (kind, is_directory) in [("file", false), ("directory", true)] {
        let [from, to, other] = ["from", "to", "other"].map(|name| format!("{kind}-{name}"));
        scene.make(&format!("data/{from}"), is_directory, "moved");
        scene.make(&format!("data/{other}"), is_directory, "other");
        let entry = |name: &str| scene.data.entry(&path(name)).expect("there");
        let vacancy = |name: &str| scene.data.vacancy(&path(name)).expect("free");
        // Taken since it was looked at.
        let free = vacancy(&to);
        scene.make(&format!("data/{to}"), is_directory, "theirs");
        let refused = entry(&from).rename(free, &scene.staging);
        assert!(
            matches!(refused, Err(DiskError::Exists { .. })),
            "{refused:?}"
        );
        assert_eq!(
            scene.holds(&format!("data/{to}")).as_deref(),
            Some("theirs")
        );
        let free = vacancy(&format!("{kind}-new"));
        entry(&from).rename(free, &scene.staging).expect("renamed");
        let journal = scene.staging.supplant(&entry(&other), &entry(&to), None);
        journal.expect("moved").keep().expect("kept");
        assert_eq!(scene.holds(&format!("data/{to}")).as_deref(), Some("other"));
        let moved = scene.holds(&format!("data/{kind}-new"));
        assert_eq!(moved.as_deref(), Some("moved"));
        assert_eq!(scene.staged(), Vec::<String>::new());
    }
    let above = scene.data.entry(&path("directory-to")).expect("there");
    let below = scene
        .data
        .vacancy(&path("directory-to/below"))
        .expect("free");
    let refused = above.rename(below, &scene.staging);
    assert!(
        matches!(refused, Err(DiskError::IntoItself { .. })),
        "{refused:?}"
    );
}

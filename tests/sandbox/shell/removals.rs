//! `rm` in lines: with a bin, files that it removes from storage go there.

use std::num::NonZeroU64;

use fileshed_core::settings::NamespacePolicy;
use fileshed_core::{Code, Settings, ZoneName, ZonePath};
use fileshed_test_support::on_disk::tree;
use fileshed_test_support::{has_program, skip};

use super::git::find;
use super::scene::{Scene, caller};

/// A store with a bin; `None` if lines do not see the tree.
fn scene(configure: impl FnOnce(&mut Settings)) -> Option<Scene> {
    let scene = Scene::with(|settings| {
        settings.bin_days = NonZeroU64::new(30);
        configure(settings);
    });
    if scene.has_tree() {
        return Some(scene);
    }
    skip("no mount namespaces");
    None
}

impl Scene {
    /// The paths in the bin of a user, sorted.
    fn bin(&self, user: &str) -> Vec<String> {
        let rows = fileshed_core::bin::entries(&self.core.store, &caller(user));
        let rows = rows.expect("the bin").into_iter();
        let mut paths: Vec<String> = rows
            .map(|row| format!("{}:{}", row.zone, row.path))
            .collect();
        paths.sort();
        paths
    }
}

#[test]
fn each_name_that_a_line_removes_is_one_entry_of_the_bin() {
    let Some(scene) = scene(|_usual| ()) else {
        return;
    };
    let made =
        "mkdir -p d/e many; cd many; touch $(seq 300); cd ..; touch -- d/e/f a b c g h '-x' 'ä ö'";
    scene.line(made);
    for line in [
        "rm -r d/",
        "rm -rf many ./a",
        "cd /tmp && rm /storage/b",
        "/bin/rm c",
        "sh -c 'cd /; rm storage/g'",
        "find . -name h -exec rm {} +",
        "rm -- -x *ö",
    ] {
        let ran = scene.line(line);
        assert_eq!((ran.status, &*ran.output), (0, ""), "{line}: {ran:?}");
    }
    let kept = ["-x", "a", "b", "c", "d", "g", "h", "many", "ä ö"];
    assert_eq!(
        scene.bin("alice"),
        kept.map(|path| format!("storage:{path}"))
    );
    assert_eq!(scene.line("ls -A").output, "");
    let back = fileshed_core::bin::entries(&scene.core.store, &caller("alice")).expect("the bin");
    for row in back {
        fileshed_core::bin::bring_back(&scene.core.store, &caller("alice"), &row.id).expect("back");
    }
    assert_eq!(scene.line("ls many | wc -l; ls d/e").output, "300\nf\n");
}

#[test]
fn elsewhere_rm_removes_as_ever() {
    let Some(scene) = scene(|_usual| ()) else {
        return;
    };
    let line = "cd /tmp && mkdir d && touch d/a b && rm -r d b && ls -A; \
        cd /documents && touch a && rm a && ls -A";
    let ran = scene.line(line);
    assert_eq!((ran.status, &*ran.output), (0, ""));
    assert_eq!(scene.bin("alice"), Vec::<String>::new());
}

#[test]
fn a_line_finds_the_rm_that_it_knows() {
    let Some(kept) = scene(|_usual| ()) else {
        return;
    };
    let gone = Scene::with(|settings| settings.bin_days = None);
    let made =
        "rm -rf * .h; mkdir -p d/e empty; echo 1 > a; echo 2 > 'b c'; echo 3 > .h; echo 4 > d/f";
    for line in [
        "rm",
        "rm -f",
        "rm a",
        "rm a missing",
        "rm -f missing a",
        "rm missing/a",
        "rm a/b",
        "rm -f a/b",
        "rm a/",
        "rm -rf a/",
        "rm d",
        "rm -d d",
        "rm -d empty",
        "rm -d empty/",
        "rm -r d empty/ a",
        "rm -r d d/e",
        "rm -rf .",
        "rm -rf d/.",
        "rm -rf d/..",
        "rm -rf ./d/../d/e",
        "rm *",
        "rm -rf *",
        "rm -rf .h",
        "rm -i a",
        "rm -I a d",
        "rm -rI d a",
        "rm --interactive=never a",
        "rm --interactive=maybe a",
        "rm -x a",
        "rm --rec --forc d",
        "rm -v a",
        "rm -rv empty",
        "rm ''",
        "rm -- --",
        "rm -r --preserve-root d",
        "rm 'b c'",
        "rm 'b'\\''c'",
        "rm --help | head -n 3",
        "echo y | rm -i a",
    ] {
        let seen = [&kept, &gone].map(|scene| {
            scene.line(made);
            let ran = scene.line(line);
            let left = scene.line("find . | sort").output;
            (ran.status, ran.output, left)
        });
        assert_eq!(seen[0], seen[1], "{line}");
    }
}

#[test]
fn a_line_that_lost_the_server_says_what_is_gone_for_good() {
    let Some(scene) = scene(|_usual| ()) else {
        return;
    };
    let line = "touch a /tmp/a; exec 890>&-; rm a; rm /tmp/a; ls -A . /tmp";
    let ran = scene.line(line);
    let gone = "rm: what could not go into the bin is removed for good\n";
    assert_eq!(
        (ran.status, ran.output),
        (0, format!("{gone}.:\n\n/tmp:\n"))
    );
}

#[test]
fn what_is_held_open_in_the_bin_counts() {
    let Some(scene) = scene(|settings| settings.exec_temporary_max_mb = 8) else {
        return;
    };
    for removal in ["rm held", "mkdir d; mv held d; rm -r d"] {
        let line = format!("exec 3>held; {removal}; head -c 30000000 /dev/urandom >&3; sleep 600");
        let ran = scene.run(&caller("alice"), "/storage", &line, &[]);
        let refused = ran.expect("it ran").refused.expect("it was ended");
        assert_eq!(refused.code(), Code::QuotaExceeded, "{refused:?}");
    }
    scene.line("exec 3>later; rm later; head -c 1000000 /dev/urandom >&3");
    let rows = fileshed_core::bin::entries(&scene.core.store, &caller("alice")).expect("the bin");
    assert_eq!(rows[0].totals.bytes, 1_000_000);
}

/// Lines that look for a file in the bin. `$BIN` is the bin's path on disk, `$ID` the file's name there.
const LOOKING: &[&str] = &[
    "ls -la $BIN $BIN/.. ../../bin",
    "cat $BIN/$ID ../../bin/$ID ../bin/$ID /bin/$ID",
    "cat $BIN/* || cp -r $BIN . || cat bin/*",
    "rm -rf $BIN/$ID ../../bin/$ID; rm -rf $BIN",
    "mv $BIN/$ID . ; mv ../../bin/$ID .; mv $BIN . ; cat $ID",
    "ln -s $BIN there; cat there/$ID; rm -rf there/$ID there",
    "ln -s ../../bin there; cat there/$ID; rm -rf there/$ID there",
    "ln $BIN/$ID here; ln ../../bin/$ID here; cat here",
    "echo mine > $BIN/$ID; echo mine >> ../../bin/$ID; touch $BIN/x",
    "cd $BIN && ls && cat *",
    "cd ../../bin && cat $ID",
];

#[test]
fn no_line_reaches_the_bin() {
    for policy in [NamespacePolicy::Off, NamespacePolicy::Auto] {
        let scene = Scene::with(|settings| {
            settings.bin_days = NonZeroU64::new(30);
            settings.exec_namespaces = policy;
        });
        let store = &scene.core.store;
        let alice = caller("alice");
        scene.line("echo canary-of-alice > gone");
        let zone = store.open_zone(&alice, ZoneName::Storage, None);
        let zone = zone.expect("the storage");
        let entry = zone.entry(&ZonePath::found("gone".to_owned()));
        let kept = fileshed_core::bin::remove_as_command(&zone, &entry.expect("the file"));
        assert!(kept.expect("removed"));
        let rows = fileshed_core::bin::entries(store, &alice).expect("the bin");
        let home = find(scene.directory.path(), &store.namespace(&alice));
        let bin = home.join("bin");
        let before = tree(&bin);
        assert_eq!(before.len(), 1);
        for looking in LOOKING {
            let line = looking.replace("$BIN", &bin.to_string_lossy());
            let ran = scene.line(&line.replace("$ID", &rows[0].id));
            assert!(!ran.output.contains("canary"), "{policy:?} {line}: {ran:?}");
            let is_listed = !line.contains("$ID") && ran.output.contains(&rows[0].id);
            assert!(!is_listed, "{policy:?} {line}: {ran:?}");
            assert!(tree(&bin) == before, "{policy:?} {line}: {ran:?}");
        }
    }
}

/// Asks the server by the socket of its shell, and prints the answers. None of the named files may be
/// removed by a line in this way.
const ATTACK: &str = r"
import array, os, socket, sys
server = socket.socket(fileno=890)

def ask(name, *handles):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    rights = array.array('i', [*handles, theirs.fileno()])
    server.sendmsg([name], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    theirs.close()
    ours.settimeout(20)
    return ours.recv(8)

def at(path):
    return os.open(path, os.O_RDONLY)

os.makedirs('/storage/own/deep', exist_ok=True)
os.makedirs('/tmp/own', exist_ok=True)
open('/tmp/own/a', 'w').close()
answers = [
    ask(b'..', at('/storage/own')),
    ask(b'.', at('/storage')),
    ask(b'../own', at('/storage/own')),
    ask(b'own/deep', at('/storage')),
    ask(b'/storage/own', at('/storage')),
    ask(b'a\0b', at('/storage')),
    ask(b'\xff', at('/storage')),
    ask(b'x' * 1000, at('/storage')),
    ask(b'x' * 5000, at('/storage')),
    ask(b'storage', at('/')),
    ask(b'documents', at('/')),
    ask(b'kept', at('/documents')),
    ask(b'a', at('/tmp/own')),
    ask(b'bin', at('/usr')),
    ask(b'own', at('/dev/null')),
    ask(b'own', *os.pipe()[:1]),
    ask(b'own', socket.socketpair()[0].fileno()),
    ask(b'nothing', at('/storage')),
]
print(b''.join(answers).decode())
# No answer can be sent, and more come than may be on their way: the next one comes all the same.
storage, temporary = at('/storage'), at('/tmp')
rights = array.array('i', [storage, temporary])
for message in [[b'none'], [b'nothing'], [b'x' * 60000]] * 100:
    try:
        server.sendmsg(message)
        server.sendmsg(message, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    except OSError:
        pass
answer = None
while answer is None:
    try:
        answer = ask(b'own', storage)
    except OSError:
        pass
print(answer.decode(), os.path.exists('/storage/own'))
";

#[test]
fn the_socket_of_a_shell_removes_nothing_but_what_lies_in_the_storage() {
    if !has_program("python3") {
        return;
    }
    let Some(scene) = scene(|settings| {
        settings.exec_programs = vec!["python3".parse().expect("a name")];
    }) else {
        return;
    };
    let other = scene.run(&caller("bob"), "/storage", "echo mine > own", &[]);
    assert_eq!(other.expect("it ran").status, 0);
    scene.line("echo kept > /documents/kept");
    let script = ATTACK.replace('\'', "\"");
    let ran = scene.line(&format!("python3 -c '{script}'"));
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<&str> = ran.output.lines().collect();
    assert!(!lines[0].contains('k'), "{ran:?}");
    assert_eq!(lines[1], "k False", "{ran:?}");
    assert_eq!(scene.bin("alice"), ["storage:own"]);
    assert_eq!(scene.bin("bob"), Vec::<String>::new());
    let left = scene.run(&caller("bob"), "/storage", "cat own", &[]);
    assert_eq!(left.expect("it ran").output, "mine\n");
    assert_eq!(scene.line("cat /documents/kept").output, "kept\n");
}

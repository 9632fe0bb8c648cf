//! `rm` in lines: with a bin, files that it removes from storage go there.

use std::num::NonZeroU64;

use fileshed_core::settings::NamespacePolicy;
use fileshed_core::{Code, Settings, ZoneName, ZonePath};
use fileshed_test_support::has_program;
use fileshed_test_support::on_disk::tree;

use super::git::find;
use super::scene::{Scene, caller};

/// Stores with a bin: lines do not see the tree, and do if the machine can show it.
fn scenes(configure: impl Fn(&mut Settings)) -> [Scene; 2] {
    [NamespacePolicy::Off, NamespacePolicy::Auto].map(|policy| {
        Scene::with(|settings| {
            settings.bin_days = NonZeroU64::new(30);
            settings.exec_namespaces = policy;
            configure(settings);
        })
    })
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
    for scene in scenes(|_usual| ()) {
        let made = "mkdir -p d/e many; cd many; touch $(seq 300); cd ..; \
            touch -- d/e/f a b c g h '-x' 'ä ö'";
        scene.line(made);
        // Without the tree the real program is where it always is.
        let of_tree = ["/bin/rm c", "sh -c 'cd /; rm storage/g'"];
        let without = ["rm c", "sh -c 'cd ..; rm data/g'"];
        for line in [
            "rm -r d/",
            "rm -rf many ./a",
            "cd $TMPDIR && rm ~/b",
            "find . -name h -exec rm {} +",
            "rm -- -x *ö",
        ]
        .into_iter()
        .chain(if scene.has_tree() { of_tree } else { without })
        {
            let ran = scene.line(line);
            assert_eq!((ran.status, &*ran.output), (0, ""), "{line}: {ran:?}");
        }
        let kept = ["-x", "a", "b", "c", "d", "g", "h", "many", "ä ö"];
        assert_eq!(
            scene.bin("alice"),
            kept.map(|path| format!("storage:{path}"))
        );
        assert_eq!(scene.line("ls -A").output, "");
        let (store, alice) = (&scene.core.store, caller("alice"));
        for row in fileshed_core::bin::entries(store, &alice).expect("the bin") {
            fileshed_core::bin::bring_back(store, &alice, &row.id).expect("back");
        }
        assert_eq!(scene.line("ls many | wc -l; ls d/e").output, "300\nf\n");
    }
}

#[test]
fn elsewhere_rm_removes_as_ever() {
    for scene in scenes(|_usual| ()) {
        let removed = "touch d/a b && rm -r d b && ls";
        let ran = scene.line(&format!("cd $TMPDIR && mkdir d && {removed}"));
        assert_eq!((ran.status, &*ran.output), (0, ""));
        let line = format!("mkdir d && {removed}");
        let ran = scene.run(&caller("alice"), "/documents", &line, &[]);
        let ran = ran.expect("it ran");
        assert_eq!((ran.status, &*ran.output), (0, ""));
        assert_eq!(scene.bin("alice"), Vec::<String>::new());
    }
}

#[test]
fn a_line_finds_the_rm_that_it_knows() {
    let gone = Scene::with(|settings| settings.bin_days = None);
    let [without, of_tree] = scenes(|_usual| ());
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
        let seen = [&gone, &without, &of_tree].map(|scene| {
            scene.line(made);
            let ran = scene.line(line);
            let left = scene.line("find . | sort").output;
            (ran.status, ran.output, left)
        });
        assert_eq!(seen[0], seen[1], "{line}");
        assert_eq!(seen[0], seen[2], "{line}");
    }
}

#[test]
fn a_line_that_lost_the_server_says_what_is_gone_for_good() {
    for scene in scenes(|_usual| ()) {
        let line = "touch a $TMPDIR/a; exec 890>&-; rm a; rm $TMPDIR/a; ls; echo and; ls $TMPDIR";
        let ran = scene.line(line);
        let gone = "rm: what could not go into the bin is removed for good\n";
        assert_eq!((ran.status, ran.output), (0, format!("{gone}and\n")));
    }
}

#[test]
fn what_is_held_open_in_the_bin_counts() {
    for scene in scenes(|settings| settings.exec_temporary_max_mb = 8) {
        for removal in ["rm held", "mkdir d; mv held d; rm -r d"] {
            let line =
                format!("exec 3>held; {removal}; head -c 30000000 /dev/urandom >&3; sleep 600");
            let ran = scene.run(&caller("alice"), "/storage", &line, &[]);
            let refused = ran.expect("it ran").refused.expect("it was ended");
            assert_eq!(refused.code(), Code::QuotaExceeded, "{refused:?}");
        }
        scene.line("exec 3>later; rm later; head -c 1000000 /dev/urandom >&3");
        let rows = fileshed_core::bin::entries(&scene.core.store, &caller("alice"));
        assert_eq!(rows.expect("the bin")[0].totals.bytes, 1_000_000);
    }
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
    for scene in scenes(|_usual| ()) {
        let has_tree = scene.has_tree();
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
            assert!(!ran.output.contains("canary"), "{has_tree} {line}: {ran:?}");
            let is_listed = !line.contains("$ID") && ran.output.contains(&rows[0].id);
            assert!(!is_listed, "{has_tree} {line}: {ran:?}");
            assert!(tree(&bin) == before, "{has_tree} {line}: {ran:?}");
        }
    }
}

/// Asks the server by the socket of its shell, and prints the answers. None of the named files may be
/// removed by a line in this way. `$OTHER` is the storage of somebody else on disk.
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
    try:
        return os.open(path, os.O_PATH)
    except OSError:
        return os.open('/dev/null', os.O_RDONLY)

home, private = os.environ['HOME'], os.environ['TMPDIR']
os.makedirs(home + '/own/deep', exist_ok=True)
os.makedirs(private + '/own', exist_ok=True)
open(private + '/own/a', 'w').close()
answers = [
    ask(b'..', at(home + '/own')),
    ask(b'.', at(home)),
    ask(b'../own', at(home + '/own')),
    ask(b'own/deep', at(home)),
    ask((home + '/own').encode(), at(home)),
    ask(b'a\0b', at(home)),
    ask(b'\xff', at(home)),
    ask(b'x' * 1000, at(home)),
    ask(b'x' * 5000, at(home)),
    ask(os.path.basename(home).encode(), at(home + '/..')),
    ask(b'own', at('$OTHER')),
    ask(b'data', at('$OTHER/..')),
    ask(b'documents', at('/')),
    ask(b'kept', at('/documents')),
    ask(b'kept', at(home + '/../../Documents/data')),
    ask(b'Documents', at(home + '/../..')),
    ask(b'a', at(private + '/own')),
    ask(b'bin', at('/usr')),
    ask(b'own', at('/dev/null')),
    ask(b'own', *os.pipe()[:1]),
    ask(b'own', socket.socketpair()[0].fileno()),
    ask(b'nothing', at(home)),
]
print(b''.join(answers).decode())
# No answer can be sent, and more come than may be on their way: the next one comes all the same.
storage, temporary = at(home), at(private)
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
print(answer.decode(), os.path.exists(home + '/own'))
";

#[test]
fn the_socket_of_a_shell_removes_nothing_but_what_lies_in_the_storage() {
    if !has_program("python3") {
        return;
    }
    let script = ATTACK.replace('\'', "\"");
    for scene in scenes(|settings| {
        settings.exec_programs = vec!["python3".parse().expect("a name")];
    }) {
        let in_zone = |user: &str, cwd: &str, line: &str| {
            let ran = scene.run(&caller(user), cwd, line, &[]);
            ran.expect("it ran").output
        };
        in_zone("bob", "/storage", "echo mine > own");
        in_zone("alice", "/documents", "echo kept > kept");
        let other = find(
            scene.directory.path(),
            &scene.core.store.namespace(&caller("bob")),
        );
        let other = other.join("Storage/data");
        assert!(other.join("own").exists());
        let script = script.replace("$OTHER", &other.to_string_lossy());
        let ran = scene.line(&format!("python3 -c '{script}'"));
        assert_eq!(ran.status, 0, "{ran:?}");
        let lines: Vec<&str> = ran.output.lines().collect();
        assert!(!lines[0].contains('k'), "{ran:?}");
        assert_eq!(lines[1], "k False", "{ran:?}");
        assert_eq!(scene.bin("alice"), ["storage:own"]);
        assert_eq!(scene.bin("bob"), Vec::<String>::new());
        assert_eq!(in_zone("bob", "/storage", "cat own"), "mine\n");
        assert_eq!(in_zone("alice", "/documents", "cat kept"), "kept\n");
    }
}

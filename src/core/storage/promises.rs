//! Properties that a file system must have for files to be safe on it, tried on the directory itself.
//!
//! Documentation tells what a file system does by itself. A mounted one has drivers, servers and options
//! as well, so each promise is tried. The result also tells which missing ones this crate emulates.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use jiff::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;

use super::handle::{create_at, open_at};
use super::rename::{self, NamedIn};
use super::staging::remove_tree;
use super::{DiskError, Root};

/// Threads that create the same file at the same time.
const AT_ONCE: usize = 4;

/// Rounds of these threads.
const ROUNDS: usize = 16;

/// Seconds by which the clock of the file system may differ; the trials take some, too.
const CLOCK: u64 = 5;

/// Support of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The file system keeps it.
    Native,
    /// The file system does not keep it, and this crate emulates it.
    Emulated,
    /// The file system does not keep it: files are not safe there.
    Missing,
}

/// A promise of a file system.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Its name, in a word or two.
    pub name: &'static str,
    /// Its support.
    pub support: Support,
    /// The same in a sentence.
    pub text: String,
}

impl Promise {
    /// Judges a promise by its trial; `instead` stands in for it.
    fn tried(name: &'static str, promise: &str, instead: Option<&str>, trial: Trial) -> Self {
        let (support, text) = match (trial, instead) {
            (Ok(()), _) => (Support::Native, promise.to_owned()),
            (Err(fault), None) => (
                Support::Missing,
                format!("not guaranteed: {promise} ({fault})"),
            ),
            (Err(fault), Some(instead)) => (
                Support::Emulated,
                format!("not guaranteed: {promise} ({fault}); instead, {instead}"),
            ),
        };
        Self {
            name,
            support,
            text,
        }
    }
}

/// The result of a trial: an error that says what is wrong.
type Trial = io::Result<()>;

impl Root {
    /// Tries what the server relies on, in a directory of its own here, which is gone afterwards.
    pub fn try_promises(&self, now: Timestamp) -> Result<Vec<Promise>, DiskError> {
        let name = format!("promises-{}", std::process::id());
        let place = self.subdirectory(&name)?.into_handle();
        let tried = Trials { place, now }.all();
        remove_tree(&Arc::new(self.try_clone()?.into_handle()), &name)?;
        Ok(tried)
    }
}

struct Trials {
    place: OwnedFd,
    now: Timestamp,
}

impl Trials {
    fn all(&self) -> Vec<Promise> {
        let needed = |name, promise: &str, trial| Promise::tried(name, promise, None, trial);
        let made_up_for = |name, promise: &str, instead: &str, trial| {
            Promise::tried(name, promise, Some(instead), trial)
        };
        let full = "a rename replaces no directory that has entries";
        let once = "of several creations of a file at once, exactly one succeeds";
        let links = "a file can have two names, and a link replaces no name";
        let spelling = self.tells_names_apart("\u{fc}", "u\u{308}");
        vec![
            needed(
                "replace",
                "a rename replaces a file atomically",
                self.replaces(),
            ),
            needed(
                "identity",
                "a moved file keeps its inode",
                self.stays_the_same(),
            ),
            needed("directories", full, self.keeps_full_directories()),
            needed("exclusive", once, self.makes_once()),
            needed("links", links, self.links()),
            needed(
                "append",
                "appends at the same time lose no data",
                self.appends(),
            ),
            needed(
                "flush",
                "a flush reports that the data are on disk",
                self.flushes(),
            ),
            needed("modes", "permission bits are kept", self.keeps_modes()),
            needed(
                "symlinks",
                "symbolic links can be created",
                self.makes_symlinks(),
            ),
            needed(
                "case",
                "`a` and `A` are two files",
                self.tells_names_apart("a", "A"),
            ),
            needed("spelling", "`ü` in two spellings is two files", spelling),
            made_up_for(
                "one-call",
                "a rename can refuse to replace, and can exchange two names",
                "files get their names by links, and steps of several calls are recorded first",
                self.renames_at_once(),
            ),
            made_up_for(
                "attributes",
                "extended attributes move with a file",
                "the registry stores the metadata of files",
                self.has_attributes(),
            ),
            made_up_for(
                "removal",
                "a removed file that is still open leaves no name",
                "its directory shows a `.nfs…` name until it is closed",
                self.removes_open_files(),
            ),
            made_up_for(
                "clock",
                "its clock agrees with the server's",
                "file times are those of its own clock",
                self.has_our_clock(),
            ),
        ]
    }

    fn name<'n>(&'n self, name: &'n str) -> NamedIn<'n> {
        (&self.place, name)
    }

    fn make(&self, name: &str, content: &[u8]) -> io::Result<File> {
        let mut file = create_at(&self.place, name, Mode::from(0o644))?;
        file.write_all(content)?;
        Ok(file)
    }

    fn content(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let file = open_at(&self.place, name, OFlags::RDONLY)?;
        File::from(file).read_to_end(&mut content)?;
        Ok(content)
    }

    fn inode(&self, name: &str) -> Result<u64, Errno> {
        Ok(rustix::fs::statat(&self.place, name, AtFlags::SYMLINK_NOFOLLOW)?.st_ino)
    }

    fn replaces(&self) -> Trial {
        self.make("old", b"old")?;
        self.make("new", b"new")?;
        rename::rename(self.name("new"), self.name("old"))?;
        let is_one = self.content("old")? == b"new" && self.inode("new").is_err();
        expect(is_one, "both are there")
    }

    fn stays_the_same(&self) -> Trial {
        self.make("before", b"")?;
        let before = self.inode("before")?;
        rename::rename(self.name("before"), self.name("after"))?;
        expect(
            self.inode("after")? == before,
            "it has another inode number",
        )
    }

    fn keeps_full_directories(&self) -> Trial {
        for name in ["full", "full/inside", "moved"] {
            rustix::fs::mkdirat(&self.place, name, Mode::RWXU)?;
        }
        let put = rename::rename(self.name("moved"), self.name("full"));
        expect(put.is_err() && self.inode("full/inside").is_ok(), "it was")
    }

    fn makes_once(&self) -> Trial {
        for round in 0..ROUNDS {
            let name = format!("once-{round}");
            let made = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..AT_ONCE)
                    .map(|_| scope.spawn(|| self.make(&name, b"").is_ok()))
                    .collect();
                let made = threads.into_iter().filter_map(|thread| thread.join().ok());
                made.filter(|made| *made).count()
            });
            expect(made == 1, &format!("{made} of {AT_ONCE} succeeded"))?;
            self.inode(&name)?;
        }
        Ok(())
    }

    fn links(&self) -> Trial {
        self.make("one", b"one")?;
        self.make("other", b"other")?;
        rename::link(self.name("one"), self.name("two"))?;
        let again = rename::link(self.name("one"), self.name("other"));
        let is_right = rename::is_same(self.name("one"), self.name("two"))
            && again == Err(Errno::EXIST)
            && self.content("other")? == b"other";
        expect(is_right, "a link replaced a name")
    }

    fn appends(&self) -> Trial {
        self.make("log", b"")?;
        let append = || {
            let file = open_at(&self.place, "log", OFlags::WRONLY | OFlags::APPEND)?;
            let mut file = File::from(file);
            (0..ROUNDS).try_for_each(|_| file.write_all(b"x"))
        };
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(append);
            }
        });
        let length = self.content("log")?.len();
        expect(length == AT_ONCE * ROUNDS, "some data are missing")
    }

    fn flushes(&self) -> Trial {
        self.make("flushed", b"x")?.sync_data()?;
        Ok(rustix::fs::fsync(&self.place)?)
    }

    fn keeps_modes(&self) -> Trial {
        let file = self.make("mode", b"")?;
        rustix::fs::fchmod(&file, Mode::from(0o750))?;
        let mode = rustix::fs::fstat(&file)?.st_mode & 0o777;
        expect(mode == 0o750, "they do not")
    }

    fn makes_symlinks(&self) -> Trial {
        Ok(rustix::fs::symlinkat("mode", &self.place, "link")?)
    }

    fn tells_names_apart(&self, one: &str, other: &str) -> Trial {
        let [one, other] = [one, other].map(|name| format!("name-{name}"));
        self.make(&one, b"one")?;
        match self.make(&other, b"other") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                expect(false, "it is one")
            }
            made => made.map(drop),
        }
    }

    fn renames_at_once(&self) -> Trial {
        for name in ["from", "to"] {
            self.make(name, b"")?;
        }
        for flags in [RenameFlags::EXCHANGE, RenameFlags::NOREPLACE] {
            let renamed = rustix::fs::renameat_with(&self.place, "from", &self.place, "to", flags);
            match renamed {
                Err(Errno::INVAL) => return expect(false, "it does not support the flags"),
                Err(Errno::EXIST) if flags == RenameFlags::NOREPLACE => {}
                renamed => renamed?,
            }
        }
        Ok(())
    }

    fn has_attributes(&self) -> Trial {
        let file = self.make("attribute", b"")?;
        match rustix::fs::fsetxattr(&file, "user.fileshed.write", b"x", XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => expect(false, "it has none"),
            set => Ok(set?),
        }
    }

    fn removes_open_files(&self) -> Trial {
        rustix::fs::mkdirat(&self.place, "emptied", Mode::RWXU)?;
        let file = self.make("emptied/open", b"content")?;
        rustix::fs::unlinkat(&self.place, "emptied/open", AtFlags::empty())?;
        let mut content = [0; 7];
        let is_readable = file.read_exact_at(&mut content, 0).is_ok() && content == *b"content";
        match rustix::fs::unlinkat(&self.place, "emptied", AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::BUSY) => return expect(false, "a name stays"),
            removed => removed?,
        }
        expect(is_readable, "it cannot be read any more")
    }

    fn has_our_clock(&self) -> Trial {
        let file = self.make("now", b"x")?;
        let there = rustix::fs::fstat(&file)?.st_mtime;
        let apart = there.abs_diff(self.now.as_second());
        expect(apart <= CLOCK, &format!("it is {apart} seconds off"))
    }
}

/// Fails with `fault` unless something is so.
fn expect(is_so: bool, fault: &str) -> Trial {
    if is_so {
        Ok(())
    } else {
        Err(io::Error::other(fault.to_owned()))
    }
}

//! What a file system has to promise for files to be safe on it, tried on the directory itself.
//!
//! Documentation says what a file system does by itself; what is mounted goes through drivers, servers and
//! options, so each promise is tried. What is lacking and made up for here is said, too.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use jiff::Timestamp;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;

use super::rename::{self, NamedIn};
use super::staging::remove_tree;
use super::{DiskError, Root};

/// Threads that make the same file at once.
const AT_ONCE: usize = 4;

/// Rounds of that.
const ROUNDS: usize = 16;

/// By how many seconds the clock of the file system may differ; the trials take some, too.
const CLOCK: u64 = 5;

/// How a promise is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is.
    Yes,
    /// It is not, and something else stands in for it.
    Otherwise,
    /// It is not: files are not safe there.
    No,
}

/// A promise of a file system.
#[derive(Clone, Debug)]
pub struct Promise {
    /// What it is, in a word or two.
    pub name: &'static str,
    /// How it is held.
    pub kept: Kept,
    /// In a sentence.
    pub text: String,
}

/// How a trial went: what is wrong, if anything.
type Trial = Result<Option<String>, Errno>;

impl Root {
    /// Tries what the server relies on, in a directory of its own here, which is gone afterwards.
    pub fn try_promises(&self, now: Timestamp) -> Result<Vec<Promise>, DiskError> {
        let name = format!("promises-{}", std::process::id());
        let place = self.subdirectory(&name)?;
        let tried = Trials {
            place: place.into_handle(),
            now,
        }
        .all();
        let parent = self.try_clone()?.into_handle();
        remove_tree(&parent, &name)?;
        Ok(tried)
    }
}

struct Trials {
    place: OwnedFd,
    now: Timestamp,
}

impl Trials {
    fn all(&self) -> Vec<Promise> {
        let needed = [
            ("replace", "a rename replaces a file whole", self.replaces()),
            (
                "identity",
                "a file that moves stays the same file",
                self.stays_the_same(),
            ),
            (
                "directories",
                "no directory is put on one that has something in it",
                self.keeps_full_directories(),
            ),
            (
                "exclusive",
                "of those who make the same file at once, one does",
                self.makes_once(),
            ),
            (
                "links",
                "a file may have two names, and no name is taken twice",
                self.links(),
            ),
            (
                "append",
                "what several write to the end is all there",
                self.appends(),
            ),
            (
                "flush",
                "what was flushed is said to be on disk",
                self.flushes(),
            ),
            (
                "modes",
                "permission bits stay as they are set",
                self.keeps_modes(),
            ),
            (
                "symlinks",
                "symbolic links can be made",
                self.makes_symlinks(),
            ),
            (
                "case",
                "`a` and `A` are two files",
                self.tells_names_apart("a", "A"),
            ),
            (
                "spelling",
                "`ü` in two spellings is two files",
                self.tells_names_apart("\u{fc}", "u\u{308}"),
            ),
        ];
        let mut all: Vec<Promise> = needed
            .into_iter()
            .map(|(name, promise, trial)| judged(name, promise, Kept::No, trial))
            .collect();
        let made_up_for = [
            (
                "one-call",
                "names are kept free and exchanged in one call",
                "files get their names by links, and what takes several calls is written down before",
                self.renames_at_once(),
            ),
            (
                "attributes",
                "a file takes extended attributes along",
                "the registry knows what is kept with a file",
                self.has_attributes(),
            ),
            (
                "removal",
                "a file that is open when it is removed leaves nothing",
                "its directory shows a `.nfs…` name until it is closed",
                self.removes_open_files(),
            ),
            (
                "clock",
                "its clock is ours",
                "times of files are those of its own clock",
                self.has_our_clock(),
            ),
        ];
        all.extend(
            made_up_for
                .into_iter()
                .map(|(name, promise, instead, trial)| {
                    let mut judged = judged(name, promise, Kept::Otherwise, trial);
                    if judged.kept == Kept::Otherwise {
                        judged.text = format!("{}: {instead}", judged.text);
                    }
                    judged
                }),
        );
        all
    }

    fn name<'n>(&'n self, name: &'n str) -> NamedIn<'n> {
        (&self.place, name)
    }

    fn make(&self, name: &str, content: &[u8]) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.place, name, flags, Mode::from(0o644))?;
        let mut file = File::from(file);
        file.write_all(content).map_err(|error| errno(&error))?;
        Ok(file)
    }

    fn content(&self, name: &str) -> Result<Vec<u8>, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut content = Vec::new();
        File::from(rustix::fs::openat(&self.place, name, flags, Mode::empty())?)
            .read_to_end(&mut content)
            .map_err(|error| errno(&error))?;
        Ok(content)
    }

    fn inode(&self, name: &str) -> Result<u64, Errno> {
        Ok(rustix::fs::statat(&self.place, name, AtFlags::SYMLINK_NOFOLLOW)?.st_ino)
    }

    fn replaces(&self) -> Trial {
        self.make("old", b"old")?;
        self.make("new", b"new")?;
        rename::rename(self.name("new"), self.name("old"))?;
        Ok(wrong(
            self.content("old")? != b"new" || self.inode("new").is_ok(),
            "both are there",
        ))
    }

    fn stays_the_same(&self) -> Trial {
        self.make("before", b"")?;
        let before = self.inode("before")?;
        rename::rename(self.name("before"), self.name("after"))?;
        Ok(wrong(
            self.inode("after")? != before,
            "it has another number",
        ))
    }

    fn keeps_full_directories(&self) -> Trial {
        for name in ["full", "full/inside", "moved"] {
            rustix::fs::mkdirat(&self.place, name, Mode::RWXU)?;
        }
        let put = rename::rename(self.name("moved"), self.name("full"));
        Ok(wrong(
            put.is_ok() || self.inode("full/inside").is_err(),
            "it was",
        ))
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
            if made != 1 {
                return Ok(Some(format!("{made} of {AT_ONCE} did")));
            }
            self.inode(&name)?;
        }
        Ok(None)
    }

    fn links(&self) -> Trial {
        self.make("one", b"one")?;
        self.make("other", b"other")?;
        rename::link(self.name("one"), self.name("two"))?;
        let again = rename::link(self.name("one"), self.name("other"));
        let is_wrong = !rename::is_same(self.name("one"), self.name("two"))
            || again != Err(Errno::EXIST)
            || self.content("other")? != b"other";
        Ok(wrong(is_wrong, "a name was taken twice"))
    }

    fn appends(&self) -> Trial {
        self.make("log", b"")?;
        let append = || {
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&self.place, "log", flags, Mode::empty());
            let mut file = file.map(File::from)?;
            for _ in 0..ROUNDS {
                file.write_all(b"x").map_err(|error| errno(&error))?;
            }
            Ok::<(), Errno>(())
        };
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(append);
            }
        });
        let length = self.content("log")?.len();
        Ok(wrong(length != AT_ONCE * ROUNDS, "some is missing"))
    }

    fn flushes(&self) -> Trial {
        let file = self.make("flushed", b"x")?;
        rustix::fs::fdatasync(&file)?;
        rustix::fs::fsync(&self.place)?;
        Ok(None)
    }

    fn keeps_modes(&self) -> Trial {
        let file = self.make("mode", b"")?;
        rustix::fs::fchmod(&file, Mode::from(0o750))?;
        let mode = rustix::fs::fstat(&file)?.st_mode & 0o777;
        Ok(wrong(mode != 0o750, "they do not"))
    }

    fn makes_symlinks(&self) -> Trial {
        rustix::fs::symlinkat("mode", &self.place, "link")?;
        Ok(None)
    }

    fn tells_names_apart(&self, one: &str, other: &str) -> Trial {
        let [one, other] = [one, other].map(|name| format!("name-{name}"));
        self.make(&one, b"one")?;
        match self.make(&other, b"other") {
            Err(Errno::EXIST) => Ok(Some("it is one".to_owned())),
            made => made.map(|_| None),
        }
    }

    fn renames_at_once(&self) -> Trial {
        for name in ["from", "to"] {
            self.make(name, b"")?;
        }
        for flags in [RenameFlags::EXCHANGE, RenameFlags::NOREPLACE] {
            let renamed = rustix::fs::renameat_with(&self.place, "from", &self.place, "to", flags);
            match renamed {
                Err(Errno::INVAL) => return Ok(Some("it knows no flags".to_owned())),
                Err(Errno::EXIST) if flags == RenameFlags::NOREPLACE => {}
                renamed => renamed?,
            }
        }
        Ok(None)
    }

    fn has_attributes(&self) -> Trial {
        let file = self.make("attribute", b"")?;
        match rustix::fs::fsetxattr(&file, "user.fileshed.write", b"x", XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => {
                Ok(Some("it has none".to_owned()))
            }
            set => set.map(|()| None),
        }
    }

    fn removes_open_files(&self) -> Trial {
        rustix::fs::mkdirat(&self.place, "emptied", Mode::RWXU)?;
        let file = self.make("emptied/open", b"content")?;
        rustix::fs::unlinkat(&self.place, "emptied/open", AtFlags::empty())?;
        let mut content = [0; 7];
        let is_readable = file.read_exact_at(&mut content, 0).is_ok() && content == *b"content";
        match rustix::fs::unlinkat(&self.place, "emptied", AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::BUSY) => Ok(Some("a name stays".to_owned())),
            removed => removed.map(|()| wrong(!is_readable, "it cannot be read any more")),
        }
    }

    fn has_our_clock(&self) -> Trial {
        let file = self.make("now", b"x")?;
        let there = rustix::fs::fstat(&file)?.st_mtime;
        let apart = there.abs_diff(self.now.as_second());
        Ok((apart > CLOCK).then(|| format!("it is {apart} seconds off")))
    }
}

fn judged(name: &'static str, promise: &str, otherwise: Kept, trial: Trial) -> Promise {
    let (kept, text) = match trial {
        Ok(None) => (Kept::Yes, promise.to_owned()),
        Ok(Some(fault)) => (otherwise, format!("not so that {promise}, {fault}")),
        Err(error) => (otherwise, format!("not so that {promise}, {error}")),
    };
    Promise { name, kept, text }
}

fn wrong(is_wrong: bool, how: &str) -> Option<String> {
    is_wrong.then(|| how.to_owned())
}

fn errno(error: &std::io::Error) -> Errno {
    error
        .raw_os_error()
        .map_or(Errno::IO, Errno::from_raw_os_error)
}

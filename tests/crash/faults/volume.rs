//! A file system of the test's own for the data directory: small, so that it can be full, and
//! read-only where a test wants that.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::faults::unprivileged;
use fileshed_test_support::{Setup, skip};

/// A mounted file system that only this test and its server see. It lasts as long as the value, also
/// over restarts of the server.
pub(crate) struct Volume {
    /// Keeps the mount namespace; ends when its standard input does.
    holder: Child,
    data: PathBuf,
}

/// A file system whose full disk differs from that of others: a directory or a name takes a block of
/// ext4 and nothing of a tmpfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Tmpfs,
    Ext4,
    /// At least 300 MiB: mkfs.xfs makes no smaller one. Files can share blocks.
    Xfs,
}

impl FileSystem {
    /// Mounts `data` with the size, the account and, in a file beside it, the image given as arguments.
    fn script(self) -> String {
        let made = |make: &str, after: &str| {
            format!(
                "truncate -s \"$1\" image && {make} image && mount -o loop image data && {after}"
            )
        };
        let mount = match self {
            Self::Tmpfs => {
                "mount -t tmpfs -o \"size=$1,mode=700,uid=$2,gid=$2\" none data".to_owned()
            }
            Self::Ext4 => made(
                "mkfs.ext4 -q -m 0 -E \"root_owner=$2:$2\"",
                "chmod 700 data && rmdir data/lost+found",
            ),
            Self::Xfs => made(
                "mkfs.xfs -q -m reflink=1",
                "chown \"$2:$2\" data && chmod 700 data",
            ),
        };
        format!("{mount} && rm -f image && echo mounted && exec cat")
    }
}

/// Returns a server without capabilities whose data directory is a tmpfs of `bytes` bytes; `None` if this
/// account or machine cannot mount one, which is noted as skipped.
pub(crate) fn small(bytes: u64) -> Option<(Volume, Setup)> {
    of(FileSystem::Tmpfs, bytes)
}

/// The same with another file system, which only root can make.
pub(crate) fn of(kind: FileSystem, bytes: u64) -> Option<(Volume, Setup)> {
    let setup = unprivileged::setup()?;
    let data = setup.path("data");
    std::fs::create_dir(&data).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let own_user: &[&str] = if is_root {
        &[]
    } else {
        &["--user", "--map-root-user"]
    };
    let owner = if is_root { unprivileged::ACCOUNT } else { 0 };
    let (script, bytes, owner) = (kind.script(), bytes.to_string(), owner.to_string());
    let holder = Command::new("unshare")
        .args(own_user)
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            &script,
            "sh",
            &bytes,
            &owner,
        ])
        .current_dir(setup.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut holder) = holder else {
        skip("a small file system needs unshare");
        return None;
    };
    let mut said = String::new();
    let _ = BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said);
    if said.trim() != "mounted" {
        let _ = holder.wait();
        skip(format!("no {kind:?} can be mounted here"));
        return None;
    }
    let data =
        PathBuf::from(format!("/proc/{}/root", holder.id())).join(data.strip_prefix("/").unwrap());
    let volume = Volume { holder, data };
    let words = volume.entering(&setup);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Some((volume, setup.through(&words)))
}

impl Volume {
    /// The command line before that of the server, which the account of the server may have one of
    /// its own for.
    fn entering(&self, setup: &Setup) -> Vec<String> {
        let mut words: Vec<String> = ["nsenter", "--wd", "--mount", "--target"]
            .map(str::to_owned)
            .into();
        words.push(self.holder.id().to_string());
        if rustix::process::geteuid().is_root() {
            words.extend(setup.launcher().iter().cloned());
        } else {
            words.extend(["--user", "--preserve-credentials", "setpriv"].map(str::to_owned));
            words.extend(["--inh-caps=-all", "--bounding-set=-all"].map(str::to_owned));
        }
        words
    }

    /// A directory of it as `copy` in another one, for programs that look a path up by its names.
    pub(crate) fn copy(&self, name: &str) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let mut command = Command::new("cp");
        command
            .arg("-r")
            .arg(self.data.join(name))
            .arg(copy.path().join("copy"));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        copy
    }

    /// Makes it `ro` or `rw`. No process may have a file of it open for writing.
    pub(crate) fn remount(&self, how: &str) {
        self.mount(&["-o", &format!("remount,bind,{how}"), "data"]);
    }

    /// Makes a directory of it a file system for itself, which [`Volume::remount_part`] can change
    /// while the server has files open elsewhere.
    pub(crate) fn part(&self, name: &str) {
        let place = format!("data/{name}");
        self.mount(&["--bind", &place, &place]);
    }

    /// Makes a [part](Volume::part) `ro` or `rw`.
    pub(crate) fn remount_part(&self, name: &str, how: &str) {
        let (how, place) = (format!("remount,bind,{how}"), format!("data/{name}"));
        self.mount(&["-o", &how, &place]);
    }

    fn mount(&self, arguments: &[&str]) {
        let mut command = Command::new("nsenter");
        command.args(["--mount", "--wd", "--target", &self.holder.id().to_string()]);
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        let done = command.arg("mount").args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// Bytes that are free.
    pub(crate) fn free(&self) -> u64 {
        let found = rustix::fs::statvfs(&self.data).unwrap();
        found.f_bavail * found.f_frsize
    }

    /// Takes all space but `left` bytes with one file beside everything.
    pub(crate) fn fill(&self, left: u64) {
        let mut ballast = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.ballast())
            .unwrap();
        let mut piece = self.free().saturating_sub(left).min(1 << 20);
        while piece > 0 {
            let written = ballast
                .write(&vec![0; piece as usize])
                .and_then(|_| ballast.sync_all());
            // A file takes blocks for its map, too, on some file systems.
            piece = match written {
                Ok(()) => self.free().saturating_sub(left).min(piece),
                Err(_) => piece / 2,
            };
        }
    }

    /// Takes what the server keeps for deletions, as a program does that is faster when the server gives
    /// it up.
    pub(crate) fn take_reserve(&self) {
        std::fs::remove_file(self.data.join(".reserve")).unwrap();
        self.fill(0);
    }

    /// Gives back what [`Volume::fill`] took.
    pub(crate) fn relieve(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.data.join(".ballast")
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

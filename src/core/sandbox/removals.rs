//! The server's own `rm`: it moves files to the bin if the server has one for them.
//!
//! A shell finds the server's binary as its `rm`. It sends its requests over a socket that
//! only the processes of that shell have. A request names a file by an open directory and one name in it, so
//! that no process can name a file out of its reach. All else is left to the real program: options that ask
//! first, errors, files outside of the zone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, OFlags};
use rustix::net::{SendFlags, Shutdown};

use super::descriptor::open_at;
use super::message::{self, ReceivedMessage, pair};

/// The program that it stands in for.
pub const COMMAND: &str = "rm";

/// Path of the real program in a mount namespace, where this one lies over it.
pub const REAL: &str = "/etc/fileshed/rm";

/// Paths of the real program without one.
const ON_HOST: [&str; 2] = ["/usr/bin/rm", "/bin/rm"];

/// The place of the zone with a bin, as a shell with the tree finds it. Without the tree it is the home.
pub const ZONE: &str = "/storage";

/// The answer to a request, one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalAnswer {
    /// It is in the bin.
    Kept = b'k' as isize,
    /// It is removed for good: the bin has no room for it.
    Gone = b'g' as isize,
    /// The server has no bin for it.
    Elsewhere = b'e' as isize,
    /// It could not be moved there.
    Failed = b'f' as isize,
}

/// Requests of the processes of one shell.
#[derive(Debug)]
pub struct RemovalRequests(OwnedFd);

impl RemovalRequests {
    /// Makes the server's end, and the end for the shell.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = pair()?;
        Ok((Self(ours), theirs))
    }

    /// Answers requests until [`RemovalRequests::close`]. `remove` gets a directory and a name in it, and takes
    /// neither for what it says it is.
    pub fn serve(&self, mut remove: impl FnMut(&OwnedFd, &str) -> RemovalAnswer) {
        while let Ok(request) = ReceivedMessage::from(&self.0) {
            if request.text.is_empty() {
                break;
            }
            // A connection that waits for its last bytes would have the server wait when it is closed.
            for handle in &request.handles {
                let _is_no_socket = rustix::net::sockopt::set_socket_linger(handle, None);
            }
            let [directory, answer] = request.handles.as_slice() else {
                continue;
            };
            let name = std::str::from_utf8(&request.text).ok();
            let is_name = |name: &&str| !name.contains('/') && !matches!(*name, "." | "..");
            let answered = match name.filter(is_name) {
                Some(name) => remove(directory, name),
                None => RemovalAnswer::Failed,
            };
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let _nobody_waits = rustix::net::send(answer, &[answered as u8], flags);
        }
    }

    /// Ends the answers.
    pub fn close(&self) {
        let _is_closed = rustix::net::shutdown(&self.0, Shutdown::Both);
    }
}

/// The request of a command line of `rm`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// `true` if directories go, too.
    pub recursive: bool,
    /// `true` if what is not there is no error.
    pub force: bool,
    /// `true` if it tells what it removed.
    pub verbose: bool,
    /// The positions of the names among the arguments.
    pub names: Vec<usize>,
}

/// When it asks first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Never,
    Once,
    Always,
}

/// Said once where something is removed that does not come back.
pub const GONE: &str = "rm: what could not go into the bin is removed for good\n";

/// More names than these are asked for at once.
const MANY: usize = 3;

/// Options in words; one may be cut short as long as it is the only one.
const LONG: [&str; 11] = [
    "dir",
    "force",
    "help",
    "interactive",
    "no-preserve-root",
    "one-file-system",
    "presume-input-tty",
    "preserve-root",
    "recursive",
    "verbose",
    "version",
];

impl Removal {
    /// Reads the arguments of `rm`; `None` if it removes nothing, or asks first.
    pub fn parse<W: AsRef<[u8]>>(arguments: &[W]) -> Option<Self> {
        let mut found = Self::default();
        let (mut asks, mut are_names) = (Asks::Never, false);
        for (at, word) in arguments.iter().enumerate() {
            match word.as_ref() {
                b"--" if !are_names => are_names = true,
                [b'-', b'-', option @ ..] if !are_names => {
                    found.take_long(std::str::from_utf8(option).ok()?, &mut asks)?;
                }
                [b'-', letters @ ..] if !are_names && !letters.is_empty() => {
                    for letter in letters {
                        found.take_short(*letter, &mut asks)?;
                    }
                }
                _ => found.names.push(at),
            }
        }
        let asks = match asks {
            Asks::Never => false,
            Asks::Once => found.recursive || found.names.len() > MANY,
            Asks::Always => true,
        };
        (!asks && !found.names.is_empty()).then_some(found)
    }

    fn take_short(&mut self, letter: u8, asks: &mut Asks) -> Option<()> {
        match letter {
            b'r' | b'R' => self.recursive = true,
            b'v' => self.verbose = true,
            b'd' => {}
            b'f' => (self.force, *asks) = (true, Asks::Never),
            b'i' => (self.force, *asks) = (false, Asks::Always),
            b'I' => (self.force, *asks) = (false, Asks::Once),
            _ => return None,
        }
        Some(())
    }

    fn take_long(&mut self, option: &str, asks: &mut Asks) -> Option<()> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let mut alike = LONG.into_iter().filter(|long| long.starts_with(name));
        let is_whole = LONG.contains(&name);
        let long = alike
            .next()
            .filter(|_| is_whole || alike.next().is_none())?;
        match (long, value) {
            ("force", None) => self.take_short(b'f', asks),
            ("recursive", None) => self.take_short(b'r', asks),
            ("verbose", None) => self.take_short(b'v', asks),
            ("dir" | "no-preserve-root" | "preserve-root" | "one-file-system", None)
            | ("preserve-root", Some("all")) => Some(()),
            ("interactive", value) => {
                *asks = match value {
                    Some("never" | "no" | "none") => Asks::Never,
                    Some("once") => Asks::Once,
                    Some("always" | "yes") | None => Asks::Always,
                    Some(_) => return None,
                };
                Some(())
            }
            _ => None,
        }
    }
}

/// Returns `true` if this process was started as `rm`. The kernel says by what name, not the one who
/// started it.
#[must_use]
pub fn is_called() -> bool {
    let name = rustix::param::linux_execfn().to_bytes();
    name == COMMAND.as_bytes() || name.ends_with(b"/rm")
}

/// Does what `rm` does in a shell; returns its exit status.
#[must_use]
pub fn remove() -> u8 {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&[u8]> = arguments.iter().map(|word| word.as_bytes()).collect();
    let (mut kept, mut lost) = (Vec::new(), false);
    let removal = Removal::parse(&words).unwrap_or_default();
    for at in &removal.names {
        match ask(words[*at], &removal) {
            Some(RemovalAnswer::Kept) => kept.push(*at),
            Some(RemovalAnswer::Gone) => {
                kept.push(*at);
                lost = true;
            }
            Some(RemovalAnswer::Failed) => lost = true,
            Some(RemovalAnswer::Elsewhere) | None => {}
        }
    }
    if lost {
        say(io::stderr(), GONE);
    }
    if !kept.is_empty() && kept.len() == removal.names.len() {
        return 0;
    }
    for at in kept.into_iter().rev() {
        arguments.remove(at);
    }
    let mut places = [REAL].into_iter().chain(ON_HOST);
    let real = places.find(|place| Path::new(place).exists());
    let real = real.unwrap_or(REAL);
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the program that it stands in for"
    )]
    let error = std::process::Command::new(real)
        .arg0(COMMAND)
        .args(arguments)
        .exec();
    say(io::stderr(), &format!("{COMMAND}: {error}\n"));
    crate::jail::FAILED
}

fn say(mut stream: impl io::Write, text: &str) {
    let _nobody_reads = stream.write_all(text.as_bytes());
}

/// Asks the server to move what is at a path into the bin; `None` where the program itself is to see to it.
fn ask(path: &[u8], removal: &Removal) -> Option<RemovalAnswer> {
    let end = path.iter().rposition(|byte| *byte != b'/')?;
    let trimmed = &path[..=end];
    let slash = trimmed.iter().rposition(|byte| *byte == b'/');
    let (above, name) = match slash {
        Some(slash) => (&trimmed[..=slash], &trimmed[slash + 1..]),
        None => (&b"."[..], trimmed),
    };
    if matches!(name, b"." | b"..") {
        return None;
    }
    let directory = open_at(CWD, above, OFlags::PATH | OFlags::DIRECTORY).ok()?;
    let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_directory = FileType::from_raw_mode(stat.st_mode).is_dir();
    if is_directory && !removal.recursive || !is_directory && trimmed != path {
        return None;
    }
    let answer = request(&directory, name).unwrap_or_else(|| {
        let zones = [Some(ZONE.into()), std::env::var_os("HOME")];
        let mut zones = zones.into_iter().flatten();
        let is_kept = |above: PathBuf| {
            zones.any(|zone| std::fs::canonicalize(zone).is_ok_and(|zone| above.starts_with(zone)))
        };
        if std::fs::canonicalize(OsStr::from_bytes(above)).is_ok_and(is_kept) {
            RemovalAnswer::Failed
        } else {
            RemovalAnswer::Elsewhere
        }
    });
    if matches!(answer, RemovalAnswer::Kept | RemovalAnswer::Gone) && removal.verbose {
        let kind = if is_directory { "directory " } else { "" };
        let path = String::from_utf8_lossy(path);
        say(io::stdout(), &format!("removed {kind}'{path}'\n"));
    }
    Some(answer)
}

/// Sends a request and waits for its answer; `None` if none comes.
fn request(directory: &OwnedFd, name: &[u8]) -> Option<RemovalAnswer> {
    let (ours, theirs) = pair().ok()?;
    // SAFETY: the number is of a socket that this process was started with, or of nothing, which the
    // kernel says; it is not closed here.
    #[expect(unsafe_code, reason = "the socket comes by its number")]
    let socket = unsafe { BorrowedFd::borrow_raw(crate::jail::SOCKET) };
    message::send(socket, name, &[directory.as_fd(), theirs.as_fd()]).ok()?;
    drop(theirs);
    let answer = ReceivedMessage::from(&ours).ok()?;
    match answer.text.as_slice() {
        [b'k'] => Some(RemovalAnswer::Kept),
        [b'g'] => Some(RemovalAnswer::Gone),
        [b'e'] => Some(RemovalAnswer::Elsewhere),
        _ => Some(RemovalAnswer::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::Removal;

    /// Options and names of a parsed line: recursive, force, verbose, and the names.
    fn parsed(line: &str) -> Option<(bool, bool, bool, Vec<String>)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = Removal::parse(&words)?;
        let names = found.names.iter().map(|at| words[*at].to_owned());
        Some((found.recursive, found.force, found.verbose, names.collect()))
    }

    #[test]
    fn options_are_read_as_the_program_reads_them() {
        let names = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        for (line, recursive, force, verbose, left) in [
            ("a b", false, false, false, "a b"),
            ("a -rf b", true, true, false, "a b"),
            ("-Rv -- -f a", true, false, true, "-f a"),
            ("--recursive --forc - a", true, true, false, "- a"),
            ("--interactive=never -d a", false, false, false, "a"),
            ("-i -f a", false, true, false, "a"),
            ("-f -I a b c", false, false, false, "a b c"),
            (
                "--preserve-root=all --one-file-system --no-p a",
                false,
                false,
                false,
                "a",
            ),
        ] {
            let expected = Some((recursive, force, verbose, names(left)));
            assert_eq!(parsed(line), expected, "{line}");
        }
    }

    #[test]
    fn what_asks_first_or_removes_nothing_is_left_to_the_program() {
        for line in [
            "",
            "-f",
            "-i a",
            "-fi a",
            "-I a b c d",
            "-rI a",
            "--interactive a",
            "--pre a",
            "--ver a",
            "--help",
            "--version",
            "-x a",
            "--nothing a",
            "--force=1 a",
            "--interactive=maybe a",
            "--interactive=once -r a",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }
}

//! Commands that overwrite files, and the files that each may leave when it dies midway.

use std::io::Write as _;
use std::process::{Command, Stdio};

use fileshed_test_support::on_disk::Tree;
use fileshed_test_support::rng::Rng;

/// A command, with all of its effects on a zone.
pub(crate) struct Overwrite {
    pub(crate) cmd: &'static str,
    pub(crate) args: Vec<String>,
    pub(crate) after: Tree,
    pub(crate) way: Way,
}

/// The way in which a command changes files.
#[derive(Clone)]
pub(crate) enum Way {
    /// In one step.
    AtOnce,
    /// It writes to this file piece by piece, and may take away what has the name before.
    Into(String),
    /// It writes beside the file, under a name that begins so, and renames at its end.
    Beside(&'static str),
}

impl Overwrite {
    /// One that changes `path`, or makes something of it.
    pub(crate) fn draw(rng: &mut Rng, before: &Tree, path: &str, locked: Option<&str>) -> Self {
        let content = before[path].clone();
        let mut after = before.clone();
        let path = path.to_owned();
        let mut others = vec![format!("copy {}", rng.below(3))];
        others.extend(before.keys().filter(|name| is_plain(name)).cloned());
        others.retain(|name| *name != path && Some(name.as_str()) != locked);
        let other = others.swap_remove(rng.below(others.len() as u64) as usize);
        let (cmd, args, way) = match rng.below(7) {
            0 | 1 => {
                after.insert(other.clone(), content);
                ("cp", vec![path, other.clone()], Way::Into(other))
            }
            2 => {
                after.remove(&path);
                after.insert(other.clone(), content);
                ("mv", vec!["-f".to_owned(), path, other], Way::AtOnce)
            }
            3 => {
                after.insert(other.clone(), sorted(&content));
                let args = vec!["-o".to_owned(), other.clone(), path];
                ("sort", args, Way::Into(other))
            }
            4 => {
                let size = rng.below(content.len() as u64 + 1);
                let mut content = content;
                content.truncate(size as usize);
                after.insert(path.clone(), content);
                let args = vec!["-s".to_owned(), size.to_string(), path];
                ("truncate", args, Way::AtOnce)
            }
            5 => {
                let first = content.iter().position(|byte| *byte == b'\n');
                let rest = first.map_or(content.len(), |end| end + 1);
                after.insert(path.clone(), content[rest..].to_vec());
                let args = vec!["-i".to_owned(), "1d".to_owned(), path];
                ("sed", args, Way::Beside("sed"))
            }
            _ => {
                let packed = format!("{path}.gz");
                after.remove(&path);
                after.insert(packed.clone(), gzip(&content, &["-nc"]));
                let args = vec!["-nf".to_owned(), path];
                ("gzip", args, Way::Into(packed))
            }
        };
        Self {
            cmd,
            args,
            after,
            way,
        }
    }

    /// Unpacks a file that an earlier one packed, over what has its name by now.
    pub(crate) fn unpack(before: &Tree, path: &str) -> Option<Self> {
        let packed = format!("{path}.gz");
        let mut after = before.clone();
        let content = after.remove(&packed)?;
        after.insert(path.to_owned(), gzip(&content, &["-dc"]));
        Some(Self {
            cmd: "gzip",
            args: vec!["-df".to_owned(), packed],
            after,
            way: Way::Into(path.to_owned()),
        })
    }
}

impl Way {
    /// Returns `true` if a command that writes in this way and died may have left `found`.
    pub(crate) fn may_leave(&self, found: &Tree, before: &Tree, after: &Tree) -> bool {
        let paths = found.keys().chain(before.keys()).chain(after.keys());
        let mut paths = paths.map(String::as_str);
        // A command removes its source only when everything else is done.
        let gone = before
            .keys()
            .any(|path| !found.contains_key(path) && !self.writes_to(path));
        paths.all(|path| {
            let (there, old, new) = (found.get(path), before.get(path), after.get(path));
            match self {
                _ if there == new => true,
                _ if there == old => !gone,
                Self::AtOnce => false,
                Self::Into(_) => self.writes_to(path) && is_part(there, new) && !gone,
                Self::Beside(name) => old.is_none() && file_name(path).starts_with(name),
            }
        })
    }

    fn writes_to(&self, path: &str) -> bool {
        matches!(self, Self::Into(target) if target == path)
    }
}

/// Returns `true` if the file is missing or holds a beginning of the content.
fn is_part(there: Option<&Vec<u8>>, whole: Option<&Vec<u8>>) -> bool {
    match (there, whole) {
        (Some(there), Some(whole)) => whole.starts_with(there),
        (there, _) => there.is_none(),
    }
}

/// Neither an archive nor below a directory.
fn is_plain(name: &str) -> bool {
    let numbered = |kind| {
        name.strip_prefix(kind)
            .is_some_and(|number| number.parse::<u8>().is_ok())
    };
    numbered("file ") || numbered("copy ")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the output of `sort`, which ends the last line, too.
fn sorted(content: &[u8]) -> Vec<u8> {
    if content.is_empty() {
        return Vec::new();
    }
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let mut lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    let mut sorted = lines.join(&b'\n');
    sorted.push(b'\n');
    sorted
}

/// Returns the output of the machine's own gzip.
fn gzip(content: &[u8], arguments: &[&str]) -> Vec<u8> {
    let mut child = Command::new("gzip")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(content).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success());
    output.stdout
}

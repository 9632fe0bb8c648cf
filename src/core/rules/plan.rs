//! Context against which a command line is checked, and the plan that it becomes.

use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;

/// Circumstances under which one call is checked.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext<'a> {
    /// The zone the command runs in.
    pub zone: ZoneName,
    /// The name of the group, in the zone of one.
    pub group: Option<&'a str>,
    /// Network access that the server allows commands.
    pub network: NetworkMode,
    /// `true` if the kernel sandbox is enforced. Then a program, expression or delimiter argument may hold
    /// the characters that a shell would act on; without it no argument may.
    pub confined: bool,
    /// `true` if a path may begin with the name of its own zone.
    pub allow_zone_in_path: bool,
    /// `true` if the caller stores standard output in a file, so that a download has a place to go.
    pub stdout_file: bool,
    /// The path of the file of a locked edit. The operand `.` stands for its working copy, which
    /// lies under its name where the command runs, and no other file is in reach.
    pub file_being_edited: Option<&'a str>,
}

/// A file that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathArgument {
    /// Relative to the zone, lexically normalised and NFC; `.` is the zone itself.
    pub text: String,
    /// `true` if the command may create, change or remove it.
    pub writes: bool,
    /// `true` if it holds `*` or `?`. No shell expands them: the caller does, against the zone.
    pub glob: bool,
    /// Index in [`CommandPlan::args`] when the path is an argument of its own; an expansion replaces that
    /// argument, with `./` before a name that begins with `-`. `None` when the path is a part of
    /// an option.
    pub position: Option<usize>,
}

/// Compression of an archive of tar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// By the end of the archive's name.
    ByName,
    /// By the program of this name.
    By(&'static str),
}

/// The archive of tar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveArgument {
    /// Index in [`CommandPlan::args`].
    pub position: usize,
    /// Text before the path in that argument.
    pub prefix: String,
    /// The path as it was given; `-` is a stream.
    pub path: String,
    /// `true` if it is written.
    pub creates: bool,
    /// Its compression, if an option sets it. That option is not in [`CommandPlan::args`].
    pub compression: Option<Compression>,
}

/// A command line that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPlan {
    /// Name of its rule in [`commands`](crate::commands), whose `program` is what to start.
    pub command: &'static str,
    /// Everything after the program's name, with the fixed safe options.
    pub args: Vec<String>,
    /// The files that arguments name.
    pub paths: Vec<PathArgument>,
    /// The path that gets the others, as `cp` has one: of an option, else the last operand.
    pub destination: Option<String>,
    /// `true` if the zone may be changed.
    pub changes: bool,
    /// `true` if it needs sockets.
    pub network: bool,
    /// The archive of tar, which compresses by starting other programs: the caller does it.
    pub archive: Option<ArchiveArgument>,
    /// The path of the PDF that pandoc's page becomes, which comes on standard output: pandoc would
    /// start another program for it, the caller does.
    pub pdf: Option<String>,
    /// Environment beyond the common one.
    pub environment: Vec<(&'static str, &'static str)>,
    /// Its effect on the space of the zone.
    pub growth: Growth,
}

impl CommandPlan {
    /// The plan of a program without a rule, whose arguments nobody understands: it may do whatever
    /// the kernel lets it.
    pub fn unjudged(name: &'static str, arguments: &[String], changes: bool) -> Self {
        Self {
            command: name,
            args: arguments.to_vec(),
            paths: Vec::new(),
            destination: None,
            changes,
            network: true,
            archive: None,
            pdf: None,
            environment: vec![("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")],
            growth: Growth::Either,
        }
    }
}

/// The effect of a command on the size of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Never larger: it only removes.
    Removes,
    /// Never larger: it moves or describes.
    Never,
    /// Larger by directories alone, which hold no bytes.
    Directories,
    /// Larger or smaller: such commands also free space.
    Either,
    /// Probably larger: it writes.
    Likely,
}

/// Returns the effect of a command line on the size of a zone.
pub(super) fn growth(command: &str, args: &[String]) -> Growth {
    match command {
        "rm" | "rmdir" => Growth::Removes,
        "mv" | "chmod" | "rename" => Growth::Never,
        "mkdir" => Growth::Directories,
        "find" | "touch" | "truncate" | "shred" => Growth::Either,
        "git" => {
            let frees = |word: &String| {
                matches!(
                    word.as_str(),
                    "rm" | "clean" | "reset" | "commit" | "branch" | "tag"
                )
            };
            if args.iter().any(frees) {
                Growth::Either
            } else {
                Growth::Likely
            }
        }
        _ => Growth::Likely,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_frees_space_is_known() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, expected) in [
            ("rm -rf d", Growth::Removes),
            ("mkdir -p d/e", Growth::Directories),
            ("truncate -s 0 a", Growth::Either),
            ("find . -delete", Growth::Either),
            ("git rm a", Growth::Either),
            ("git stash", Growth::Likely),
            ("cp a b", Growth::Likely),
        ] {
            let mut words = words(line);
            let command = words.remove(0);
            assert_eq!(growth(&command, &words), expected, "{line}");
        }
    }
}

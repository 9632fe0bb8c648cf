//! What a command does to the space of its zone, as far as its name tells.

/// Whether a command can make a zone larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Never: all that it does is to remove.
    Removes,
    /// Never: it moves or describes.
    Never,
    /// By directories alone, which hold no bytes.
    Directories,
    /// It may, and it is also how space is freed.
    Either,
    /// It writes.
    Likely,
}

/// What the command of this name does.
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

//! The configuration of a repository, which belongs to the server.
//!
//! git runs programs that its configuration names and follows includes to any file. Of what a
//! command or a former owner wrote, only identities, remotes and branches are kept.

/// Every key that libgit2 and git consult for what they do here. It stands in the repository's
/// own file, which wins over any other that a person's git reads.
const OURS: &str = "\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tsymlinks = true
\tautocrlf = false
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = true
\tprotectNTFS = true
[gc]
\tauto = 0
";

/// Sections of a person that are kept, each with its keys.
const KEPT: [(&str, &[&str]); 3] = [
    ("user", &["name", "email"]),
    ("remote", &["url", "fetch", "pushurl"]),
    ("branch", &["remote", "merge"]),
];

/// `existing` without everything that could make git do something, below the server's own keys.
/// What this returns is left as it is when it comes back.
pub(super) fn cleaned(existing: &str) -> String {
    let mut text = OURS.to_owned();
    let mut keys: Option<&[&str]> = None;
    let mut heading = None;
    for line in existing.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            keys = kept_keys(line);
            heading = keys.map(|_| line);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim();
        let known = keys.is_some_and(|keys| keys.iter().any(|k| k.eq_ignore_ascii_case(key)));
        // A backslash at the end would swallow the next line.
        if known && !value.ends_with('\\') {
            if let Some(heading) = heading.take() {
                text.extend([heading, "\n"]);
            }
            text.extend(["\t", key, " = ", value.trim(), "\n"]);
        }
    }
    text
}

/// The keys that may follow the heading `line`, if its section is kept. A heading with anything
/// after its bracket is not.
fn kept_keys(line: &str) -> Option<&'static [&'static str]> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    let (section, rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let quoted = rest
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    if !rest.is_empty() && quoted.is_none_or(|name| name.contains(['"', '\\', ']'])) {
        return None;
    }
    KEPT.iter()
        .find(|(name, _)| section.eq_ignore_ascii_case(name))
        .map(|(_, keys)| *keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_keys_are_kept() {
        let foreign = "[core]\n\tpager = sh -c x\n\tworktree = /\n[user]\n\tname = Ana\n\tsigningkey = 1\n\
             [remote \"origin\"]\n\turl = https://example.org/a.git\n\tuploadpack = sh\n\
             [filter \"x\"]\n\tclean = sh\n[include]\n\tpath = /etc/passwd\n[user] name = x\n\tname = y\n\
             [alias]\n\tx = !sh\n[branch \"a\\\"b\"]\n\tmerge = z\n[user]\n\temail = a@b\\\n";
        let text = cleaned(foreign);
        assert_eq!(
            text.strip_prefix(OURS),
            Some("[user]\n\tname = Ana\n[remote \"origin\"]\n\turl = https://example.org/a.git\n")
        );
        assert_eq!(cleaned(&text), text);
        assert_eq!(cleaned(""), OURS);
        assert_eq!(cleaned(OURS), OURS);
    }
}

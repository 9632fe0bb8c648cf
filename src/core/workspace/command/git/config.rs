//! A repository's configuration file, read as git reads it (git-config(1), "Syntax"), and which of
//! its settings git may run with.
//!
//! The file may come from anybody: from an archive, from another command. Settings that name
//! programs, other files, proxies or addresses in place of others are refused; so is every setting
//! that is not known to be harmless, and a file that could be read in two ways.

/// Sections in which no setting names a program, a file or a way to the network.
const HARMLESS_SECTIONS: [&str; 14] = [
    "advice",
    "author",
    "color",
    "column",
    "committer",
    "fetch",
    "gitflow",
    "lfs",
    "pull",
    "rebase",
    "rerere",
    "stash",
    "status",
    "user",
];

/// Sections with a name of their own (`[branch "main"]`), and the settings in them that are not
/// harmless.
const NAMED_SECTIONS: [(&str, &[&str]); 2] = [
    ("branch", &["mergeoptions"]),
    (
        "remote",
        &[
            "proxy",
            "proxyauthmethod",
            "receivepack",
            "uploadpack",
            "vcs",
            "serveroption",
        ],
    ),
];

/// Harmless settings of sections that have others.
const HARMLESS_SETTINGS: [(&str, &str); 13] = [
    (
        "core",
        "abbrev autocrlf bare bigfilethreshold checkstat commentchar compression eol filemode \
        fscache ignorecase logallrefupdates loosecompression multipackindex packedgitlimit \
        packedgitwindowsize precomposeunicode protecthfs protectntfs quotepath \
        repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone \
        splitindex symlinks trustctime untrackedcache whitespace worktree",
    ),
    (
        "extensions",
        "noop objectformat partialclone preciousobjects refstorage worktreeconfig",
    ),
    ("branch", "autosetupmerge autosetuprebase sort"),
    ("clone", "defaultremotename"),
    ("commit", "cleanup status verbose"),
    (
        "diff",
        "algorithm colormoved colormovedws context indentheuristic interhunkcontext \
        mnemonicprefix noprefix renamelimit renames statgraphwidth wserrorhighlight",
    ),
    ("gc", "auto autodetach"),
    ("http", "postbuffer"),
    ("init", "defaultbranch"),
    (
        "log",
        "abbrevcommit date decorate follow graphcolors mailmap showroot",
    ),
    (
        "merge",
        "conflictstyle defaulttoupstream directoryrenames ff log renamelimit renames stat",
    ),
    ("push", "autosetupremote default followtags"),
    ("submodule", "active"),
];

/// Harmless settings of a submodule. `update` may hold a command instead of a word.
const SUBMODULE: [&str; 6] = [
    "active",
    "branch",
    "fetchrecursesubmodules",
    "ignore",
    "shallow",
    "url",
];

/// What a submodule's `update` may be.
const UPDATES: [&str; 4] = ["checkout", "merge", "none", "rebase"];

/// Why git does not run with a configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConfigFault {
    /// A setting that is not known to be harmless.
    Setting(String),
    /// The file has no form that git would read in one way.
    Form,
}

/// Judges the text of a configuration file.
pub(super) fn check(text: &[u8]) -> Result<(), ConfigFault> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { rest: text };
    let mut section: Option<Section> = None;
    while let Some(byte) = reader.next() {
        match byte {
            b'#' | b';' => reader.skip_line(),
            b'[' => section = Some(reader.section().ok_or(ConfigFault::Form)?),
            _ if byte.is_ascii_whitespace() => {}
            _ if byte.is_ascii_alphabetic() => {
                let (name, value) = reader.setting(byte).ok_or(ConfigFault::Form)?;
                let section = section.as_ref().ok_or(ConfigFault::Form)?;
                if !section.allows(&name, &value) {
                    return Err(ConfigFault::Setting(section.shown(&name)));
                }
            }
            _ => return Err(ConfigFault::Form),
        }
    }
    Ok(())
}

/// A section, its name in lower case.
struct Section {
    name: String,
    sub: Option<String>,
}

impl Section {
    fn allows(&self, setting: &str, value: &str) -> bool {
        let name = self.name.as_str();
        if HARMLESS_SECTIONS.contains(&name) {
            return true;
        }
        match &self.sub {
            Some(_) if name == "submodule" => {
                SUBMODULE.contains(&setting) || (setting == "update" && UPDATES.contains(&value))
            }
            Some(_) => NAMED_SECTIONS
                .iter()
                .any(|(section, not)| *section == name && !not.contains(&setting)),
            None => {
                let known = HARMLESS_SETTINGS.iter().any(|(section, settings)| {
                    *section == name && settings.split_ascii_whitespace().any(|one| one == setting)
                });
                let within = (name, setting) != ("core", "worktree") || is_relative(value);
                known && within
            }
        }
    }

    fn shown(&self, setting: &str) -> String {
        match &self.sub {
            Some(sub) => format!("{}.{sub}.{setting}", self.name),
            None => format!("{}.{setting}", self.name),
        }
    }
}

fn is_relative(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '~', '%'])
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next byte; the end of a line is LF, whatever stands for it.
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *first == b'\r'
            && let Some(rest) = self.rest.strip_prefix(b"\n")
        {
            self.rest = rest;
            return Some(b'\n');
        }
        Some(*first)
    }

    /// The next byte; the end of the file counts as the end of a line.
    fn next_or_end(&mut self) -> u8 {
        self.next().unwrap_or(b'\n')
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// What stands behind `[`.
    fn section(&mut self) -> Option<Section> {
        let mut name = Vec::new();
        loop {
            match self.next()? {
                b']' => {
                    // `[branch.main]` is an old way to write `[branch "main"]`.
                    let name = String::from_utf8(name).ok()?;
                    let (name, sub) = match name.split_once('.') {
                        Some((name, sub)) => (name.to_owned(), Some(sub.to_owned())),
                        None => (name, None),
                    };
                    return Some(Section { name, sub });
                }
                b' ' | b'\t' => break,
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                    name.push(byte.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        let mut byte = self.next()?;
        while matches!(byte, b' ' | b'\t') {
            byte = self.next()?;
        }
        if byte != b'"' || name.contains(&b'.') {
            return None;
        }
        let mut sub = Vec::new();
        loop {
            match self.next()? {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next()? {
                    b'\n' => return None,
                    escaped => sub.push(escaped),
                },
                other => sub.push(other),
            }
        }
        if self.next()? != b']' {
            return None;
        }
        Some(Section {
            name: String::from_utf8(name).ok()?,
            sub: Some(String::from_utf8_lossy(&sub).into_owned()),
        })
    }

    /// A setting whose name begins with `first`, and its value.
    fn setting(&mut self, first: u8) -> Option<(String, String)> {
        let mut name = vec![first.to_ascii_lowercase()];
        let mut byte = self.next_or_end();
        while byte.is_ascii_alphanumeric() || byte == b'-' {
            name.push(byte.to_ascii_lowercase());
            byte = self.next_or_end();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next_or_end();
        }
        let name = String::from_utf8(name).ok()?;
        match byte {
            b'\n' => Some((name, String::new())),
            b'=' => Some((name, self.value()?)),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = Vec::new();
        let (mut quoted, mut comment) = (false, false);
        loop {
            match self.next_or_end() {
                b'\n' if quoted => return None,
                b'\n' => break,
                _ if comment => {}
                b'#' | b';' if !quoted => comment = true,
                b'"' => quoted = !quoted,
                b'\\' => match self.next_or_end() {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    escaped @ (b'\\' | b'"') => value.push(escaped),
                    _ => return None,
                },
                other => value.push(other),
            }
        }
        let value = String::from_utf8_lossy(&value);
        Some(value.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_git_writes_itself_passes() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\t\
             logallrefupdates = true\n\tsymlinks = false\n[remote \"origin\"]\n\turl = \
             https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
             [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            "[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\
             [extensions]\n\tpartialClone = origin\n\tobjectFormat = sha256\n",
            "[submodule]\n\tactive = .\n[submodule \"lib/x\"]\n\turl = https://example.org/x\n\
             \tactive = true\n\tupdate = rebase\n",
            "[core]\n\tworktree = ../../../lib/x\n",
            "\u{feff}; a comment\r\n[user] name = \"A # B\" ; who\r\n\temail = a@b\\\n c\n",
            "[branch.old]\nremote = origin\n[branch]\nautosetuprebase = always\n[core]\nbare\n",
            "[branch \"a \\\"b\\\" \\\\c\"]\n\tvscode-merge-base = origin/main\n",
        ] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_names_programs_and_ways_out_does_not() {
        for (text, setting) in [
            ("[diff \"x\"]\ntextconv = a", "diff.x.textconv"),
            ("[diff.x]\nTextConv = a", "diff.x.textconv"),
            ("[DIFF \"X\"] command=a", "diff.X.command"),
            ("[diff]\nexternal = a", "diff.external"),
            ("[diff]\nsubmodule = diff", "diff.submodule"),
            ("[filter \"x\"]\nclean = a", "filter.x.clean"),
            ("[filter \"lfs\"]\nprocess = git-lfs", "filter.lfs.process"),
            ("[merge \"x\"]\ndriver = a", "merge.x.driver"),
            ("[core]\nfsmonitor = a", "core.fsmonitor"),
            ("[core]\nhooksPath = a", "core.hookspath"),
            ("[core]\nsshCommand = a", "core.sshcommand"),
            ("[core]\nattributesFile = a", "core.attributesfile"),
            (
                "[core]\nalternateRefsCommand = a",
                "core.alternaterefscommand",
            ),
            ("[core]\nworktree = /etc", "core.worktree"),
            ("[core]\nworktree = \"/etc\"", "core.worktree"),
            ("[core]\naskPass = a", "core.askpass"),
            ("[core]\ngitProxy = a", "core.gitproxy"),
            ("[http]\nproxy =", "http.proxy"),
            ("[http \"https://a\"]\nproxy = b", "http.https://a.proxy"),
            ("[http]\nsslVerify = false", "http.sslverify"),
            ("[remote \"o\"]\nproxy = a", "remote.o.proxy"),
            ("[remote \"o\"]\nuploadpack = a", "remote.o.uploadpack"),
            ("[remote \"o\"]\nvcs = a", "remote.o.vcs"),
            (
                "[url \"https://a\"]\ninsteadOf = b",
                "url.https://a.insteadof",
            ),
            ("[credential]\nhelper = a", "credential.helper"),
            ("[include]\npath = a", "include.path"),
            (
                "[includeIf \"gitdir:/\"]\npath = a",
                "includeif.gitdir:/.path",
            ),
            ("[alias]\nlog = !a", "alias.log"),
            ("[gpg]\nprogram = a", "gpg.program"),
            (
                "[gpg \"ssh\"]\ndefaultKeyCommand = a",
                "gpg.ssh.defaultkeycommand",
            ),
            ("[sequence]\neditor = a", "sequence.editor"),
            ("[pager]\nlog = a", "pager.log"),
            ("[interactive]\ndiffFilter = a", "interactive.difffilter"),
            ("[trailer \"x\"]\ncommand = a", "trailer.x.command"),
            ("[gc]\nrecentObjectsHook = a", "gc.recentobjectshook"),
            (
                "[uploadpack]\npackObjectsHook = a",
                "uploadpack.packobjectshook",
            ),
            ("[submodule \"x\"]\nupdate = !a", "submodule.x.update"),
            (
                "[branch \"x\"]\nmergeOptions = -s a",
                "branch.x.mergeoptions",
            ),
            ("[protocol]\nallow = always", "protocol.allow"),
            ("[safe]\ndirectory = *", "safe.directory"),
            ("[user]\nname = a\\\nb\n[alias]\nx = y", "alias.x"),
            ("[user]\nname = a ; \\\n[alias]\nx = y", "alias.x"),
            ("[user] name = a\r[alias]\nx = y\n[alias]\nz = y", "alias.z"),
            ("# \\\n[alias]\nx = y", "alias.x"),
            ("[alias]x=y", "alias.x"),
        ] {
            let found = check(text.as_bytes());
            assert_eq!(
                found,
                Err(ConfigFault::Setting(setting.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_does_not() {
        for text in [
            "name = x",
            "[core",
            "[core]\n= x",
            "[core]\nbare true",
            "[core \"a\nb\"]\nx = y",
            "[core \"a\" ]\nx = y",
            "[core \"a\"x]\n",
            "[co re]\n",
            "[core]\nbare = \"x\n",
            "[core]\nbare = \\x\n",
            "[core]\n1bare = x\n",
            "[a.b \"c\"]\nx = y",
            "\0",
        ] {
            assert_eq!(check(text.as_bytes()), Err(ConfigFault::Form), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_file_is_judged(text in "[\\[\\]a-z\"\\\\=#; \n\r.]{0,60}") {
            let _ = check(text.as_bytes());
        }
    }
}

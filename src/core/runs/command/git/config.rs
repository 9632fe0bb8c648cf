//! A repository's configuration file, read as git reads it (git-config(1), "Syntax"), and which of
//! its settings git may run with.
//!
//! The file may come from anybody: from an archive, from another command. Settings that name
//! programs, other files, proxies or addresses in place of others are refused; so is every setting
//! that is not known to be harmless, and a file that could be read in two ways.

use std::sync::LazyLock;

use regex::Regex;

/// One element of a file: blanks, a comment, a section, or a setting with its value. The end of the
/// file counts as the end of a line.
static ELEMENT: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x) ^ (?:
        [\x20\t\n\r\x0c]+
        | [\#;] [^\n]*
        # `[branch.main]` is an old way to write `[branch "main"]`.
        | \[ (?<section> [a-zA-Z0-9-]* ) (?: \. (?<old> [a-zA-Z0-9.-]* ) )? \]
        | \[ (?<outer> [a-zA-Z0-9-]* ) [\x20\t]+ "(?<sub> (?: [^"\\\n] | \\[^\n] )* )" \]
        | (?<setting> [a-zA-Z] [a-zA-Z0-9-]* ) [\x20\t]*
          (?: = (?<value>
              (?: [^"\\\n\#;] | \\(?: [tbn"\\\n] | \z )
              | " (?: [^"\\\n] | \\[tbn"\\\n] )* " )*
            ) (?: [\#;] [^\n]* )? )?
          (?: \n | \z )
        )"#,
    )
});

/// Sections in which no setting names a program, a file or a way to the network.
const HARMLESS_SECTIONS: &str = "advice author color column committer fetch gitflow lfs pull rebase \
    rerere stash status user";

/// Sections with a name of their own (`[branch "main"]`), one a line, and the settings in them that
/// are not harmless.
const NAMED_SECTIONS: &str = "\
branch mergeoptions
remote proxy proxyauthmethod receivepack uploadpack vcs serveroption";

/// Sections that have other settings, too, one a line, and their harmless settings.
const HARMLESS_SETTINGS: &str = "\
core abbrev autocrlf bare bigfilethreshold checkstat commentchar compression eol filemode fscache \
    ignorecase logallrefupdates loosecompression multipackindex packedgitlimit packedgitwindowsize \
    precomposeunicode protecthfs protectntfs quotepath repositoryformatversion safecrlf \
    sharedrepository sparsecheckout sparsecheckoutcone splitindex symlinks trustctime untrackedcache \
    whitespace worktree
extensions noop objectformat partialclone preciousobjects refstorage worktreeconfig
branch autosetupmerge autosetuprebase sort
clone defaultremotename
commit cleanup status verbose
diff algorithm colormoved colormovedws context indentheuristic interhunkcontext mnemonicprefix \
    noprefix renamelimit renames statgraphwidth wserrorhighlight
gc auto autodetach
http postbuffer
init defaultbranch
log abbrevcommit date decorate follow graphcolors mailmap showroot
merge conflictstyle defaulttoupstream directoryrenames ff log renamelimit renames stat
push autosetupremote default followtags
submodule active";

/// Harmless settings of a submodule. `update` may hold a command instead of a word.
const SUBMODULE: &str = "active branch fetchrecursesubmodules ignore shallow url";

/// Values that a submodule's `update` may have.
const UPDATES: &str = "checkout merge none rebase";

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
    let element = ELEMENT.as_ref().map_err(|_| ConfigFault::Form)?;
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut section = None;
    while !rest.is_empty() {
        let found = element.captures(rest).ok_or(ConfigFault::Form)?;
        let part = |name| found.name(name).map(|part| part.as_str());
        if let Some(name) = part("section").or(part("outer")) {
            let old = part("old").map(str::to_ascii_lowercase);
            section = Some(Section {
                name: name.to_ascii_lowercase(),
                sub: part("sub").map(plain).or(old),
            });
        }
        if let Some(name) = part("setting").map(str::to_ascii_lowercase) {
            let section: &Section = section.as_ref().ok_or(ConfigFault::Form)?;
            let value = part("value").map(plain).unwrap_or_default();
            if !section.allows(&name, value.trim()) {
                return Err(ConfigFault::Setting(section.shown(&name)));
            }
        }
        rest = &rest[found.get_match().len()..];
    }
    Ok(())
}

/// Returns `true` for one of some words.
fn is_among(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|one| one == word)
}

/// A value or a name without its quotes and escapes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {}
            '\\' => match characters.next() {
                Some('t') => plain.push('\t'),
                Some('b') => plain.push('\u{8}'),
                Some('n') => plain.push('\n'),
                Some('\n') | None => {}
                Some(escaped) => plain.push(escaped),
            },
            other => plain.push(other),
        }
    }
    plain
}

/// A section, its name in lower case.
struct Section {
    name: String,
    sub: Option<String>,
}

impl Section {
    fn allows(&self, setting: &str, value: &str) -> bool {
        let name = self.name.as_str();
        if is_among(HARMLESS_SECTIONS, name) {
            return true;
        }
        let of_section = |sections: &'static str| {
            let mut sections = sections.lines().filter_map(|line| line.split_once(' '));
            sections.find_map(|(section, settings)| (section == name).then_some(settings))
        };
        match &self.sub {
            Some(_) if name == "submodule" => {
                is_among(SUBMODULE, setting) || (setting == "update" && is_among(UPDATES, value))
            }
            Some(_) => of_section(NAMED_SECTIONS).is_some_and(|not| !is_among(not, setting)),
            None => {
                let known = of_section(HARMLESS_SETTINGS);
                let within = (name, setting) != ("core", "worktree") || is_relative(value);
                within && known.is_some_and(|settings| is_among(settings, setting))
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

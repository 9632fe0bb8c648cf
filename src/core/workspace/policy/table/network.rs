//! Version control and downloads.

use crate::policy::role::{Role, Syntax};
use crate::policy::rule::{CommandRule, changes, escapes, forbidden, reads, required};
use crate::policy::{curl, git};

pub(super) const RULES: &[CommandRule] = &[
    CommandRule::writable("git", "git", Syntax::new(Role::Revision))
        .special(git::arguments)
        .environment(git::ENVIRONMENT)
        .examples(&[
            reads("log --oneline -5"),
            reads("--no-pager diff HEAD~1 -- f.txt"),
            reads("diff --stat"),
            reads("show HEAD:docs/a.md"),
            reads("blame -L 1,5 f.txt"),
            reads("log -p --author=me --since=yesterday -- f.txt"),
            reads("branch"),
            reads("branch -a"),
            reads("tag -l v*"),
            reads("stash list"),
            reads("status --short"),
            reads("clean -n"),
            changes("branch topic"),
            changes("branch -d topic"),
            changes("tag v1"),
            changes("restore --source=HEAD~1 f.txt"),
            changes("add ."),
            changes("commit -m 'one change'"),
            changes("commit -am 'one change'"),
            changes("checkout -b topic"),
            changes("checkout HEAD~1 -- f.txt"),
            changes("reset --hard HEAD~1"),
            changes("init project"),
            changes("clone https://example.org/a.git"),
            changes("push origin main"),
            required("commit"),
            required(""),
            forbidden("-c alias.x=!id x"),
            escapes("-C .. log"),
            reads("-C project log"),
            forbidden("--exec-path=/tmp log"),
            forbidden("gc"),
            forbidden("config user.name x"),
            forbidden("log --output=x"),
            forbidden("diff --no-index a b"),
            forbidden("diff --ext-diff"),
            forbidden("log -p --textconv"),
            forbidden("log -p --submodule=diff"),
            forbidden("reflog -p --textc"),
            forbidden("blame --textconv f.txt"),
            reads("reflog -p"),
            reads("reflog show HEAD"),
            forbidden("clone --upload-pack=id https://example.org/a.git"),
            forbidden("clone --upload=id https://example.org/a.git"),
            forbidden("clone -c core.sshCommand=id https://example.org/a.git"),
            forbidden("clone git@example.org:a.git"),
            forbidden("clone . x"),
            forbidden("clone http://example.org/a.git"),
            forbidden("clone file:///etc a"),
            forbidden("clone ext::id a"),
            forbidden("-c http.proxy=http://example.org clone https://example.org/a.git"),
            forbidden("commit -F x"),
            escapes("add ../x"),
            escapes("log -- /etc/passwd"),
        ]),
    CommandRule::writable("curl", "curl", Syntax::new(Role::Url))
        .special(curl::curl)
        .networked()
        .fixed(&[
            "-q",
            "--proto",
            "=http,https",
            "--proto-redir",
            "=http,https",
            "--max-redirs",
            "10",
            "--fail-early",
        ])
        .examples(&[
            changes("-L -o a.bin https://example.org/a"),
            changes("-sSLO https://example.org/a.bin"),
            changes("-L 'https://example.org/?a=1&b=2' -o a.html"),
            reads("-sI https://example.org/"),
            reads("-X POST -d a=1 https://example.org/"),
            reads("-F file=@a.txt https://example.org/"),
            required("https://example.org/a"),
            forbidden("-K cfg https://example.org/"),
            forbidden("--conf cfg https://example.org/"),
            forbidden("-o x file:///etc/passwd"),
            forbidden("-o x -x http://example.org:3128 https://example.org/"),
            forbidden("-o x --socks5 example.org https://example.org/"),
            forbidden("-o x --connect-to ::127.0.0.1:80 https://example.org/"),
            forbidden("-o x --resolve example.org:443:127.0.0.1 https://example.org/"),
            forbidden("-o x --unix-socket s https://example.org/"),
            escapes("-o /tmp/x https://example.org/"),
            escapes("-o../x https://example.org/"),
            escapes("-T /etc/passwd https://example.org/"),
            escapes("-d @/etc/passwd https://example.org/"),
        ]),
    CommandRule::writable("wget", "wget", Syntax::new(Role::Url))
        .special(curl::wget)
        .networked()
        .fixed(&["--no-config", "--no-hsts"])
        .examples(&[
            changes("-q -O a.bin https://example.org/a"),
            changes("-qO a.bin https://example.org/a"),
            required("https://example.org/a"),
            forbidden("-O x -e robots=off https://example.org/"),
            forbidden("-O x -i list"),
            forbidden("-O x --use-ask=x https://example.org/"),
            forbidden("-O x file:///etc/passwd"),
            forbidden("-O x -e use_proxy=no https://example.org/"),
            escapes("-O /tmp/x https://example.org/"),
            escapes("-P .. https://example.org/"),
        ]),
];

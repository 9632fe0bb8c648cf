//! curl and wget: with the network at `safe` they fetch into a file, by a list of options.

use super::error::CommandError;
use super::judge::Judge;
use super::role::{Opt, Role, Syntax, refused, value};
use super::rule::CommandRule;
use super::{NetworkMode, text};

const CONFIGURATION: &str = "it reads options from a file: write them as arguments";

/// What curl takes for a download.
const CURL_SAFE: Syntax = Syntax::new(Role::Url)
    .options(&[
        value("o", "output", Role::Write),
        value("A", "user-agent", Role::Word),
        value("C", "continue-at", Role::Word),
        value("r", "range", Role::Word),
        value("m", "max-time", Role::Word),
        value("", "connect-timeout", Role::Word),
        value("", "retry", Role::Word),
        value("", "max-redirs", Role::Word),
        value("", "max-filesize", Role::Word),
        value("", "url", Role::Url),
    ])
    .only(
        "LOsSfIg#",
        "location remote-name silent show-error fail head compressed \
        fail-with-body globoff progress-bar no-progress-meter",
    );

/// What curl takes when uploads are allowed.
const CURL_ALL: Syntax = Syntax::new(Role::Url).options(&[
    value("o", "output", Role::Write),
    value("", "output-dir", Role::Write),
    value("c", "cookie-jar", Role::Write),
    value("D", "dump-header", Role::Write),
    value("", "etag-save", Role::Write),
    value("", "etag-compare", Role::Read),
    value("T", "upload-file", Role::Read),
    value("b", "cookie", Role::Expression),
    value("d", "data data-ascii", Role::Data),
    value("", "data-binary", Role::Data),
    value("", "data-urlencode", Role::Data),
    value("", "data-raw", Role::Expression),
    value("", "json", Role::Data),
    value("F", "form", Role::Data),
    value("H", "header", Role::Data),
    value("", "form-string url-query", Role::Expression),
    value("A", "user-agent", Role::Word),
    value("u", "user", Role::Word),
    value("e", "referer", Role::Word),
    value("X", "request", Role::Word),
    value("C", "continue-at", Role::Word),
    value("r", "range", Role::Word),
    value("m", "max-time", Role::Word),
    value("w", "write-out", Role::Word),
    value("y", "speed-time", Role::Word),
    value("Y", "speed-limit", Role::Word),
    value("z", "time-cond", Role::Word),
    value(
        "",
        "connect-timeout retry retry-delay retry-max-time max-redirs max-filesize \
        limit-rate oauth2-bearer",
        Role::Word,
    ),
    value("", "url", Role::Url),
    value("E", "cert", Role::Read),
    value("", "key cacert", Role::Read),
    refused("K", "config", CONFIGURATION),
    refused("n", "netrc netrc-file netrc-optional", CONFIGURATION),
    refused(
        "x",
        "proxy preproxy socks4 socks4a socks5 socks5-hostname",
        "the way to the \
        network is the server's",
    ),
    refused(
        "",
        "unix-socket abstract-unix-socket interface dns-servers doh-url resolve \
        connect-to",
        "the way to the network is the server's",
    ),
    refused(
        "",
        "proto proto-redir proto-default",
        "only http and https are spoken",
    ),
    refused(
        "",
        "libcurl trace trace-ascii trace-config stderr hsts alt-svc",
        "use \
        stdout_file or stderr_file",
    ),
    refused(
        "Q",
        "quote telnet-option variable",
        "only http and https are spoken",
    ),
    refused("q:Z", "disable next parallel", "one request a call"),
]);

/// Options of a request whose answer is worth reading at once.
const SENDING: &[&str] = &[
    "request",
    "data",
    "data-binary",
    "data-raw",
    "data-urlencode",
    "json",
    "form",
    "upload-file",
];

const WGET_OPTIONS: &[Opt] = &[
    value("O", "output-document", Role::Write),
    value("t", "tries", Role::Word),
    value("T", "timeout", Role::Word),
    value("U", "user-agent", Role::Word),
];
const WGET_SWITCHES: (&str, &str) = (
    "qcvSd",
    "quiet continue no-verbose verbose server-response no-check-certificate progress \
        show-progress no-clobber",
);

/// What wget takes for a download.
const WGET_SAFE: Syntax = Syntax::new(Role::Url)
    .options(WGET_OPTIONS)
    .only(WGET_SWITCHES.0, WGET_SWITCHES.1);

/// What wget takes when uploads are allowed.
const WGET_ALL: Syntax = Syntax::new(Role::Url).options(&[
    value("O", "output-document", Role::Write),
    value("P", "directory-prefix", Role::Write),
    value("t", "tries", Role::Word),
    value("T", "timeout", Role::Word),
    value("U", "user-agent", Role::Word),
    value("w", "wait", Role::Word),
    value("l", "level", Role::Word),
    value("Q", "quota", Role::Word),
    value("A", "accept", Role::Word),
    value("R", "reject", Role::Word),
    value("D", "domains", Role::Word),
    value("I", "include-directories", Role::Word),
    value("X", "exclude-directories", Role::Word),
    value(
        "",
        "header user password http-user http-password method referer limit-rate",
        Role::Word,
    ),
    value("", "post-data body-data", Role::Expression),
    value("", "post-file body-file load-cookies", Role::Read),
    value("", "save-cookies", Role::Write),
    refused("e", "execute config", CONFIGURATION),
    refused(
        "i",
        "input-file input-metalink",
        "name the addresses as arguments",
    ),
    refused("", "use-askpass", "it starts a program"),
    refused(
        "oa",
        "output-file append-output rejected-log",
        "use stderr_file",
    ),
    refused("b", "background", "commands end with their call"),
    refused(
        "",
        "warc-file warc-tempdir warc-header warc-dedup hsts-file",
        "only the document itself is kept",
    ),
]);

/// Judges the arguments of curl.
pub(super) fn curl(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let syntax = if judge.rules.network == NetworkMode::All {
        &CURL_ALL
    } else {
        &CURL_SAFE
    };
    let scan = judge.scan(syntax, args)?;
    let remote_name = has_switch(args, 'O', "--remote-name");
    let talks = has_switch(args, 'I', "--head") || SENDING.iter().any(|name| scan.saw(name));
    let kept = judge.rules.stdout_file || remote_name || scan.saw("output");
    if !kept && !talks && addressed(args) {
        return Err(judge.required(
            "a download goes into a file: -o, -O or the parameter stdout_file",
            "add -o and the name of the file to `args`, or give stdout_file",
        ));
    }
    if remote_name {
        judge.changes("-O");
    }
    judge.scanned(syntax, &scan)
}

/// Judges the arguments of wget.
pub(super) fn wget(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    let syntax = if judge.rules.network == NetworkMode::All {
        &WGET_ALL
    } else {
        &WGET_SAFE
    };
    let scan = judge.scan(syntax, args)?;
    let chosen = scan.saw("output-document") || scan.saw("directory-prefix");
    if !chosen && addressed(args) {
        if !judge.rules.stdout_file {
            return Err(judge.required(
                "a download goes into a file: -O or the parameter stdout_file",
                "add -O and the name of the file to `args`, or give stdout_file",
            ));
        }
        judge.fixed("-O");
        judge.fixed("-");
    }
    if !judge.rules.stdout_file {
        judge.changes("wget");
    }
    judge.scanned(syntax, &scan)
}

/// A switch by its letter, also in a bundle, or by its name.
fn has_switch(args: &[String], letter: char, long: &str) -> bool {
    args.iter().any(|word| {
        word == long || (word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    })
}

fn addressed(args: &[String]) -> bool {
    !args
        .iter()
        .any(|word| matches!(word.as_str(), "--version" | "--help" | "-V" | "-h"))
}

/// What is fetched: http or https, and a host.
pub(super) fn address(judge: &Judge<'_>, word: &str) -> Result<(), CommandError> {
    let known = match word.split_once(':') {
        Some((scheme, rest)) if rest.starts_with("//") => {
            let scheme = scheme.to_ascii_lowercase();
            scheme == "http" || scheme == "https"
        }
        Some((scheme, _)) => !matches!(
            scheme.to_ascii_lowercase().as_str(),
            "file" | "data" | "dict" | "gopher"
        ),
        None => true,
    };
    if !known || word.starts_with('/') {
        return Err(judge.refuse(word, "only http:// and https:// addresses are fetched"));
    }
    if !(judge.rules.confined && text::only_ampersand(word)) {
        judge.plain(word, word)?;
    }
    Ok(())
}

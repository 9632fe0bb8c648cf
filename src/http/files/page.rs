//! Pages that links open in a browser, and headers for browsers.
//!
//! Pages come from the binary alone, and the policy that is sent with them lets nothing else run: styles and
//! scripts are named by their hash. A file has a policy, too, and a name under which it is saved (RFC 6266 and
//! RFC 8187).

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::Error;
use fileshed_core::text::transliterated;
use percent_encoding::utf8_percent_encode;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::http::envelope;
use crate::http::header::UNRESERVED;
pub(super) use crate::http::response_body::INERT;
use crate::http::response_body::unstored;
use crate::http::words::Language;

const FRAME: &str = include_str!("page/frame.html");
const OWN_STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/upload.js");
const UPLOAD: &str = include_str!("page/upload.html");
/// The sheet of the main page, whose colours count here too.
const MAIN_STYLE: &str = include_str!("../page/web/style.css");

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// The first rule of the main page's sheet has its colours.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    let colours = MAIN_STYLE
        .split_once(":root {")
        .and_then(|(_, rest)| rest.split_once('}'));
    let colours = colours.map_or("", |(colours, _)| colours);
    OWN_STYLE.replace("{colours}", &format!(":root {{{colours}}}"))
});

static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; \
         frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(&STYLE),
        hash(SCRIPT)
    );
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Returns `true` if a browser shows the answer to a person.
pub(in crate::http) fn is_wanted(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"))
}

/// The page that takes files of up to `limit` MB.
pub(super) fn upload(language: Language, limit: u64) -> Response {
    let limit = limit.to_string();
    let words = escaped(&json!(language.entries()).to_string());
    let mut content = UPLOAD.replace("{limit}", &limit).replace("{words}", &words);
    for (name, text) in language.entries() {
        let text = escaped(&text.replace("{0}", &limit));
        content = content.replace(&format!("{{{name}}}"), &text);
    }
    let page = HtmlPage {
        script: SCRIPT,
        ..HtmlPage::new(language, language.say("send_files"), &content)
    };
    page.answer()
}

/// The answer to a form that was sent without scripts.
pub(super) fn stored(language: Language, count: usize) -> Response {
    let content = format!(
        "<p role=\"status\">{}</p>\n<p><a href=\"\">{}</a></p>",
        language.say_count("stored", count),
        language.say("send_more")
    );
    HtmlPage::new(language, language.say("thanks"), &content).answer()
}

/// A failure in words for people.
pub(in crate::http) fn refused(language: Language, error: &Error) -> Response {
    let status = envelope::status(error);
    let hint = error.hint().to_string();
    let ask = language.say("ask_for_another");
    let (title, message, hint) = match status {
        StatusCode::NOT_FOUND => ("not_found", language.say("not_found_why"), ask),
        StatusCode::GONE => ("used_up", language.say("used_up_why"), ask),
        _ => ("did_not_work", error.message(), hint.as_str()),
    };
    let content = format!(
        "<p role=\"alert\">{}</p>\n<p class=\"faint\">{}</p>",
        escaped(&as_sentence(message)),
        escaped(&as_sentence(hint))
    );
    let page = HtmlPage {
        status,
        ..HtmlPage::new(language, language.say(title), &content)
    };
    page.answer()
}

/// A part of a message as people read it.
fn as_sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let end = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    first
        .chain(characters.as_str().chars())
        .chain(end.chars())
        .collect()
}

/// A page of our own; nothing but its style and the script runs in it.
pub(in crate::http) struct HtmlPage<'a> {
    /// The status of the answer.
    pub(in crate::http) status: StatusCode,
    /// The language of its texts.
    pub(in crate::http) language: Language,
    /// Its title, as text.
    pub(in crate::http) title: &'a str,
    /// Its content below the title, as HTML.
    pub(in crate::http) content: &'a str,
    /// Its script, if it has one.
    pub(in crate::http) script: &'a str,
}

impl<'a> HtmlPage<'a> {
    /// A page without a script.
    pub(in crate::http) const fn new(language: Language, title: &'a str, content: &'a str) -> Self {
        Self {
            status: StatusCode::OK,
            language,
            title,
            content,
            script: "",
        }
    }

    /// The page as an answer that nobody keeps.
    pub(in crate::http) fn answer(&self) -> Response {
        let script = if self.script.is_empty() {
            String::new()
        } else {
            format!("<script>{}</script>", self.script)
        };
        let text = FRAME
            .replace("{lang}", self.language.tag())
            .replace("{style}", &STYLE)
            .replace("{script}", &script)
            .replace("{title}", &escaped(self.title))
            .replace("{content}", self.content);
        let headers = [
            (
                CONTENT_TYPE,
                HeaderValue::from_static("text/html; charset=utf-8"),
            ),
            (CONTENT_SECURITY_POLICY, POLICY.clone()),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (X_ROBOTS_TAG, HeaderValue::from_static("noindex")),
        ];
        unstored((self.status, headers, text).into_response())
    }
}

/// Text as a page shows it.
pub(in crate::http) fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        let _written = match character {
            // A brace could begin the name of a place in a page.
            '<' | '>' | '&' | '"' | '\'' | '{' => write!(escaped, "&#{};", u32::from(character)),
            character => write!(escaped, "{character}"),
        };
        escaped
    })
}

/// Policy for a page that a terminal opens: it runs its own scripts in an origin of its own and reaches no
/// network.
pub(super) const ISOLATED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src data: 'unsafe-inline'; style-src data: 'unsafe-inline'; \
     img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; sandbox allow-scripts allow-modals allow-popups allow-downloads",
);
/// The same for one in a frame of a page of ours, and nowhere else.
pub(super) const FRAMED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src data: 'unsafe-inline'; style-src data: 'unsafe-inline'; \
     img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'; \
     sandbox allow-scripts allow-modals allow-popups allow-downloads",
);
/// Policy for a PDF that is shown: it loads and runs nothing, and only the server's own page has it in a
/// frame. It has no sandbox, because a browser's viewer does not start in one.
pub(super) const VIEWED_DOCUMENT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'self'");
/// Nobody keeps a copy that outlives the right to it.
pub(super) const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The header for a file: saved, or shown where the browser can.
pub(super) fn disposition(name: &str, inline: bool) -> HeaderValue {
    let how = if inline { "inline" } else { "attachment" };
    // Open WebUI's file browser reads only this one.
    let plain: String = transliterated(name)
        .chars()
        .map(|character| match character {
            '"' | '\\' | '%' => '_',
            ' '..='~' => character,
            _ => '_',
        })
        .collect();
    let text = if plain == name {
        format!("{how}; filename=\"{plain}\"")
    } else {
        let encoded = utf8_percent_encode(name, UNRESERVED);
        format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
    };
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_need_quoting() {
        for (name, expected) in [
            ("a b.txt", "attachment; filename=\"a b.txt\""),
            (
                "é\"\\%\n.txt",
                "attachment; filename=\"e____.txt\"; filename*=UTF-8''%C3%A9%22%5C%25%0A.txt",
            ),
            (
                "Übersicht Straße.csv",
                "attachment; filename=\"Uebersicht Strasse.csv\"; \
                 filename*=UTF-8''%C3%9Cbersicht%20Stra%C3%9Fe.csv",
            ),
            (
                "日本.md",
                "attachment; filename=\"__.md\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.md",
            ),
        ] {
            assert_eq!(disposition(name, false), expected);
        }
        assert_eq!(disposition("a", true), "inline; filename=\"a\"");
    }
}

//! Pages that links open in a browser, and headers for browsers.
//!
//! Pages come from the binary alone, and the policy that is sent with them lets nothing else run: styles and
//! scripts are named by their hash. A file has a policy, too, and a name under which it is saved (RFC 6266 and
//! RFC 8187).

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::Error;
use fileshed_core::text::transliterated;
use percent_encoding::utf8_percent_encode;
use sha2::{Digest as _, Sha256};

use crate::http::envelope;
use crate::http::header::UNRESERVED;
pub(super) use crate::http::response_body::INERT;

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

/// The language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Language {
    English,
    German,
}

impl Language {
    /// The first one that a browser asks for and that pages have.
    pub(in crate::http) fn of(headers: &HeaderMap) -> Self {
        let asked = headers
            .get(ACCEPT_LANGUAGE)
            .and_then(|asked| asked.to_str().ok());
        let tags = asked.unwrap_or_default().split(',').map(str::trim);
        let mut known = tags.filter_map(|tag| match tag.get(..2)?.to_ascii_lowercase().as_str() {
            "de" => Some(Self::German),
            "en" => Some(Self::English),
            _ => None,
        });
        known.next().unwrap_or(Self::English)
    }

    /// The text in this language.
    pub(in crate::http) fn say(self, english: &'static str, german: &'static str) -> &'static str {
        match self {
            Self::English => english,
            Self::German => german,
        }
    }

    fn tag(self) -> &'static str {
        self.say("en", "de")
    }
}

/// The page that takes files of up to `limit` MB.
pub(super) fn upload(language: Language, limit: u64) -> Response {
    let words = [
        (
            "about",
            "Files that you choose or drop here go to the person who gave you this link. A file may have {limit} MB.",
            "Dateien, die Sie hier auswählen oder ablegen, gehen an die Person, von der Sie diesen Link haben. Eine Datei darf {limit} MB haben.",
        ),
        ("files", "Choose files", "Dateien auswählen"),
        ("folder", "Choose a folder", "Ordner auswählen"),
        (
            "or",
            "or drop files and folders anywhere on this page",
            "oder Dateien und Ordner irgendwo auf dieser Seite ablegen",
        ),
        ("send", "Send", "Senden"),
        (
            "total",
            "Progress of all files",
            "Fortschritt aller Dateien",
        ),
        ("list", "Files", "Dateien"),
    ];
    let mut content = UPLOAD.to_owned();
    for (name, english, german) in words {
        content = content.replace(&format!("{{{name}}}"), language.say(english, german));
    }
    let content = content.replace("{limit}", &limit.to_string());
    let title = language.say("Send files", "Dateien senden");
    let page = HtmlPage {
        script: SCRIPT,
        ..HtmlPage::new(language, title, &content)
    };
    page.answer()
}

/// The answer to a form that was sent without scripts.
pub(super) fn stored(language: Language, count: usize) -> Response {
    let content = format!(
        "<p role=\"status\">{}</p>\n<p><a href=\"\">{}</a></p>",
        sentence(language, count),
        language.say("Send more files", "Weitere Dateien senden")
    );
    HtmlPage::new(language, language.say("Thank you", "Danke"), &content).answer()
}

/// A failure in words for people.
pub(in crate::http) fn refused(language: Language, error: &Error) -> Response {
    let status = envelope::status(error);
    let title = match status {
        StatusCode::NOT_FOUND => {
            language.say("This link does not work", "Dieser Link funktioniert nicht")
        }
        StatusCode::GONE => language.say("This link is used up", "Dieser Link ist aufgebraucht"),
        _ => language.say("This did not work", "Das hat nicht geklappt"),
    };
    let (message, hint) = (error.message(), error.hint().to_string());
    let ask = "Bitten Sie die Person, von der Sie den Link haben, um einen neuen.";
    let (message, hint) = match (language, status) {
        (Language::German, StatusCode::NOT_FOUND) => (
            "Er ist vielleicht abgelaufen, oder sein Ziel gibt es nicht mehr.",
            ask,
        ),
        (Language::German, StatusCode::GONE) => {
            ("Er wurde so oft benutzt, wie es erlaubt ist.", ask)
        }
        _ => (message, hint.as_str()),
    };
    let content = format!(
        "<p role=\"alert\">{}</p>\n<p class=\"faint\">{}</p>",
        escaped(&as_sentence(message)),
        escaped(&as_sentence(hint))
    );
    let page = HtmlPage {
        status,
        ..HtmlPage::new(language, title, &content)
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
        let mut response = (self.status, headers, text).into_response();
        keep_private(&mut response);
        response
    }
}

/// Has nobody keep an answer.
pub(super) fn keep_private(response: &mut Response) {
    let nobody = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, nobody);
}

/// Returns the sentence that says how many files were stored.
pub(super) fn sentence(language: Language, count: usize) -> String {
    match (language, count) {
        (Language::English, 1) => "The file was received.".to_owned(),
        (Language::English, count) => format!("{count} files were received."),
        (Language::German, 1) => "Die Datei ist angekommen.".to_owned(),
        (Language::German, count) => format!("{count} Dateien sind angekommen."),
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

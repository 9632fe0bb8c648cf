//! The listing of a directory for programs that read its address as a file.

use std::fmt::Write as _;

use axum::response::Response;
use dav_server::fs::DavMetaData as _;
use percent_encoding::utf8_percent_encode;

use super::node::Node;
use crate::http::files::{HtmlPage, escaped};
use crate::http::header::UNRESERVED;
use crate::http::words::Language;

/// The page of a directory that was asked for at this address, in the language of the browser.
pub(super) fn page(language: Language, address: &str, nodes: &[Node]) -> Response {
    // Relative to the address: a proxy may have its own name for what is before it.
    let below = match address.rsplit('/').next() {
        Some("") | None => ".",
        Some(last) => last,
    };
    // A name with a colon alone would be a scheme.
    let below = format!("./{}", escaped(below));
    let mut list = String::from("<ul>\n");
    for node in nodes {
        let end = if node.is_dir() { "/" } else { "" };
        let name = utf8_percent_encode(node.name(), UNRESERVED);
        let shown = escaped(node.name());
        let _written = writeln!(
            list,
            "<li><a href=\"{below}/{name}{end}\">{shown}{end}</a></li>"
        );
    }
    list += "</ul>";
    HtmlPage::new(language, language.say("files"), &list).answer()
}

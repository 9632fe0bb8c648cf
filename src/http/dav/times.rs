//! Times of change that programs set as properties.
//!
//! The library takes those of Windows and sets nothing, and refuses the others. Here they are taken out
//! of a request before the library sees it, and come back in its answer.

use std::io::Cursor;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use jiff::fmt::rfc2822;
use xmltree::{Element, XMLNode};

use crate::http::files::modified;

/// Bytes of an answer about properties, which repeats the names of a request.
const ANSWER_MAX_BYTES: usize = 1 << 20;

/// The times that a request sets.
#[derive(Debug, Default)]
pub(super) struct NewTimes {
    /// The time of change, in seconds since 1970.
    pub(super) modified: Option<i64>,
    /// The properties that say so and that the library does not know, as an answer names them.
    taken: Vec<&'static str>,
}

/// Takes the times out of the document of a PROPPATCH.
pub(super) fn take(document: &mut Vec<u8>) -> NewTimes {
    let mut times = NewTimes::default();
    let Ok(mut tree) = Element::parse(Cursor::new(&*document)) else {
        return times;
    };
    let sets = tree.children.iter_mut().filter_map(XMLNode::as_mut_element);
    let sets = sets.filter(|set| set.name == "set");
    let properties = sets.flat_map(|set| &mut set.children);
    for property in properties.filter_map(XMLNode::as_mut_element) {
        property.children.retain(|child| {
            let Some((name, time)) = child.as_element().and_then(time_of) else {
                return true;
            };
            times.modified = Some(time);
            times.taken.extend(name);
            name.is_none()
        });
    }
    let mut rest = Vec::new();
    if !times.taken.is_empty() && tree.write(&mut rest).is_ok() {
        *document = rest;
    }
    times
}

/// The time that a property sets, and how an answer names the property if the library does not know it.
fn time_of(property: &Element) -> Option<(Option<&'static str>, i64)> {
    let name = match (property.namespace.as_deref()?, &*property.name) {
        ("DAV:", "lastmodified") => Some("<D:lastmodified/>"),
        ("DAV:", "getlastmodified") => Some("<D:getlastmodified/>"),
        ("urn:schemas-microsoft-com:", "Win32LastModifiedTime") => None,
        _ => return None,
    };
    let text = property.get_text()?;
    let date = || Some(rfc2822::parse(text.trim()).ok()?.timestamp().as_second());
    let time = modified::of_seconds(&text).or_else(date)?;
    modified::is_kept(time).then_some((name, time))
}

impl NewTimes {
    /// Adds to an answer of the library what became of the properties that were taken out; returns it,
    /// and `true` if everything else that was asked is done.
    pub(super) async fn answered(&self, response: Response) -> (Response, bool) {
        if response.status() != StatusCode::MULTI_STATUS {
            return (response, false);
        }
        let (mut parts, body) = response.into_parts();
        let bytes = to_bytes(body, ANSWER_MAX_BYTES).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let failed = ["HTTP/1.1 4", "HTTP/1.1 5"];
        let is_done = !failed.iter().any(|status| text.contains(status));
        let status = if is_done {
            "200 OK"
        } else {
            "424 Failed Dependency"
        };
        let names = self.taken.concat();
        let said = format!(
            "<D:propstat><D:prop>{names}</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat></D:response>"
        );
        let text = if self.taken.is_empty() {
            text.into_owned()
        } else {
            text.replacen("</D:response>", &said, 1)
        };
        parts.headers.remove(CONTENT_LENGTH);
        let body = Body::from(Bytes::from(text));
        (Response::from_parts(parts, body), is_done)
    }
}

#[cfg(test)]
mod tests {
    use super::take;

    #[test]
    fn times_are_taken_out() {
        let patch = |inner: &str| {
            format!(
                "<?xml version=\"1.0\"?><D:propertyupdate xmlns:D=\"DAV:\" \
                 xmlns:Z=\"urn:schemas-microsoft-com:\"><D:set><D:prop>{inner}</D:prop></D:set>\
                 </D:propertyupdate>"
            )
        };
        for (inner, modified, is_left) in [
            (
                "<lastmodified xmlns=\"DAV:\">1500000000</lastmodified>",
                Some(1_500_000_000),
                false,
            ),
            (
                "<D:getlastmodified>Fri, 14 Jul 2017 02:40:00 GMT</D:getlastmodified>",
                Some(1_500_000_000),
                false,
            ),
            (
                "<Z:Win32LastModifiedTime>Fri, 14 Jul 2017 02:40:00 GMT</Z:Win32LastModifiedTime>",
                Some(1_500_000_000),
                true,
            ),
            ("<D:getlastmodified>soon</D:getlastmodified>", None, true),
            ("<D:displayname>5</D:displayname>", None, true),
        ] {
            let mut document = patch(inner).into_bytes();
            let times = take(&mut document);
            assert_eq!(times.modified, modified, "{inner}");
            let left = String::from_utf8(document).expect("XML");
            assert_eq!(
                left.contains("modified")
                    || left.contains("Modified")
                    || left.contains("displayname"),
                is_left,
                "{left}"
            );
        }
        let mut broken = b"<a".to_vec();
        assert_eq!(take(&mut broken).modified, None);
    }
}

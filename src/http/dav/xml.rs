//! Bounds on the XML of a request: the library's parser has none.
//!
//! The document is read once without a tree. Nothing in it may multiply its size: no document type
//! declaration (entities), no long names (they are repeated in each element and answer), no property
//! twice.

use std::collections::HashSet;

use fileshed_core::Error;
use xml::ParserConfig;
use xml::reader::{EventReader, XmlEvent};

use crate::http::body::BodyError;

/// Bytes of a body that is XML.
pub(super) const MAX_BYTES: u64 = 64 * 1024;
/// Elements, and attributes of all elements.
const MAX_COUNT: usize = 512;
/// Elements in each other: each takes some of the stack.
const MAX_DEPTH: usize = 64;
/// Prefixes of namespaces that one element knows, declared there or above.
const MAX_NAMESPACES: usize = 32;
/// Bytes of a name, and of the address of a namespace.
const MAX_NAME_BYTES: usize = 512;

/// Refuses a document that is beyond the bounds, or that asks for a property several times.
pub(super) fn check(document: &[u8], asks: bool) -> Result<(), Error> {
    if document.is_empty() {
        return Ok(());
    }
    let too_large = || BodyError::TooLarge { limit: MAX_BYTES };
    let config = ParserConfig::new()
        .max_entity_expansion_length(MAX_BYTES as usize)
        .max_entity_expansion_depth(1);
    let (mut count, mut depth) = (0, 0);
    let mut asked = HashSet::new();
    for event in EventReader::new_with_config(document, config) {
        match event.map_err(|_| XmlError::Malformed)? {
            XmlEvent::Doctype { .. } => return Err(XmlError::Doctype.into()),
            XmlEvent::StartElement {
                name,
                attributes,
                namespace,
            } => {
                count += 1 + attributes.len();
                depth += 1;
                let names = [Some(&name.local_name), name.prefix.as_ref()].into_iter();
                let names = names.chain([name.namespace.as_ref()]).flatten();
                let known = namespace.0.iter();
                let known = known.map(|(prefix, address)| prefix.len() + address.len());
                let longest = names.map(String::len).chain(known).max();
                if count > MAX_COUNT
                    || depth > MAX_DEPTH
                    || namespace.0.len() > MAX_NAMESPACES
                    || longest > Some(MAX_NAME_BYTES)
                {
                    return Err(too_large().into());
                }
                if asks && depth == 3 && !asked.insert((name.namespace, name.local_name.clone())) {
                    let name = name.local_name;
                    return Err(XmlError::Repeated { name }.into());
                }
            }
            XmlEvent::EndElement { .. } => depth -= 1,
            _ => {}
        }
    }
    Ok(())
}

fileshed_core::diagnostics! {
    /// A document that is not read.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum XmlError {
        /// It declares a type, and with it perhaps entities.
        #[error("the XML has a document type declaration")]
        Doctype => {
            code: InvalidFormat,
            hint: "send the XML without <!DOCTYPE>",
        },
        /// It is not XML.
        #[error("the body is not well-formed XML")]
        Malformed => {
            code: InvalidFormat,
            hint: "send XML, as in <propfind xmlns=\"DAV:\"><prop><getetag/></prop></propfind>",
        },
        /// It asks for a property more than once.
        #[error("the XML asks for the property `{name}` more than once")]
        Repeated {
            /// The property.
            name: String = "getetag".to_owned(),
        } => {
            code: InvalidFormat,
            hint: "ask for each property once",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    fn is_taken(document: &str, asks: bool) -> bool {
        check(document.as_bytes(), asks).is_ok()
    }

    #[test]
    fn nothing_multiplies_its_size() {
        let asks =
            |inner: &str| format!("<propfind xmlns=\"DAV:\"><prop>{inner}</prop></propfind>");
        assert!(is_taken("", true));
        assert!(is_taken(
            &asks("<getetag/><getetag xmlns=\"urn:x\"/>"),
            true
        ));
        assert!(!is_taken(&asks("<getetag/><getetag/>"), true));
        assert!(is_taken(&asks("<getetag/><getetag/>"), false));
        let named = |namespace: &str| format!("<a xmlns:x=\"{namespace}\"><x:b/></a>");
        assert!(is_taken(&named(&"x".repeat(500)), false));
        assert!(!is_taken(&named(&"x".repeat(600)), false));
        let deep = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(is_taken(&deep(64), false));
        assert!(!is_taken(&deep(65), false));
        let wide = |count: usize| format!("<a>{}</a>", "<b c=\"\"/>".repeat(count));
        assert!(is_taken(&wide(255), false));
        assert!(!is_taken(&wide(256), false));
        let declared = (0..33).fold(String::new(), |all, n| all + &format!(" xmlns:x{n}=\"u\""));
        assert!(!is_taken(&format!("<a{declared}/>"), false));
        let typed = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
        assert!(!is_taken(typed, false));
        assert!(is_taken(
            "<a><!-- <!DOCTYPE a> --><![CDATA[<!DOCTYPE a>]]></a>",
            false
        ));
        for order in [u16::to_be_bytes, u16::to_le_bytes] {
            let text = format!("\u{feff}<?xml version=\"1.0\" encoding=\"utf-16\"?>{typed}");
            let wide: Vec<u8> = text.encode_utf16().flat_map(order).collect();
            let refused = check(&wide, false);
            assert!(
                refused.is_err_and(|error| error.message().contains("document type")),
                "{wide:?}"
            );
        }
    }
}

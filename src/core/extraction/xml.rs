//! Names, attributes and characters of XML.

use quick_xml::events::{BytesRef, BytesStart};

/// The name of an element without its prefix, which the formats have in common.
pub(crate) fn local_name<'e>(element: &'e BytesStart<'_>) -> &'e str {
    let name = element.name().into_inner();
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

/// The value of the attribute of this name, whatever its prefix; of two, that of the one with a
/// prefix.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let attributes = attributes.with_checks(false).flatten();
    let named = attributes.filter(|attribute| attribute.key.local_name().as_ref() == name);
    let found = named.max_by_key(|attribute| attribute.key.prefix().is_some())?;
    let value = found.normalized_value(quick_xml::XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned))
}

/// Entities of pages that XML does not know.
const ENTITIES: [(&str, char); 20] = [
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("copy", '©'),
    ("bull", '•'),
    ("deg", '°'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
];

/// A character that has a name or a number.
pub(crate) fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character);
    }
    let name: &str = reference.as_ref();
    let known = quick_xml::escape::resolve_xml_entity(name);
    let known = known.and_then(|text| text.chars().next());
    known.or_else(|| {
        let mut entities = ENTITIES.iter();
        entities.find(|(known, _)| *known == name).map(|(_, c)| *c)
    })
}

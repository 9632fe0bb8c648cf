//! What several operations have in common: which zones a parameter offers, an empty request, and
//! links in Markdown.

use fileshed_core::ZoneName;
use fileshed_core::link::Purpose;
use serde::Deserialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// What is offered where any zone may be named.
pub(super) enum AnyZone {}

impl PartialSchema for AnyZone {
    fn schema() -> RefOr<Schema> {
        words(
            "uploads: this chat's files, read and delete only; storage: scratch; documents: kept, every change a commit; group: shared, needs group",
            &[
                ZoneName::Uploads,
                ZoneName::Storage,
                ZoneName::Documents,
                ZoneName::Group,
            ],
        )
    }
}

impl ToSchema for AnyZone {}

/// What is offered where files can be made and changed.
pub(super) enum WritableZone {}

impl PartialSchema for WritableZone {
    fn schema() -> RefOr<Schema> {
        words(
            "storage: scratch; documents: kept, every change a commit; group: shared, needs group",
            &[ZoneName::Storage, ZoneName::Documents, ZoneName::Group],
        )
    }
}

impl ToSchema for WritableZone {}

/// What is offered where a zone has to be the caller's own.
pub(super) enum PersonalZone {}

impl PartialSchema for PersonalZone {
    fn schema() -> RefOr<Schema> {
        words("A zone of the caller's own.", &ZoneName::PERSONAL)
    }
}

impl ToSchema for PersonalZone {}

fn words(description: &str, zones: &[ZoneName]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(zones.iter().map(|zone| zone.as_str())))
        .into()
}

/// The default of parameters that are true unless said otherwise.
pub(super) fn yes() -> bool {
    true
}

/// An operation without parameters.
#[derive(Deserialize, ToSchema)]
pub struct Nothing {}

/// A link in Markdown. A file name may hold what Markdown reads as more than text.
pub(super) fn clickable(purpose: Purpose, url: &str, name: &str) -> String {
    let text = match purpose {
        Purpose::Download => escaped(name),
        Purpose::Upload => format!("Send files to {}", escaped(name)),
    };
    format!("[{text}]({url})")
}

/// A picture in Markdown, which shows where it is pasted.
pub(super) fn picture(url: &str, name: &str) -> String {
    format!("![{}]({url})", escaped(name))
}

/// Text that Markdown shows as it is: every punctuation mark may be escaped.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        if character.is_ascii_punctuation() && !".-,".contains(character) {
            escaped.push('\\');
        }
        escaped.push(if character.is_control() {
            ' '
        } else {
            character
        });
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_text_in_markdown() {
        for (name, shown) in [
            ("a-b.txt", "a-b.txt"),
            ("[x](http://evil)", r"\[x\]\(http\:\/\/evil\)"),
            ("a_b*c`d<e>", r"a\_b\*c\`d\<e\>"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(escaped(name), shown);
        }
    }
}

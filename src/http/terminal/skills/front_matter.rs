//! Front matter of a skill: YAML between two lines of `---`, of which the name and the description are
//! read. Other keys are ignored.

/// The values that are read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
}

impl FrontMatter {
    /// Splits a text into its front matter and the rest.
    pub(super) fn split(text: &str) -> (Self, &str) {
        let text = text.trim_start_matches('\u{feff}');
        let Some((front, body)) = between_rules(text) else {
            return (Self::default(), text.trim());
        };
        let mut found = Self::default();
        let mut lines = front.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = match value.trim() {
                style @ (">" | ">-" | ">+" | "|" | "|-" | "|+") => {
                    let mut block = Vec::new();
                    while let Some(line) = lines.next_if(|line| is_inside(line)) {
                        block.push(line.trim());
                    }
                    let between = if style.starts_with('|') { "\n" } else { " " };
                    block.join(between).trim().to_owned()
                }
                plain => {
                    let mut value = unquoted(plain).to_owned();
                    // A plain string may continue on the next lines.
                    while let Some(line) = lines.next_if(|line| is_inside(line)) {
                        value = format!("{value} {}", line.trim());
                    }
                    value.trim().to_owned()
                }
            };
            let field = match key {
                "name" => &mut found.name,
                "description" => &mut found.description,
                _ => continue,
            };
            *field = Some(value).filter(|value| !value.is_empty());
        }
        (found, body.trim())
    }
}

/// Returns the lines between a first line of `---` and the next one, and the rest.
fn between_rules(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn is_inside(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inside = text
            .strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote));
        if let Some(inside) = inside {
            return inside;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn front(name: Option<&str>, description: Option<&str>) -> FrontMatter {
        FrontMatter {
            name: name.map(str::to_owned),
            description: description.map(str::to_owned),
        }
    }

    #[test]
    fn names_and_descriptions_are_read_as_they_are_written() {
        for (text, expected, body) in [
            ("# Only text", front(None, None), "# Only text"),
            ("---\nname: a", front(None, None), "---\nname: a"),
            (
                "---\nname: a\n---\n\nbody\n",
                front(Some("a"), None),
                "body",
            ),
            (
                "---\r\nname: 'a b'\r\ndescription: \"c: d\"\r\nlicense: MIT\r\n---\r\nx",
                front(Some("a b"), Some("c: d")),
                "x",
            ),
            (
                "---\ndescription: >-\n  one\n  two\nname: n\n---\n",
                front(Some("n"), Some("one two")),
                "",
            ),
            (
                "---\ndescription: |\n  one\n  two\n---\n---\n",
                front(None, Some("one\ntwo")),
                "---",
            ),
            (
                "---\nmetadata:\n  name: inside\ndescription: one\n  more\n---\nx",
                front(None, Some("one more")),
                "x",
            ),
            (
                "---\nname:\n# description: no\n---\n",
                front(None, None),
                "",
            ),
        ] {
            assert_eq!(FrontMatter::split(text), (expected, body), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_split_and_nothing_is_made_up(text in "(---\n)?[a-z:>|' \n-]{0,60}") {
            let (front, body) = FrontMatter::split(&text);
            prop_assert!(text.contains(body));
            for word in front.name.iter().chain(&front.description).flat_map(|text| text.split_whitespace()) {
                prop_assert!(text.contains(word));
            }
        }
    }
}

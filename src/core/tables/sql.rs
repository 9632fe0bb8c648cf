//! The words of a statement, as SQLite's tokenizer finds them.
//!
//! Decides nothing about what a statement may do, which is the engine's to say: only how many rows
//! are wanted, and which tables a failed statement was about.

/// One word outside of literals and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Parentheses around it.
    depth: usize,
    is_quoted: bool,
}

/// The words of a statement, quoted names included.
pub(super) fn words(sql: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = sql;
    let mut depth = 0_usize;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let word = move |text, is_quoted| {
                Some(Word {
                    text,
                    depth,
                    is_quoted,
                })
            };
            let taken = match first {
                '(' | ')' => {
                    depth = if first == '(' {
                        depth + 1
                    } else {
                        depth.saturating_sub(1)
                    };
                    1
                }
                '-' if rest.starts_with("--") => end_of(rest, "\n", 2),
                '/' if rest.starts_with("/*") => end_of(rest, "*/", 2),
                '\'' => end_of_quoted(rest, '\''),
                // The name of a parameter is no word.
                ':' | '@' | '$' | '#' | '?' => 1 + end_of_word(&rest[1..]),
                '"' | '`' | '[' => {
                    let (closing, end) = match first {
                        '[' => (']', end_of(rest, "]", 1)),
                        quote => (quote, end_of_quoted(rest, quote)),
                    };
                    let text = rest[1..end].trim_end_matches(closing);
                    rest = &rest[end..];
                    return word(text, true);
                }
                _ if is_of_word(first) => {
                    let (text, behind) = rest.split_at(end_of_word(rest));
                    rest = behind;
                    return word(text, false);
                }
                other => other.len_utf8(),
            };
            rest = &rest[taken..];
        }
    })
}

/// The word that a statement begins with, in capitals.
pub(super) fn verb(sql: &str) -> Option<String> {
    words(sql).next().map(|word| word.text.to_ascii_uppercase())
}

/// Returns `true` if the statement itself limits its rows. LIMIT is a reserved word: bare and outside of
/// parentheses, it is the clause.
pub(super) fn has_limit(sql: &str) -> bool {
    words(sql)
        .any(|word| word.depth == 0 && !word.is_quoted && word.text.eq_ignore_ascii_case("LIMIT"))
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

fn end_of_word(text: &str) -> usize {
    text.find(|character| !is_of_word(character))
        .unwrap_or(text.len())
}

fn end_of(text: &str, end: &str, from: usize) -> usize {
    text[from..]
        .find(end)
        .map_or(text.len(), |at| from + at + end.len())
}

/// Behind the closing quote; two of them are one that does not close.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(found) = text[at..].find(quote) {
        at += found + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_clause_of_the_statement_itself() {
        for (sql, limited) in [
            ("SELECT 1 LIMIT 5", true),
            ("select * from t order by a limit 5 offset 2;", true),
            ("WITH x AS (SELECT 1 LIMIT 5) SELECT * FROM x", false),
            ("SELECT * FROM (SELECT 1 LIMIT 5)", false),
            ("SELECT 'limit 5' -- limit 5", false),
            ("SELECT 1 /* LIMIT 5 */", false),
            ("SELECT \"limit\", [limit], `limit` FROM t", false),
            ("SELECT :limit, @limit, $limit, ?1", false),
            ("SELECT 'it''s' || \"a\"\"b\" LIMIT 1", true),
            ("SELECT 'never closed LIMIT 1", false),
            ("SELECT (1), (2) Limit 1", true),
            ("SELECT é.limité FROM é", false),
        ] {
            assert_eq!(has_limit(sql), limited, "{sql}");
        }
    }

    #[test]
    fn verbs_and_names() {
        assert_eq!(
            verb("/* a */ -- b\n ; with x as (select 1)"),
            Some("WITH".to_owned())
        );
        assert_eq!(verb(" -- nothing"), None);
        let names: Vec<&str> = words("SELECT \"a b\".c FROM [d]")
            .map(|word| word.text)
            .collect();
        assert_eq!(names, ["SELECT", "a b", "c", "FROM", "d"]);
    }
}

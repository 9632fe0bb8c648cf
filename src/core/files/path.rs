//! Paths as models write them.
//!
//! They are relative to the workspace; a leading slash makes no difference. A path with `..` is refused even
//! if it would stay inside: `a/../b` can be read as `b`, but its author made a mistake.

use fileshed_types::ZonePath;
use fileshed_types::zone::PathError;

use crate::error::ToolError;

/// Reads the value of `path`; the workspace itself comes out for an empty one, `.` and `/`.
///
/// ```
/// use fileshed_files::path;
///
/// assert_eq!(path::parse("/docs//a.md")?.as_str(), "docs/a.md");
/// assert!(path::parse("")?.is_root());
/// let escapes = path::parse("docs/../../etc/passwd").expect_err("outside");
/// assert!(escapes.to_string().contains("escapes workspace boundary"));
/// let reserved = path::parse(".lfsig/poison.json").expect_err("reserved");
/// assert_eq!(reserved.to_string(), "Path component '.lfsig' is reserved");
/// # Ok::<(), fileshed_files::ToolError>(())
/// ```
pub fn parse(text: &str) -> Result<ZonePath, ToolError> {
    let says_nothing = |segment: &str| segment == "." || segment.trim().is_empty();
    if text.split('/').all(says_nothing) {
        return Ok(ZonePath::root());
    }
    let escapes = || ToolError::Escapes {
        path: text.to_owned(),
    };
    if text.split(['/', '\\']).any(|segment| segment == "..") {
        return Err(escapes());
    }
    let path = ZonePath::parse("path", text).map_err(|error| match error {
        PathError::Reserved { path, name, .. } => ToolError::Reserved { path, name },
        PathError::Escape { path, .. } => ToolError::Escapes { path },
        error => ToolError::Path(error),
    })?;
    if has_drive(path.as_str()) {
        return Err(escapes());
    }
    Ok(path)
}

/// Reads a path that must name something inside the workspace.
pub(crate) fn inside(text: &str) -> Result<ZonePath, ToolError> {
    let path = parse(text)?;
    path.refuse_root("path")?;
    Ok(path)
}

/// Fails where a path has a name that not every system could hold.
pub(crate) fn check_new(parameter: &'static str, path: &ZonePath) -> Result<(), ToolError> {
    path.check_new_names(parameter, 0)?;
    match path.segments().find(|name| name.contains(':')) {
        None => Ok(()),
        Some(name) => Err(ToolError::Path(PathError::NewName {
            parameter,
            path: path.as_str().to_owned(),
            name: name.to_owned(),
            reason: "holds a colon, which Windows keeps for drives",
        })),
    }
}

/// Returns `true` if a path begins with a drive of Windows, or is a network share there.
fn has_drive(text: &str) -> bool {
    text.starts_with(r"\\")
        || matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_leads_out_is_refused_in_every_spelling() {
        for text in [
            "..",
            "../a",
            "a/..",
            "a/../b",
            "/../etc/passwd",
            r"..\a",
            r"a\..\..\b",
            r"C:\Windows\win.ini",
            "c:/Windows",
            r"\\server\share",
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert_eq!(error, format!("Path escapes workspace boundary: {text}"));
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_inside(text in "[a-c./~ \\\\]{0,20}") {
            if let Ok(path) = parse(&text) {
                prop_assert!(path.segments().all(|name| !["", ".", ".."].contains(&name)));
                prop_assert_eq!(parse(path.as_str()).expect("a path"), path);
            }
        }
    }
}

//! Programs that an administrator adds: `exec.programs`.

use std::str::FromStr;

/// The name of a program, as one types it, or `*` for all that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramName(String);

/// Stands for every program of the machine, and for what users bring or build themselves.
const EVERY: &str = "*";

impl ProgramName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if it stands for every program.
    pub fn is_every(&self) -> bool {
        self.0 == EVERY
    }
}

impl FromStr for ProgramName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
        let is_name =
            text.bytes().all(is_part) && !text.is_empty() && !text.starts_with(['-', '.']);
        if is_name || text == EVERY {
            Ok(Self(text.to_owned()))
        } else {
            Err("must be names of programs without a path, like python3, or *".to_owned())
        }
    }
}

impl std::fmt::Display for ProgramName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for name in ["python3", "node", "g++", "python3.11", "*"] {
            let read: ProgramName = name.parse().expect(name);
            assert_eq!(read.to_string(), name);
            assert_eq!(read.is_every(), name == "*");
        }
        for name in ["", "/bin/sh", "a b", "../x", "-c", ".x", "**", "a\0"] {
            assert!(name.parse::<ProgramName>().is_err(), "{name:?}");
        }
    }
}

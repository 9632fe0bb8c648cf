//! A place in a zone as one text: `storage/notes/a.md`, `group/Team/a.md`.

use std::fmt;

use super::ZoneName;

/// A zone and a path in it. Displayed as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneAddress<'t> {
    /// The zone.
    pub zone: ZoneName,
    /// The name or id of the group of a group's zone.
    pub group: Option<&'t str>,
    /// The path in the zone, as text; empty for the whole zone.
    pub path: &'t str,
}

impl<'t> ZoneAddress<'t> {
    /// Reads an address, whose zone may be in any case and behind a slash. Returns `None` for a text that
    /// names no zone, or the zone of groups and no group.
    pub fn parse(text: &'t str) -> Option<Self> {
        let split = |text: &'t str| text.split_once('/').unwrap_or((text, ""));
        let (first, path) = split(text.trim_start_matches('/'));
        let zone = match first {
            "groups" => ZoneName::Group,
            first => ZoneName::parse_parameter("zone", first).ok()?,
        };
        let (group, path) = match (zone, split(path)) {
            (ZoneName::Group, ("", _)) => return None,
            (ZoneName::Group, (group, path)) => (Some(group), path),
            _ => (None, path),
        };
        Some(Self { zone, group, path })
    }
}

impl fmt::Display for ZoneAddress<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.zone)?;
        if let Some(group) = self.group {
            write!(out, "/{group}")?;
        }
        match self.path {
            "." => Ok(()),
            path => write!(out, "/{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_zone() {
        for (text, shown) in [
            ("storage/a.md", Some("storage/a.md")),
            ("/Documents/x/", Some("documents/x/")),
            ("uploads", Some("uploads/")),
            ("group/Team/storage/a", Some("group/Team/storage/a")),
            ("groups/Team", Some("group/Team/")),
            ("group", None),
            ("group//a", None),
            ("a.md", None),
            ("", None),
        ] {
            let address = ZoneAddress::parse(text).map(|address| address.to_string());
            assert_eq!(address.as_deref(), shown, "{text}");
        }
    }
}

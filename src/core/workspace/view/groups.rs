//! What groups are called in the tree.

use super::{View, ViewPath};
use crate::directory::Group;
use crate::zone::NAME_MAX_BYTES;
use crate::{Error, Zone, ZonePath};

impl View<'_> {
    /// The names of the caller's groups as directories: of a group whose name another one has too,
    /// or whose name can be none of a directory, its id. In alphabetical order.
    pub fn groups(&self) -> Result<Vec<String>, Error> {
        let groups = self.store.known_groups(self.caller)?.unwrap_or_default();
        let names = groups.iter().map(|group| label(group, &groups).to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }
}

impl ViewPath {
    /// The path of something in a zone.
    #[must_use]
    pub fn of(zone: &Zone<'_>, path: &ZonePath) -> Self {
        let top = match zone.group() {
            Some(group) => {
                let groups = zone.store.known_groups(zone.caller).ok().flatten();
                let groups = groups.unwrap_or_default();
                format!("/groups/{}", label(group, &groups))
            }
            None => format!("/{}", zone.name()),
        };
        let top = Self::kept(top);
        if path.is_root() {
            top
        } else {
            top.join(path.as_str())
        }
    }
}

/// The name of a group as a directory among these.
fn label<'g>(group: &'g Group, all: &[Group]) -> &'g str {
    let name = group.name.as_str();
    let is_taken =
        |other: &Group| other.id != group.id && (other.name == name || other.id.as_str() == name);
    let can_be = !matches!(name, "" | "." | "..")
        && name.trim() == name
        && name.len() <= NAME_MAX_BYTES
        && !name.contains('/')
        && !name.chars().any(char::is_control);
    if can_be && !all.iter().any(is_taken) {
        name
    } else {
        group.id.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::GroupId;

    #[test]
    fn groups_have_names_that_tell_them_apart() {
        let group = |id: &str, name: &str| Group {
            id: GroupId::parse(id).expect("an id"),
            name: name.to_owned(),
            description: String::new(),
            member_count: 1,
        };
        let all = [
            group("1", "team"),
            group("2", "Sales & Co"),
            group("3", "a/b"),
            group("4", "same"),
            group("5", "same"),
            group("6", ".."),
            group("7", "1"),
        ];
        let labels: Vec<&str> = all.iter().map(|one| label(one, &all)).collect();
        assert_eq!(labels, ["team", "Sales & Co", "3", "4", "5", "6", "7"]);
    }
}

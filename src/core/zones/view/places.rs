//! Places of a caller in the tree: conversations, groups, and the working directory that relative paths
//! begin at.

use super::{View, ViewError, ViewPath};
use crate::Zone;
use crate::chats::ChatUploads;
use crate::directory::Group;
use crate::zone::NAME_MAX_BYTES;
use fileshed_types::{Caller, Chat, Error, ZonePath};

impl View<'_> {
    /// Returns the conversations with uploads that the caller can open, in the order of
    /// [`Store::chats_with_uploads`](crate::store::Store::chats_with_uploads). Each is named as its
    /// directory.
    pub fn chats(&self) -> Result<Vec<ChatUploads>, Error> {
        let all = (usize::MAX, u64::MAX);
        let mut chats = self.store.untitled_chats(self.caller, 0, all)?.chats;
        if self.caller.chat != Chat::default() {
            chats.retain(|uploads| uploads.chat == self.caller.chat);
        }
        Ok(chats)
    }

    /// Returns the names of the caller's groups as directories, in alphabetical order. A group has its
    /// id instead if another group has the same name, or if its name cannot be that of a directory.
    pub fn groups(&self) -> Result<Vec<String>, Error> {
        let groups = self.store.known_groups(self.caller)?.unwrap_or_default();
        let names = groups.iter().map(|group| label(group, &groups).to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the working directory of the caller in this conversation; the home if none was set. The
    /// directory may be gone by now.
    pub fn cwd(&self) -> Result<ViewPath, Error> {
        let (tenant, chat) = self.store.conversation(self.caller)?;
        let kept = self.store.registry.working_directory(&tenant, &chat)?;
        Ok(kept.map_or_else(ViewPath::home, ViewPath::kept))
    }

    /// Returns [`Self::cwd`] without waiting; `None` if it would have to wait.
    pub fn cwd_at_once(&self) -> Option<ViewPath> {
        let (tenant, chat) = self.store.conversation(self.caller).ok()?;
        let registry = &self.store.registry;
        let kept = registry.working_directory_at_once(&tenant, &chat);
        Some(kept.ok()?.map_or_else(ViewPath::home, ViewPath::kept))
    }

    /// Returns the working directory, or the nearest existing directory above it.
    pub fn existing_cwd(&self) -> Result<ViewPath, Error> {
        let mut path = self.cwd()?;
        while !matches!(self.is_directory("path", &path), Ok(true)) {
            let Some(above) = path.parent() else {
                return Ok(ViewPath::home());
            };
            path = above;
        }
        Ok(path)
    }

    /// Makes an existing directory the working directory.
    pub fn set_cwd(&self, parameter: &'static str, text: &str) -> Result<ViewPath, Error> {
        let path = self.path(parameter, text)?;
        if !self.is_directory(parameter, &path)? {
            return Err(ViewError::NoDirectory(path.to_string()).into());
        }
        let (tenant, chat) = self.store.conversation(self.caller)?;
        let now = self.store.clock.now().as_second();
        let registry = &self.store.registry;
        registry.set_working_directory(&tenant, &chat, path.as_str(), now)?;
        Ok(path)
    }
}

impl ViewPath {
    /// Returns the caller that opens the entry at this path: in the conversation whose uploads hold it,
    /// if the caller [can enter it](Caller::enter).
    #[must_use]
    pub fn opener(&self, caller: &Caller) -> Caller {
        let mut caller = caller.clone();
        if let Some(chat) = self.chat().and_then(Chat::parse) {
            caller.enter(chat);
        }
        caller
    }

    /// Returns the path of an entry of a zone.
    #[must_use]
    pub fn of(zone: &Zone<'_>, path: &ZonePath) -> Self {
        let top = match zone.group() {
            Some(group) => {
                let groups = zone.store.known_groups(zone.caller).ok().flatten();
                let groups = groups.unwrap_or_default();
                format!("/groups/{}", label(group, &groups))
            }
            None => format!("/{}", zone.name),
        };
        let top = Self::kept(top);
        if path.is_root() {
            top
        } else {
            top.join(path.as_str())
        }
    }
}

/// Returns the name of a group as a directory among these.
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

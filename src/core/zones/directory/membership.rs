//! Members of a group, and their display names.

use super::{Group, Member};

/// Display name of a file's owner who has left the group. It hides who the owner was.
const FORMER: &str = "former member";

/// The members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The known members, by id.
    pub members: Vec<Member>,
    /// The number of all members.
    pub count: u64,
}

impl Membership {
    /// Returns the membership if all members are known.
    pub(super) fn all(mut members: Vec<Member>) -> Self {
        members.sort_by(|a, b| a.id.cmp(&b.id));
        // A member may come twice in a list that comes in pages.
        members.dedup_by(|a, b| a.id == b.id);
        let count = members.len() as u64;
        Self { members, count }
    }

    /// Returns the membership if the group may have more members than are known.
    pub(super) fn some(members: Vec<Member>, group: &Group) -> Self {
        let known = Self::all(members);
        let count = known.count.max(group.member_count);
        Self { count, ..known }
    }

    /// Returns the member that a text names: by id, or by a name that only one has.
    #[must_use]
    pub fn named(&self, text: &str) -> Option<&Member> {
        if let Some(member) = self.members.iter().find(|member| member.id == text) {
            return Some(member);
        }
        let mut same = self
            .members
            .iter()
            .filter(|member| member.name.as_deref() == Some(text));
        same.next().filter(|_| same.next().is_none())
    }

    /// Returns the display name of the user with this id: the name if only one member has it, else the
    /// id. A user who is not in the group is a "former member".
    #[must_use]
    pub fn shown<'m>(&'m self, id: &'m str) -> &'m str {
        let Some(member) = self.members.iter().find(|member| member.id == id) else {
            return FORMER;
        };
        let name = member.name.as_deref();
        name.filter(|name| self.named(name) == Some(member))
            .unwrap_or(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, name: Option<&str>) -> Member {
        Member {
            id: id.to_owned(),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn who_is_shown_is_found_under_what_is_shown() {
        let all = Membership::all(vec![
            member("4", Some("Ada")),
            member("3", None),
            member("2", Some("Eve")),
            member("1", Some("Eve")),
            // Called like the id of another.
            member("0", Some("3")),
            member("4", Some("Ada")),
        ]);
        assert_eq!(all.count, 5);
        for (id, shown) in [("4", "Ada"), ("3", "3"), ("2", "2"), ("1", "1"), ("0", "0")] {
            assert_eq!(all.shown(id), shown);
            assert_eq!(all.named(shown).map(|member| member.id.as_str()), Some(id));
        }
        assert_eq!(all.shown("9"), FORMER);
        assert_eq!(all.named("Eve"), None);
    }
}

//! Who is in a group, and how its members are called.

use super::{Group, Member};

/// How a file's owner is called who is in the group no more: whoever it was is nobody's business.
const FORMER: &str = "former member";

/// Who is in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Those that are known, by id.
    pub members: Vec<Member>,
    /// The number of all.
    pub count: u64,
}

impl Membership {
    /// All members.
    pub(super) fn all(mut members: Vec<Member>) -> Self {
        members.sort_by(|a, b| a.id.cmp(&b.id));
        // A member may come twice in a list that comes in pages.
        members.dedup_by(|a, b| a.id == b.id);
        let count = members.len() as u64;
        Self { members, count }
    }

    /// Those that are known of a group, which may have more.
    pub(super) fn some(members: Vec<Member>, group: &Group) -> Self {
        let known = Self::all(members);
        let count = known.count.max(group.member_count);
        Self { count, ..known }
    }

    /// The member that a text names: by id, or by a name that only one has.
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

    /// What names the user of this id: the name where only one member has it, else the id; of who
    /// is not in the group neither.
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

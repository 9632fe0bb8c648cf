//! `shed_group_list`: the groups of the caller.

use fileshed_core::group::Group;

use super::prelude::*;

/// `shed_group_list`
pub struct GroupList;

/// Groups of the caller.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// The groups of the caller.
    groups: Vec<Group>,
    /// Number of groups.
    count: usize,
}

impl Operation for GroupList {
    const ID: &str = "shed_group_list";
    const SUMMARY: &str = "List your groups";
    const DOC: &str =
        "List the groups whose files you share; use one with zone=\"group\", group=<name>.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![; GroupNotAvailable];
    const EXAMPLES: &[&str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Table("groups", &["id", "name", "member_count", "description"]),
        Keep::Always("count"),
    ];
    type Request = NoParameters;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, _: NoParameters) -> Result<Reply<Response>, Error> {
        let mut groups = core.store.groups(caller)?;
        for group in &mut groups {
            group.member_count = core.store.member_count(group);
        }
        let count = groups.len();
        let message = match count {
            0 => "You are in no group".to_owned(),
            1 => "You are in 1 group".to_owned(),
            count => format!("You are in {count} groups"),
        };
        Ok(Reply::new(Response { groups, count }, message))
    }
}

//! `shed_group_info`: who is in a group, and whose its files are.

use fileshed_core::chat_host::counted;
use fileshed_core::directory::Member;
use fileshed_core::sharing::{self, SharedFile};
use fileshed_core::size::human_size;

use super::arguments::{at_least, not_negative};
use super::prelude::*;
use super::stats::Total as Space;

/// Files of one answer.
const FILES: u64 = 500;

/// `shed_group_info`
pub struct GroupInfo;

/// The group and its files.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Name or id
    group: String,
    /// Files to skip
    offset: Option<i64>,
    /// Files; default and most 500
    limit: Option<i64>,
}

/// The group.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Id of the group.
    group_id: String,
    /// Name of the group.
    name: String,
    /// Members that are known.
    members: Vec<Member>,
    /// Total number of members.
    member_count: u64,
    /// Files in the order of their paths.
    files: Vec<SharedFile>,
    /// Total number of files.
    total_files: u64,
    /// Bytes of all files.
    total_size: u64,
    /// Size of all files, for people.
    total_size_human: String,
    /// Quota of the group in MiB.
    quota_mb: u64,
    /// Space used, in percent of the quota.
    usage_percent: f64,
}

impl Operation for GroupInfo {
    const ID: &str = "shed_group_info";
    const SUMMARY: &str = "Show members and files of a group";
    const DOC: &str = "Show the members of a group and its files with owner and mode. To read them: shed_exec with zone=\"group\".";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &[r#"{"group": "team"}"#];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unknown("group_id"),
        Keep::Unknown("name"),
        Keep::Always("member_count"),
        Keep::Table("members", &["id", "name"]),
        Keep::Table("files", &["path", "size", "owner", "mode"]),
        Keep::Always("total_files"),
        Keep::Always("total_size"),
        Keep::Always("quota_mb"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let group = core.store.group(caller, Some(&request.group))?;
        let zone = core.store.group_zone(caller, Some(group.id.as_str()))?;
        let offset = not_negative("offset", request.offset)?.unwrap_or(0) as usize;
        let limit = at_least("limit", request.limit, 1, "1 to 500")?.unwrap_or(FILES);
        let mut page = sharing::page(&zone, offset, limit.min(FILES) as usize)?;
        let membership = core.store.members(&group)?;
        let (used, limit) = core.store.group_usage(&group)?;
        let space = Space::of(used, limit);
        for owner in page.files.iter_mut().filter_map(|file| file.owner.as_mut()) {
            *owner = membership.shown(owner).to_owned();
        }
        let files = page.files;
        let shown = (files.len() as u64).min(page.totals.files);
        let members = counted(membership.count, "member");
        let message = if shown == page.totals.files {
            format!("{members}, {shown} files")
        } else {
            format!(
                "{members}, {shown} of {} files from {offset} on",
                page.totals.files
            )
        };
        let response = Response {
            group_id: group.id.as_str().to_owned(),
            name: group.name,
            member_count: membership.count,
            members: membership.members.clone(),
            files,
            total_files: page.totals.files,
            total_size: page.totals.bytes,
            total_size_human: human_size(page.totals.bytes),
            quota_mb: space.quota_mb,
            usage_percent: space.usage_percent,
        };
        Ok(Reply::new(response, message))
    }
}

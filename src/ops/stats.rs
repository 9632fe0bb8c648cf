//! `shed_stats`: how much space the caller uses.

use fileshed_core::bin;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::size::human_size;
use fileshed_core::storage::Totals;

use super::prelude::*;

/// `shed_stats`
pub struct Stats;

/// Space of one zone.
#[derive(Default, Serialize, ToSchema)]
pub struct Space {
    /// Bytes of all files.
    size_bytes: u64,
    /// Size of all files, for people.
    size_human: String,
    /// Number of files.
    files: u64,
}

/// Space of all zones, against the quota.
#[derive(Serialize, ToSchema)]
pub struct Total {
    /// Bytes of all files.
    pub(super) size_bytes: u64,
    /// Size of all files, for people.
    pub(super) size_human: String,
    /// Quota in MiB.
    pub(super) quota_mb: u64,
    /// Space used, in percent of the quota.
    pub(super) usage_percent: f64,
}

/// Space of one group, against its quota.
#[derive(Serialize, ToSchema)]
pub struct GroupSpace {
    /// Name of the group.
    name: String,
    #[serde(flatten)]
    space: Total,
}

/// Space of the caller.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Space of the zone uploads, of all conversations.
    uploads: Space,
    /// Space of the zone storage.
    storage: Space,
    /// Space of the zone documents.
    documents: Space,
    /// Space of the bin; absent if there is no bin.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Space>,
    /// Space of all zones, working copies and the bin, against the quota.
    total: Total,
    /// Space of each group of the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    groups: Vec<GroupSpace>,
}

impl Total {
    /// So much of a quota of so many bytes.
    pub(super) fn of(used: Totals, limit: u64) -> Self {
        let quota_mb = limit / MEBIBYTE;
        let percent = 100.0 * used.bytes as f64 / (quota_mb.max(1) * MEBIBYTE) as f64;
        Self {
            size_bytes: used.bytes,
            size_human: human_size(used.bytes),
            quota_mb,
            usage_percent: (percent * 100.0).round() / 100.0,
        }
    }
}

impl Operation for Stats {
    const ID: &str = "shed_stats";
    const SUMMARY: &str = "Show space used";
    const DOC: &str = "Show the space used in each zone and group, and the quotas.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("uploads"),
        Keep::Always("storage"),
        Keep::Always("documents"),
        Keep::Unusual("bin"),
        Keep::Always("total"),
        Keep::Lines("groups"),
    ];
    type Request = NoParameters;
    type Response = Response;

    fn shorten(data: &mut Map<String, Value>) {
        let size = |space: &Value| space["size_human"].as_str().unwrap_or_default().to_owned();
        let total = |space: &Value| format!("{} of {} MB", size(space), space["quota_mb"]);
        for (name, space) in data.iter_mut() {
            *space = match (name.as_str(), &mut *space) {
                ("groups", Value::Array(groups)) => {
                    let line = |group: &Value| {
                        let name = group["name"].as_str().unwrap_or_default();
                        format!("{name}: {}", total(group))
                    };
                    groups.iter().map(line).collect()
                }
                ("total", space) => total(space).into(),
                (_, space) => format!("{} in {} files", size(space), space["files"]).into(),
            };
        }
    }

    fn run(core: &Core, caller: &Caller, _: NoParameters) -> Result<Reply<Response>, Error> {
        let (usage, limit) = core.store.usage(caller)?;
        let space = |zone: &str| {
            let usage = usage.iter().find(|usage| usage.zone == zone);
            let totals = usage.map(|usage| usage.totals).unwrap_or_default();
            Space {
                size_bytes: totals.bytes,
                size_human: human_size(totals.bytes),
                files: totals.files,
            }
        };
        let used = Totals {
            bytes: usage.iter().map(|usage| usage.totals.bytes).sum(),
            files: usage.iter().map(|usage| usage.totals.files).sum(),
        };
        let total = Total::of(used, limit);
        let message = format!("{} of {} MB are used", total.size_human, total.quota_mb);
        let mut groups = Vec::new();
        for group in core.store.known_groups(caller)?.unwrap_or_default() {
            let (used, limit) = core.store.group_usage(&group)?;
            groups.push(GroupSpace {
                space: Total::of(used, limit),
                name: group.name,
            });
        }
        let response = Response {
            uploads: space("uploads"),
            storage: space("storage"),
            documents: space("documents"),
            bin: Some(space("bin")).filter(|bin| bin::has_bin(&core.store) || bin.files > 0),
            total,
            groups,
        };
        Ok(Reply::new(response, message))
    }
}

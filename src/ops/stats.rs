//! `shed_stats`: how much space the caller uses.

use fileshed_core::ledger::human_size;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Caller, Code, Error, Shed};
use serde::Serialize;
use utoipa::ToSchema;

use super::vocabulary::Nothing;
use super::{Operation, Reply};

/// See the module.
pub struct Stats;

/// Space of one zone.
#[derive(Default, Serialize, ToSchema)]
pub struct Space {
    size_bytes: u64,
    size_human: String,
    files: u64,
}

/// Space of all zones, against the quota.
#[derive(Serialize, ToSchema)]
pub struct Total {
    size_bytes: u64,
    size_human: String,
    quota_mb: u64,
    usage_percent: f64,
}

/// Space of the caller.
#[derive(Serialize, ToSchema)]
pub struct Response {
    uploads: Space,
    storage: Space,
    documents: Space,
    total: Total,
}

impl Operation for Stats {
    const ID: &str = "shed_stats";
    const SUMMARY: &str = "Show space used";
    const DOC: &str = "Show the space used in each zone and the quota.";
    const ERRORS: &[Code] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    type Request = Nothing;
    type Response = Response;

    fn run(shed: &Shed, caller: &Caller, _request: Nothing) -> Result<Reply<Response>, Error> {
        let usage = shed.usage(caller)?;
        let space = |zone: &str| {
            let totals = usage
                .iter()
                .find(|usage| usage.zone == zone)
                .map(|usage| usage.totals)
                .unwrap_or_default();
            Space {
                size_bytes: totals.bytes,
                size_human: human_size(totals.bytes),
                files: totals.files,
            }
        };
        let bytes = usage.iter().map(|usage| usage.totals.bytes).sum();
        let quota_mb = shed.settings().quota_per_user_mb;
        let percent = 100.0 * bytes as f64 / (quota_mb.max(1) * MEBIBYTE) as f64;
        let total = Total {
            size_bytes: bytes,
            size_human: human_size(bytes),
            quota_mb,
            usage_percent: (percent * 100.0).round() / 100.0,
        };
        let message = format!("{} of {quota_mb} MB are used", total.size_human);
        Ok(Reply::new(
            Response {
                uploads: space("uploads"),
                storage: space("storage"),
                documents: space("documents"),
                total,
            },
            message,
        ))
    }
}

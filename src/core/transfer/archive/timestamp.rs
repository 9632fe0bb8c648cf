//! When a file was changed, as archives say it.
//!
//! The fields of every entry are those of MS-DOS: local time of an unknown place, even seconds,
//! 1980 to 2107. Beside them Info-ZIP's field `UT` has seconds since 1970 (libzip,
//! `extrafld.txt`), and that of NTFS has what Windows knows. The first two are written; a field is
//! believed where it is there, otherwise the place is taken to be UTC.

use std::time::SystemTime;

use fileshed_types::timings;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use zip::DateTime;
use zip::extra_fields::ExtraField;

/// The id of `UT`.
pub(super) const FIELD: u16 = 0x5455;

/// The nearest that MS-DOS can say.
pub(super) fn to_dos(seconds: i64) -> DateTime {
    let at = Timestamp::from_second(seconds).unwrap_or_default();
    let at = TimeZone::UTC.to_datetime(at);
    DateTime::from_date_and_time(
        at.year().unsigned_abs(),
        at.month().unsigned_abs(),
        at.day().unsigned_abs(),
        at.hour().unsigned_abs(),
        at.minute().unsigned_abs(),
        at.second().unsigned_abs(),
    )
    .unwrap_or_default()
}

/// The content of `UT`, where its 32 bits can say it.
pub(super) fn to_field(seconds: i64) -> Option<[u8; 5]> {
    let [a, b, c, d] = i32::try_from(seconds).ok()?.to_le_bytes();
    Some([1, a, b, c, d])
}

/// When an entry was changed.
pub fn of<'f>(
    mut fields: impl Iterator<Item = &'f ExtraField>,
    dos: Option<DateTime>,
) -> Option<i64> {
    let field = fields.find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times
            .mod_time()
            .map(|seconds| i64::from(seconds.cast_signed())),
        ExtraField::Ntfs(times) => {
            let seconds = (times.mtime() / NTFS_SECOND) as i64 - NTFS_BEGINNING;
            // A field of zeros says nothing.
            (times.mtime() > 0).then_some(seconds)
        }
        _ => None,
    });
    field.or_else(|| dos.and_then(from_dos))
}

/// Units of the NTFS field in a second.
const NTFS_SECOND: u64 = 10_000_000;

/// Seconds between its beginning, the year 1601, and 1970.
const NTFS_BEGINNING: i64 = 11_644_473_600;

/// The moment so many seconds after 1970.
pub fn system_time(seconds: i64) -> Option<SystemTime> {
    let distance = timings::seconds(seconds.unsigned_abs());
    if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

fn from_dos(at: DateTime) -> Option<i64> {
    let signed = |number: u8| i8::try_from(number).ok();
    let at = civil::DateTime::new(
        i16::try_from(at.year()).ok()?,
        signed(at.month())?,
        signed(at.day())?,
        signed(at.hour())?,
        signed(at.minute())?,
        signed(at.second())?,
        0,
    )
    .ok()?;
    let at = TimeZone::UTC.to_timestamp(at).ok()?;
    Some(at.as_second())
}

#[cfg(test)]
mod tests {
    use super::{from_dos, to_dos, to_field};

    #[test]
    fn times_survive_to_two_seconds() {
        for (seconds, read) in [
            (1_700_000_001, Some(1_700_000_000)),
            (315_532_800, Some(315_532_800)),
            // A time that MS-DOS cannot express becomes the earliest one that it can.
            (0, Some(315_532_800)),
            (-5, Some(315_532_800)),
            (i64::MAX, Some(315_532_800)),
        ] {
            assert_eq!(from_dos(to_dos(seconds)), read, "{seconds}");
        }
        assert_eq!(to_field(1), Some([1, 1, 0, 0, 0]));
        assert_eq!(to_field(-1), Some([1, 255, 255, 255, 255]));
        assert_eq!(to_field(1 << 31), None);
    }
}

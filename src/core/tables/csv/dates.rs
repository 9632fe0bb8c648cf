//! Dates as people write them, as ISO text.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;

use crate::work::{DatabaseError, DateFormat};

/// The dates of one column: first all of them are looked at, then each is read.
#[derive(Clone, Debug)]
pub(crate) struct Dates {
    format: Option<DateFormat>,
    /// Dates that cannot begin with the month, or with the day.
    day_first: u64,
    month_first: u64,
}

impl Dates {
    pub(crate) fn new(format: Option<DateFormat>) -> Result<Self, DatabaseError> {
        if let Some(DateFormat::Directives(directives)) = &format
            && strtime::format(directives, DateTime::constant(2026, 12, 31, 23, 59, 58, 0)).is_err()
        {
            return Err(DatabaseError::Parameter {
                name: "date_format".to_owned(),
                received: directives.clone(),
                expected: "dayfirst, monthfirst, or directives such as %d.%m.%Y".to_owned(),
            });
        }
        Ok(Self {
            format,
            day_first: 0,
            month_first: 0,
        })
    }

    /// Looks at a value.
    pub(crate) fn see(&mut self, text: &str) {
        if self.format.is_none()
            && let Some((first, second, _, _)) = parts(text.trim())
        {
            self.day_first += u64::from(first > 12);
            self.month_first += u64::from(second > 12);
        }
    }

    /// The value as ISO text, where it is a date.
    pub(crate) fn read(&self, text: &str) -> Option<String> {
        let text = text.trim();
        if let Some(DateFormat::Directives(directives)) = &self.format {
            let parsed = strtime::parse(directives, text).ok()?;
            let date = parsed.to_date().ok()?;
            return Some(match parsed.to_time() {
                Ok(time) if directives_have_time(directives) => show(date, Some(time)),
                _ => show(date, None),
            });
        }
        if let Some((date, rest)) = iso(text) {
            return with_time(date, rest);
        }
        let (first, second, year, rest) = parts(text)?;
        let (day, month) = if self.begins_with_day() {
            (first, second)
        } else {
            (second, first)
        };
        with_time(Date::new(year, month, day).ok()?, rest)
    }

    fn begins_with_day(&self) -> bool {
        match self.format {
            Some(DateFormat::MonthFirst) => false,
            Some(_) => true,
            None => self.day_first >= self.month_first,
        }
    }
}

fn directives_have_time(directives: &str) -> bool {
    ["%H", "%I", "%M", "%S", "%T", "%R", "%k", "%l"]
        .iter()
        .any(|directive| directives.contains(directive))
}

fn show(date: Date, time: Option<Time>) -> String {
    match time {
        None => date.to_string(),
        Some(time) => format!("{date} {time}"),
    }
}

/// `2026-12-31` and what follows.
fn iso(text: &str) -> Option<(Date, &str)> {
    let (date, rest) = text.split_at_checked(10)?;
    Some((date.parse().ok()?, rest))
}

/// A date and the time behind it: nothing, or hours and minutes and perhaps seconds.
fn with_time(date: Date, rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['T', ' ']);
    if rest.is_empty() {
        return Some(show(date, None));
    }
    let is_of_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.');
    if !rest.chars().all(is_of_time) {
        return None;
    }
    let padded = if rest.as_bytes().get(1) == Some(&b':') {
        format!("0{rest}")
    } else {
        rest.to_owned()
    };
    padded.parse().ok().map(|time| show(date, Some(time)))
}

/// Day and month in whichever order, year, and what follows: `31/12/2026`, `1.2.26 23:59`.
fn parts(text: &str) -> Option<(i8, i8, i16, &str)> {
    let separator = text.chars().find(|c| !c.is_ascii_digit())?;
    if !matches!(separator, '/' | '.' | '-') {
        return None;
    }
    let mut pieces = text.splitn(3, separator);
    let number = |piece: &str| (piece.len() <= 2).then(|| piece.parse::<i8>().ok())?;
    let (first, second) = (number(pieces.next()?)?, number(pieces.next()?)?);
    let rest = pieces.next()?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (year, rest) = rest.split_at(end);
    let year = match (year.len(), year.parse::<i16>().ok()?) {
        (4, year) => year,
        // As POSIX has it.
        (2, year @ 69..) => 1900 + year,
        (2, year) => 2000 + year,
        _ => return None,
    };
    let plausible = (1..=31).contains(&first) && (1..=31).contains(&second);
    plausible.then_some((first, second, year, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Option<DateFormat>, seen: &[&str], text: &str) -> Option<String> {
        let mut dates = Dates::new(format).expect("a format");
        for text in seen {
            dates.see(text);
        }
        dates.read(text)
    }

    #[test]
    fn dates_become_iso() {
        let directives = |text: &str| Some(DateFormat::Directives(text.to_owned()));
        for (format, seen, text, iso) in [
            (None, &[][..], "31/12/2026", Some("2026-12-31")),
            (None, &["31/12/2026"], "01/02/2026", Some("2026-02-01")),
            (None, &["12/31/2026"], "01/02/2026", Some("2026-01-02")),
            (None, &[], "1.2.26", Some("2026-02-01")),
            (None, &[], "1-2-69", Some("1969-02-01")),
            (None, &[], "2026-12-31", Some("2026-12-31")),
            (
                None,
                &[],
                "2026-12-31T07:08:09",
                Some("2026-12-31 07:08:09"),
            ),
            (None, &[], "31/12/2026 7:08", Some("2026-12-31 07:08:00")),
            (None, &[], "31/02/2026", None),
            (None, &[], "yesterday", None),
            (None, &[], "31/12", None),
            (
                Some(DateFormat::MonthFirst),
                &[],
                "01/02/2026",
                Some("2026-01-02"),
            ),
            (
                Some(DateFormat::DayFirst),
                &["12/31/2026"],
                "01/02/2026",
                Some("2026-02-01"),
            ),
            (directives("%Y%m%d"), &[], "20261231", Some("2026-12-31")),
            (
                directives("%d %b %Y %H:%M"),
                &[],
                "31 Dec 2026 23:59",
                Some("2026-12-31 23:59:00"),
            ),
            (directives("%Y%m%d"), &[], "31/12/2026", None),
        ] {
            assert_eq!(read(format, seen, text).as_deref(), iso, "{text}");
        }
        assert!(Dates::new(directives("%Y-%!")).is_err());
    }
}

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
            && let Some(numbers) = Numbers::of(text.trim())
        {
            self.day_first += u64::from(numbers.first > 12);
            self.month_first += u64::from(numbers.second > 12);
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
        if let Some((date, rest)) = year_first(text).or_else(|| with_month_name(text)) {
            return with_time(date, rest);
        }
        let numbers = Numbers::of(text)?;
        let day_first = match self.format {
            None => numbers.separator == '.' || self.begins_with_day(),
            Some(_) => self.begins_with_day(),
        };
        let (day, month) = if day_first {
            (numbers.first, numbers.second)
        } else {
            (numbers.second, numbers.first)
        };
        with_time(Date::new(numbers.year, month, day).ok()?, numbers.rest)
    }

    fn begins_with_day(&self) -> bool {
        match self.format {
            Some(DateFormat::MonthFirst) => false,
            Some(_) => true,
            None => self.day_first >= self.month_first,
        }
    }
}

/// Returns `true` for a date in whichever order, but not for what may be a version, such as `1.2.10`.
pub(super) fn is_date(text: &str) -> bool {
    let reads = |format| Dates::new(Some(format)).is_ok_and(|dates| dates.read(text).is_some());
    text.len() >= 8 && (reads(DateFormat::DayFirst) || reads(DateFormat::MonthFirst))
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

/// Reads `2026-12-31`, `2026/12/31` or `20261231`, and what follows.
fn year_first(text: &str) -> Option<(Date, &str)> {
    let (year, rest) = digits(text)?;
    if year.len() == 8 {
        let number: i32 = year.parse().ok()?;
        let year = i16::try_from(number / 10_000).ok()?;
        let date = Date::new(year, (number / 100 % 100) as i8, (number % 100) as i8).ok()?;
        return (1000..=2999).contains(&year).then_some((date, rest));
    }
    let separator = rest.chars().next()?;
    if year.len() != 4 || !matches!(separator, '-' | '/' | '.') {
        return None;
    }
    let (month, rest) = digits(&rest[1..])?;
    let (day, rest) = digits(rest.strip_prefix(separator)?)?;
    let number = |text: &str| text.parse().ok();
    Some((
        Date::new(year.parse().ok()?, number(month)?, number(day)?).ok()?,
        rest,
    ))
}

/// Beginnings of the names of months in the languages of Western Europe, in small letters.
const MONTHS: [&str; 12] = [
    "jan jän ene gen",
    "feb fév fev",
    "mar mär mrz mrt maa",
    "apr avr abr",
    "may mai mei mag",
    "jun juin giu",
    "jul juil lug",
    "aug août aout ago",
    "sep set",
    "oct okt ott out",
    "nov",
    "dec dez déc dic",
];

/// Reads `2 Jan 2024`, `Jan 2, 2024`, `2. Januar 2024`, `Tue, 2-Jan-24` or `2024-Jan-02`, and what
/// follows.
fn with_month_name(text: &str) -> Option<(Date, &str)> {
    let (mut day, mut month, mut year) = (None, None, None);
    let mut rest = text;
    while day.is_none() || month.is_none() || year.is_none() {
        rest = rest.trim_start_matches([' ', ',', '.', '-', '/', '\u{a0}']);
        if let Some((number, behind)) = digits(rest) {
            match number.len() {
                4 if year.is_none() => year = number.parse().ok(),
                2 if day.is_some() => year = Some(short_year(number.parse().ok()?)),
                1 | 2 if day.is_none() => day = Some(number.parse::<i8>().ok()?),
                _ => return None,
            }
            let ordinals = ["st", "nd", "rd", "th"];
            let ordinal = ordinals.iter().find_map(|end| behind.strip_prefix(end));
            rest = ordinal.unwrap_or(behind);
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let word = word.to_lowercase();
        let named = |names: &&str| names.split(' ').any(|name| word.starts_with(name));
        let is_weekday = rest.len() == text.len() && behind.starts_with([',', '.']);
        match MONTHS.iter().position(named) {
            Some(index) if month.is_none() => month = Some(index as i8 + 1),
            // Of `2 de enero de 2024`, and the day of the week in front.
            _ if word == "de" || word == "of" || (!word.is_empty() && is_weekday) => {}
            _ => return None,
        }
        rest = behind;
    }
    Some((Date::new(year?, month?, day?).ok()?, rest))
}

/// Reads the time behind a date: nothing, or hours and minutes and perhaps seconds, AM or PM, and the
/// distance from UTC, which is kept unless it is none.
fn with_time(date: Date, rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['T', ' ', ',']).trim_end();
    if rest.is_empty() {
        return Some(show(date, None));
    }
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.')));
    let (clock, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let zone = zone.trim_start().to_ascii_lowercase().replace('.', "");
    let padded = match clock.find(':') {
        Some(1) => format!("0{clock}"),
        Some(_) => clock.to_owned(),
        None => format!("{clock:0>2}:00"),
    };
    let time: Time = padded.parse().ok()?;
    let (time, offset) = match &*zone {
        "am" | "pm" if (1..=12).contains(&time.hour()) => {
            let hour = time.hour() % 12 + if zone == "pm" { 12 } else { 0 };
            (time.with().hour(hour).build().ok()?, String::new())
        }
        "" | "z" | "utc" | "gmt" | "+00:00" | "+0000" if clock.contains(':') => {
            (time, String::new())
        }
        offset if clock.contains(':') && offset.starts_with(['+', '-']) => {
            let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
            let fits = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let (hours, minutes) = fits.then(|| digits.split_at(2))?;
            (time, format!("{}{hours}:{minutes}", &offset[..1]))
        }
        _ => return None,
    };
    Some(show(date, Some(time)) + &offset)
}

/// A date of numbers, with day and month in whichever order: `31/12/2026`, `1.2.26 23:59`.
struct Numbers<'t> {
    first: i8,
    second: i8,
    year: i16,
    separator: char,
    rest: &'t str,
}

impl<'t> Numbers<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let short = |(number, rest): (&str, &'t str)| {
            let number = (number.len() <= 2).then(|| number.parse::<i8>().ok())??;
            (1..=31).contains(&number).then_some((number, rest))
        };
        let (first, rest) = short(digits(text)?)?;
        let separator = rest
            .chars()
            .next()
            .filter(|c| matches!(c, '/' | '.' | '-'))?;
        let (second, rest) = short(digits(rest[1..].trim_start())?)?;
        let (year, rest) = digits(rest.strip_prefix(separator)?.trim_start())?;
        let year = match year.len() {
            4 => year.parse().ok()?,
            2 => short_year(year.parse().ok()?),
            _ => return None,
        };
        Some(Self {
            first,
            second,
            year,
            separator,
            rest,
        })
    }
}

/// The year that two digits mean, as POSIX has it.
fn short_year(year: i16) -> i16 {
    if year >= 69 { 1900 + year } else { 2000 + year }
}

/// The digits at the beginning of a text, and what follows; `None` if there are none.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Returns `true` for `2026-12-31` and `2026-12-31 23:59:58`.
pub(super) fn is_iso_date(text: &str) -> bool {
    let pattern = "0000-00-00 00:00:00";
    [10, 19].contains(&text.len())
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(byte, sign)| match sign {
                b'0' => byte.is_ascii_digit(),
                _ => byte == sign,
            })
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

    #[test]
    fn dates_of_machines_and_people_become_iso() {
        for (format, seen, text, iso) in [
            (None, &[][..], "31. 12. 2026", Some("2026-12-31")),
            (None, &["12/31/2026"], "01.02.2026", Some("2026-02-01")),
            (None, &[], "2026/2/1", Some("2026-02-01")),
            (None, &[], "20260201", Some("2026-02-01")),
            (None, &[], "20260201T070809Z", None),
            (None, &[], "31122026", None),
            (
                None,
                &[],
                "2026-02-01T03:04:05Z",
                Some("2026-02-01 03:04:05"),
            ),
            (
                None,
                &[],
                "2026-02-01T03:04:05.250Z",
                Some("2026-02-01 03:04:05.25"),
            ),
            (
                None,
                &[],
                "2026-02-01 03:04:05+00:00",
                Some("2026-02-01 03:04:05"),
            ),
            (
                None,
                &[],
                "2026-02-01T03:04:05+0200",
                Some("2026-02-01 03:04:05+02:00"),
            ),
            (None, &[], "2026-02-01T03:04:05 CEST", None),
            (None, &[], "1/2/2026 3:04 PM", Some("2026-02-01 15:04:00")),
            (
                None,
                &[],
                "1/2/2026 12:04:05 a.m.",
                Some("2026-02-01 00:04:05"),
            ),
            (None, &[], "1/2/2026 12 pm", Some("2026-02-01 12:00:00")),
            (None, &[], "1/2/2026 13:00 pm", None),
            (None, &[], "1/2/2026 7", None),
            (None, &[], "1 Jan 2024", Some("2024-01-01")),
            (None, &[], "13 March 2024", Some("2024-03-13")),
            (
                None,
                &[],
                "Jan 2nd, 2024 4:05 PM",
                Some("2024-01-02 16:05:00"),
            ),
            (None, &[], "2-Jan-24", Some("2024-01-02")),
            (None, &[], "2024-Jan-02", Some("2024-01-02")),
            (
                None,
                &[],
                "Tue, 2 Jan 2024 03:04:05 +0000",
                Some("2024-01-02 03:04:05"),
            ),
            (None, &[], "2. März 2024", Some("2024-03-02")),
            (None, &[], "Dienstag, 2. Dezember 2025", Some("2025-12-02")),
            (None, &[], "2 août 2024", Some("2024-08-02")),
            (None, &[], "2 de enero de 2024", Some("2024-01-02")),
            (None, &[], "about 2 Jan 2024", None),
            (None, &[], "2 Foo 2024", None),
            (None, &[], "31 Feb 2024", None),
        ] {
            assert_eq!(read(format, seen, text).as_deref(), iso, "{text}");
        }
    }
}

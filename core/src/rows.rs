//! Rows of the tables of results: each is a struct with the table's columns as its fields, in the module that fills it. The test
//! `columns` compares all of them with the CREATE TABLE statements, both ways: `jsonb_populate_record` would ignore a
//! misspelt name and leave its column NULL.

use serde::Serialize;

/// A row of a run, without the run's number. Every field is always written, as null if it is not known.
pub trait Row: Serialize {
    /// Name of the table in the schema.
    const TABLE: &'static str;
}

/// A time in microseconds since 1970 as PostgreSQL reads it under every DateStyle.
pub fn timestamp(us: i64) -> String {
    let (days, in_day) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000));
    let (year, month, day) = civil(days);
    let (seconds, us) = (in_day / 1_000_000, in_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{us:06}+00")
}

/// Year, month and day of this many days after 1970-01-01, in the Gregorian calendar. Years begin in March here, so that the day that
/// not every year has is the last one; 400 of them have 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_date_writes_them() {
        for (us, text) in [
            (0, "1970-01-01 00:00:00.000000+00"),
            (951_782_400_000_001, "2000-02-29 00:00:00.000001+00"),
            (1_795_369_555_123_456, "2026-11-22 17:45:55.123456+00"),
            (4_107_542_399_999_999, "2100-02-28 23:59:59.999999+00"),
            (4_107_542_400_000_000, "2100-03-01 00:00:00.000000+00"),
            (-1, "1969-12-31 23:59:59.999999+00"),
        ] {
            assert_eq!(timestamp(us), text);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = civil(-1);
        for days in 0..146_097 {
            let (year, month, day) = civil(days);
            let follows = match day {
                1 => month == last.1 % 12 + 1 && year == last.0 + i64::from(month == 1),
                _ => (year, month, day - 1) == last,
            };
            assert!(follows && day <= 31, "{year}-{month}-{day}");
            last = (year, month, day);
        }
        assert_eq!(last, (2369, 12, 31));
    }
}

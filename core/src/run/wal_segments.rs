//! Segments of WAL that are ready: files with names beyond that of the one that is written now.

/// Digits of each of the three parts of a name: timeline, and the two of the segment's number.
const PART: usize = 8;

/// The files of pg_wal, recognized by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    timeline: u32,
    number: u64,
    /// How many have the same first part of the number.
    per_part: u64,
}

impl Segments {
    /// By the name of the segment that is written now; None if it is no such name.
    pub fn now(name: &str, segment_bytes: u64) -> Option<Self> {
        let per_part = (1u64 << 32).checked_div(segment_bytes)?;
        let (timeline, number) = parse(name, per_part)?;
        Some(Self {
            timeline,
            number,
            per_part,
        })
    }

    /// How many segments were begun since an earlier one was written.
    pub fn since(self, earlier: Self) -> u64 {
        self.number.saturating_sub(earlier.number)
    }

    /// The name of the segment that comes this many segments later.
    pub fn name(self, after: u64) -> String {
        let number = self.number + after;
        format!(
            "{:08X}{:08X}{:08X}",
            self.timeline,
            number / self.per_part,
            number % self.per_part
        )
    }

    /// How many of these names are of segments that come after it.
    pub fn ready<'a>(self, names: impl Iterator<Item = &'a str>) -> u64 {
        let is_ready = |name: &&str| {
            parse(name, self.per_part)
                .is_some_and(|(timeline, n)| timeline == self.timeline && n > self.number)
        };
        names.filter(is_ready).count() as u64
    }
}

fn parse(name: &str, per_part: u64) -> Option<(u32, u64)> {
    let is_hexadecimal = name.bytes().all(|b| b.is_ascii_hexdigit());
    if name.len() != 3 * PART || !is_hexadecimal {
        return None;
    }
    let part = |n: usize| u32::from_str_radix(&name[n * PART..(n + 1) * PART], 16).ok();
    let number = u64::from(part(1)?) * per_part + u64::from(part(2)?);
    Some((part(0)?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn names_go_on_as_the_server_counts() {
        let now = Segments::now("0000000100000000000000FE", 16 * MB).unwrap();
        assert_eq!(now.name(0), "0000000100000000000000FE");
        assert_eq!(now.name(1), "0000000100000000000000FF");
        assert_eq!(now.name(2), "000000010000000100000000");
        let later = Segments::now(&now.name(7), 16 * MB).unwrap();
        assert_eq!((later.since(now), now.since(later)), (7, 0));
        let now = Segments::now("000000020000000A00000003", 1024 * MB).unwrap();
        assert_eq!(now.name(1), "000000020000000B00000000");
    }

    #[test]
    fn what_comes_after_it_is_ready() {
        let now = Segments::now("0000000100000000000000FE", 16 * MB).unwrap();
        let names = [
            "0000000100000000000000FD",
            "0000000100000000000000FE",
            "0000000100000000000000FF",
            "000000010000000100000000",
            "000000020000000100000000",
            "00000002.history",
            "archive_status",
            "xlogtemp.17",
        ];
        assert_eq!(now.ready(names.into_iter()), 2);
        for name in ["", "archive_status", "00000001000000000000000G", "ä"] {
            assert_eq!(Segments::now(name, 16 * MB), None, "{name}");
        }
        assert_eq!(Segments::now("0000000100000000000000FE", 0), None);
    }
}

//! Work databases: the names and comments that tell them from other databases. A name alone proves nothing, and the owner of any database can write a
//! comment: a database is dropped only if it has both exactly, and stands in the journal.

/// The prefix of every name; the number of the run follows.
const PREFIX: &str = "fsbench_work_";

/// The name for a run. It may get another number behind it when it is taken.
pub fn name(run_id: i64) -> String {
    format!("{PREFIX}{run_id}")
}

/// Whether it is a name that a run may have given: `fsbench_work_<number>` or `fsbench_work_<number>_<number>`.
pub fn is_name(name: &str) -> bool {
    let is_number = |text: &str| {
        (1..=19).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_digit())
            && !text.starts_with('0')
    };
    let Some(numbers) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let (run_id, further) = numbers.split_once('_').unwrap_or((numbers, "2"));
    is_number(run_id) && is_number(further)
}

/// Whether parallel workers of a server of this version (`server_version_num`) start in a database that allows no connections, as work databases do not, when
/// their leader is there. Releases of 2025-02-13 and later ("Exclude parallel workers from connection privilege checks").
pub fn lets_parallel_workers_in(version_num: i64) -> bool {
    let minor = version_num % 10_000;
    match version_num / 10_000 {
        ..15 => false,
        15 => minor >= 11,
        16 => minor >= 7,
        17 => minor >= 3,
        _ => true,
    }
}

/// The comment of the database of a run. No two have the same: the mark is random.
pub fn comment(run_id: i64, home: &str, mark: &str) -> String {
    format!("pgfsbench: work database of run {run_id} in database {home}; mark {mark}")
}

/// The mark in such a comment; None when it is another text.
pub fn mark_in(comment: &str) -> Option<&str> {
    let (front, mark) = comment.rsplit_once("; mark ")?;
    let is_mark = !mark.is_empty() && mark.bytes().all(|b| b.is_ascii_hexdigit());
    (is_mark && front.starts_with("pgfsbench: work database of run ")).then_some(mark)
}

/// The record of a work database, written before it was made.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    pub name: &'a str,
    pub comment: &'a str,
}

impl Recorded<'_> {
    /// Whether the database of this name and comment is the one that was recorded, and is one of a run at all.
    pub fn is(self, name: &str, comment: Option<&str>) -> bool {
        is_name(name)
            && name == self.name
            && mark_in(self.comment).is_some()
            && comment == Some(self.comment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_and_of_others() {
        assert!(is_name(&name(1)) && is_name(&name(i64::MAX)));
        assert!(is_name("fsbench_work_7_2"));
        for other in [
            "",
            "shop",
            "fsbench_work_",
            "fsbench_work_0",
            "fsbench_work_x",
            "fsbench_work_7_",
            "fsbench_work_7_2_3",
            "fsbench_work_-1",
            "fsbench_work_7 ",
            "xfsbench_work_7",
            "Fsbench_work_7",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn a_mark_is_found_in_our_comments_only() {
        // A database may be called like anything.
        for home in ["postgres", "; mark zz", "a; mark 12"] {
            assert_eq!(mark_in(&comment(7, home, "12ab")), Some("12ab"));
        }
        for other in [
            "",
            "the shop",
            "pgfsbench: work database of run 7 in database d; mark ",
            "pgfsbench: work database of run 7 in database d; mark 12ab and more",
            "the shop; mark 12ab",
        ] {
            assert_eq!(mark_in(other), None, "{other}");
        }
    }

    #[test]
    fn parallel_workers_of_old_releases_are_not_let_in() {
        for (not_yet, since) in [
            (150_010, 150_011),
            (160_006, 160_007),
            (170_002, 170_003),
            (140_099, 180_000),
        ] {
            assert!(!lets_parallel_workers_in(not_yet), "{not_yet}");
            assert!(lets_parallel_workers_in(since), "{since}");
        }
    }

    #[test]
    fn only_what_was_recorded_is_it() {
        let ours = comment(7, "postgres", "12ab");
        let recorded = Recorded {
            name: "fsbench_work_7",
            comment: &ours,
        };
        assert!(recorded.is("fsbench_work_7", Some(&ours)));
        assert!(!recorded.is("fsbench_work_7", None));
        assert!(!recorded.is("fsbench_work_7", Some("12ab")));
        assert!(!recorded.is("fsbench_work_7", Some(&format!("{ours} mine now"))));
        assert!(!recorded.is("fsbench_work_8", Some(&ours)));
        // Whatever was recorded: no other database than that of a run.
        for (name, comment) in [
            ("shop", ours.as_str()),
            ("fsbench_work_7", "the shop"),
            ("fsbench_work_7", ""),
        ] {
            assert!(
                !Recorded { name, comment }.is(name, Some(comment)),
                "{name}"
            );
        }
    }
}

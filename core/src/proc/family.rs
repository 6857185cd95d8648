//! Which processes belong together, and how long they ran: `/proc/PID/stat` and the first line of `/proc/stat`. All times are
//! in the same ticks, so that only their ratios matter.

/// What a process tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The program's name, cut by the kernel.
    pub name: String,
    /// Its parent.
    pub parent: i32,
    /// Ticks that it has run.
    pub ticks: u64,
    /// Ticks that its children had run when they ended.
    pub ticks_of_dead_children: u64,
}

/// Parses `/proc/PID/stat`.
pub fn parse_member(text: &str) -> Option<Member> {
    // The name stands in parentheses, and can hold anything.
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // From the state on, which is field 3 of proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<i64>().ok();
    let ticks = |a, b| u64::try_from(field(a)?.checked_add(field(b)?)?).ok();
    Some(Member {
        name: name.to_owned(),
        parent: i32::try_from(field(4)?).ok()?,
        ticks: ticks(14, 15)?,
        ticks_of_dead_children: ticks(16, 17)?,
    })
}

/// Ticks of all processors in programs (not in interrupts), and in all states, from `/proc/stat`.
pub fn parse_busy_ticks(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice.
    let ticks: Option<Vec<u64>> = line
        .split_ascii_whitespace()
        .take(8)
        .map(|ticks| ticks.parse().ok())
        .collect();
    let ticks = ticks.filter(|ticks| ticks.len() >= 4)?;
    Some((ticks[..3].iter().sum(), ticks.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORDED: &str = "4242 (postgres: ) x) S 17 4242 4242 0 -1 4194304 1510 0 2 0 317 45 1000 20 20 0 1 0 8631466";

    #[test]
    fn a_process() {
        let expected = Member {
            name: "postgres: ) x".into(),
            parent: 17,
            ticks: 362,
            ticks_of_dead_children: 1020,
        };
        assert_eq!(parse_member(RECORDED), Some(expected));
        for text in [
            "",
            "4242 (x",
            "4242 (x)",
            "4242 (x) S 1 2 3",
            "1 (x) S a 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(parse_member(text), None, "{text}");
        }
    }

    #[test]
    fn all_processors() {
        let text = "cpu  100 20 30 800 50 6 7 8 9 1\ncpu0 1 2 3 4\n";
        assert_eq!(parse_busy_ticks(text), Some((150, 1021)));
        assert_eq!(parse_busy_ticks("cpu  1 2 3 4\n"), Some((6, 10)));
        for text in ["", "cpu0 1 2 3 4", "cpu  1 2 3", "cpu  1 x 3 4"] {
            assert_eq!(parse_busy_ticks(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9() a-zS-]{0,80}") {
            parse_member(&text);
            parse_busy_ticks(&text);
        }
    }
}

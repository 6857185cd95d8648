//! Which processes belong together, and how long they ran: `/proc/PID/stat`. All times are in the same ticks as those of the
//! processors, so that only their ratios matter.

use super::parse_cpu_ticks;

/// A line of `/proc/PID/stat`, as far as it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The program's name, cut by the kernel.
    pub name: String,
    /// The parent's process id.
    pub parent: i32,
    /// Ticks that it has run.
    pub ticks: u64,
    /// Ticks that its children had run when they ended.
    pub ticks_of_dead_children: u64,
    /// Ticks in user mode, of itself and of its children that have ended.
    pub user: u64,
}

/// Parses `/proc/PID/stat`.
pub fn parse_member(text: &str) -> Option<Member> {
    // The name stands in parentheses, and can hold anything.
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // From the state on, which is field 3 of proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<i64>().ok();
    let user = field(14)?.checked_add(field(16)?)?;
    Some(Member {
        name: name.to_owned(),
        parent: i32::try_from(field(4)?).ok()?,
        ticks: parse_cpu_ticks(text)?,
        ticks_of_dead_children: u64::try_from(field(16)?.checked_add(field(17)?)?).ok()?,
        user: u64::try_from(user).ok()?,
    })
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
            user: 1317,
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
    fn columns_after_those_that_are_needed_may_be_odd() {
        let odd = format!(
            "{} ? \u{fffd} -1\n",
            &RECORDED[..RECORDED.rfind(" 20 0 1").unwrap()]
        );
        assert_eq!(parse_member(&odd), parse_member(RECORDED));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9() a-zS-]{0,80}") {
            parse_member(&text);
        }
    }
}

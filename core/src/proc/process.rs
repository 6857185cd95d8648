//! `/proc/PID/stat`: processor time of one process. Own code: procfs-core's parser panics on a text that was cut off.

/// Ticks that a process has run, in user mode and in the kernel; None when the text is not whole enough to tell.
pub fn parse_cpu_ticks(text: &str) -> Option<u64> {
    // The name of the program stands in parentheses, and can hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    // From the state on, which is field 3; utime is field 14, stime the one after it.
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    // A number that ends the text may have been cut.
    fields.next()?;
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORDED: &str = "4242 (postgres) S 1 4242 4242 0 -1 4194304 1510 0 2 0 317 45 0 0 20 0 1 0 8631466 225427456 \
        3690 18446744073709551615 1 1 0 0 0 0 4194304 16781312 536903170 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn user_and_system() {
        assert_eq!(parse_cpu_ticks(RECORDED), Some(362));
        let odd = RECORDED.replace("(postgres)", "(a) b (c 1 2 3 )");
        assert_eq!(parse_cpu_ticks(&odd), Some(362));
    }

    #[test]
    fn what_is_cut_off() {
        let whole = RECORDED.find(" 0 0 20").unwrap();
        for text in [
            "",
            "4242 (postgres",
            "4242 (postgres)",
            &RECORDED[..whole],
            "1 (x) S 1 2 3 4 5 6 7 8 9 10 a b c",
        ] {
            assert_eq!(parse_cpu_ticks(text), None, "{text:?}");
        }
    }

    /// One process is one line: WSL 1 and gVisor leave columns at the end out, or write 0 there.
    #[test]
    fn columns_at_the_end_may_be_missing_or_odd() {
        let to_cstime = RECORDED.find(" 20 0 1").unwrap();
        assert_eq!(parse_cpu_ticks(&RECORDED[..to_cstime]), Some(362));
        assert_eq!(
            parse_cpu_ticks("1 (x) S 1 2 3 4 5 6 7 8 9 10 20 30 ? \u{fffd}\n"),
            Some(50)
        );
        assert_eq!(
            parse_cpu_ticks("1 (x) S 1 2 3 4 5 6 7 8 9 10 -1 30 0\n"),
            None
        );
    }

    proptest! {
        #[test]
        fn never_panics(length in 0usize..300) {
            let text = &RECORDED[..length.min(RECORDED.len())];
            if let Some(ticks) = parse_cpu_ticks(text) {
                prop_assert_eq!(ticks, 362);
            }
        }
    }
}

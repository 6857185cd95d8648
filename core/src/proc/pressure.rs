//! `/proc/pressure/cpu`, `memory` and `io` (PSI, Linux 4.20 and later). Own code: procfs-core wants a line `full`, which the
//! file of the processor has only since 5.13.

/// Microseconds since the machine started in which some task, or all that could have run, waited for the resource. Of the
/// processor only `some` means anything: `full` is always 0 there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    pub some: Option<u64>,
    pub full: Option<u64>,
}

/// Parses such a file: what it does not tell is None.
pub fn parse_pressure(text: &str) -> Pressure {
    let total = |kind: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(kind));
        let mut words = lines.flat_map(str::split_ascii_whitespace);
        words.find_map(|word| word.strip_prefix("total=")?.parse().ok())
    };
    Pressure {
        some: total("some "),
        full: total("full "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_kernels() {
        let newer = "some avg10=6.29 avg60=6.17 avg300=13.84 total=10016993089\n\
                     full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(
            parse_pressure(newer),
            Pressure {
                some: Some(10016993089),
                full: Some(0)
            }
        );
        let cpu_of_5_10 = "some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n";
        assert_eq!(
            parse_pressure(cpu_of_5_10),
            Pressure {
                some: Some(42),
                full: None
            }
        );
    }

    #[test]
    fn an_odd_line_costs_that_line() {
        let text = "\u{fffd}\nsome avg10=x total=\nsome total=-1 total=7\nfull avg10=0.00\n";
        assert_eq!(
            parse_pressure(text),
            Pressure {
                some: Some(7),
                full: None
            }
        );
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "some",
            "some total",
            "some total=x",
            "something total=5\n",
            "full avg10=1\n",
        ] {
            assert_eq!(parse_pressure(text), Pressure::default(), "{text:?}");
        }
    }
}

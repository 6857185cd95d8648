//! `/proc/stat`: what the processors do, as mpstat shows it.

/// Ticks of all processors together in each state since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    user: u64,
    nice: u64,
    system: u64,
    idle: u64,
    /// States that not every kernel counts; None for one that is missing or no number.
    further: OptionalStates<u64>,
}

/// States that not every kernel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OptionalStates<T> {
    iowait: Option<T>,
    irq: Option<T>,
    softirq: Option<T>,
    steal: Option<T>,
    guest: Option<T>,
    guest_nice: Option<T>,
}

/// Shares of a time in percent, under mpstat's names; None where the kernel does not count the state. What is missing to 100 was
/// run for guests of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuShares {
    pub usr: f64,
    pub nice: f64,
    pub sys: f64,
    pub iowait: Option<f64>,
    pub irq: Option<f64>,
    pub soft: Option<f64>,
    pub steal: Option<f64>,
    pub idle: f64,
}

/// Parses the line of all processors; None when it is not there, or when one of the four states of all kernels is no number.
pub fn parse_cpu_times(text: &str) -> Option<CpuTimes> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
    lines.find_map(|rest| parse_ticks(rest.strip_prefix([' ', '\t'])?))
}

/// Parses the lines of the single processors: number and times of each. A line that cannot be read is left out.
pub fn parse_each_cpu(text: &str) -> Vec<(u32, CpuTimes)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
    let each = lines.filter_map(|line| {
        let (number, ticks) = line.split_once(' ')?;
        Some((number.parse().ok()?, parse_ticks(ticks)?))
    });
    each.collect()
}

fn parse_ticks(line: &str) -> Option<CpuTimes> {
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next()?.parse::<u64>().ok();
    Some(CpuTimes {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        further: OptionalStates {
            iowait: next(),
            irq: next(),
            softirq: next(),
            steal: next(),
            guest: next(),
            guest_nice: next(),
        },
    })
}

impl CpuTimes {
    /// Ticks in programs (not in interrupts), and in all states.
    pub fn busy_and_all(&self) -> (u64, u64) {
        let sum = |ticks: &[u64]| ticks.iter().copied().fold(0, u64::saturating_add);
        let busy = sum(&[self.user, self.nice, self.system]);
        // Guests are in user and nice.
        let further = &self.further;
        let counted = [further.iowait, further.irq, further.softirq, further.steal];
        let others = counted.map(Option::unwrap_or_default);
        (
            busy,
            busy.saturating_add(self.idle).saturating_add(sum(&others)),
        )
    }

    /// Ticks in user mode. The kernel's threads have none.
    pub fn user(&self) -> u64 {
        self.user.saturating_add(self.nice)
    }

    /// The times of both together; a state that one of them does not count is not known.
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let (mine, others) = (&self.further, &other.further);
        Self {
            user: self.user.saturating_add(other.user),
            nice: self.nice.saturating_add(other.nice),
            system: self.system.saturating_add(other.system),
            idle: self.idle.saturating_add(other.idle),
            further: OptionalStates {
                iowait: sum(mine.iowait, others.iowait),
                irq: sum(mine.irq, others.irq),
                softirq: sum(mine.softirq, others.softirq),
                steal: sum(mine.steal, others.steal),
                guest: sum(mine.guest, others.guest),
                guest_nice: sum(mine.guest_nice, others.guest_nice),
            },
        }
    }

    /// The shares of the time since `before`. None when no tick has passed. Counters that went back (iowait does) count as
    /// unchanged, as mpstat has it.
    pub fn since(&self, before: &Self) -> Option<CpuShares> {
        let ticks = |field: fn(&Self) -> u64| field(self).saturating_sub(field(before));
        let counted = |field: fn(&OptionalStates<u64>) -> Option<u64>| {
            Some(field(&self.further)?.saturating_sub(field(&before.further)?))
        };
        // The time of guests is also in user and nice.
        let guest = |t: &Self| t.further.guest.unwrap_or(0);
        let guest_nice = |t: &Self| t.further.guest_nice.unwrap_or(0);
        let usr = (self.user.saturating_sub(guest(self)))
            .saturating_sub(before.user.saturating_sub(guest(before)));
        let nice = (self.nice.saturating_sub(guest_nice(self)))
            .saturating_sub(before.nice.saturating_sub(guest_nice(before)));
        let (sys, idle) = (ticks(|t| t.system), ticks(|t| t.idle));
        let (iowait, irq) = (counted(|f| f.iowait), counted(|f| f.irq));
        let (soft, steal) = (counted(|f| f.softirq), counted(|f| f.steal));
        let guests = [counted(|f| f.guest), counted(|f| f.guest_nice)];
        let further = [iowait, irq, soft, steal, guests[0], guests[1]];
        let all = [usr, nice, sys, idle]
            .into_iter()
            .chain(further.into_iter().flatten())
            .fold(0, u64::saturating_add);
        let percent = |ticks: u64| ticks as f64 * 100.0 / all as f64;
        (all > 0).then(|| CpuShares {
            usr: percent(usr),
            nice: percent(nice),
            sys: percent(sys),
            iowait: iowait.map(percent),
            irq: irq.map(percent),
            soft: soft.map(percent),
            steal: steal.map(percent),
            idle: percent(idle),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORDED: &str = "\
cpu  2458754 102843 1366586 2916561 132977 0 37304 1367 0 0
cpu0 1136571 50943 641786 1618808 59715 0 1247 682 0 0
cpu1 1322183 51899 724800 1297752 73261 0 36056 684 0 0
intr 1 2 3
ctxt 4
";
    const OF_2_6_9: &str = "cpu  100 0 50 800 50 0 0\ncpu0 100 0 50 800 50 0 0\n";

    fn times(text: &str) -> CpuTimes {
        parse_cpu_times(text).unwrap()
    }

    #[test]
    fn shares_of_a_second() {
        let before = times(RECORDED);
        // 100 of 200 ticks in user, 20 sys, 40 iowait, 10 soft, 30 steal.
        let now =
            times("cpu  2458854 102843 1366606 2916561 133017 0 37314 1397 0 0\ncpu0 1 2 3 4\n");
        let shares = now.since(&before).unwrap();
        assert_eq!(
            shares,
            CpuShares {
                usr: 50.0,
                sys: 10.0,
                iowait: Some(20.0),
                irq: Some(0.0),
                soft: Some(5.0),
                steal: Some(15.0),
                ..CpuShares::default()
            }
        );
    }

    #[test]
    fn ticks_in_programs_and_in_all_states() {
        let ticks = times("cpu  100 20 30 800 50 6 7 8 9 1\ncpu0 1 2 3 4\n").busy_and_all();
        assert_eq!(ticks, (150, 1021));
        assert_eq!(times("cpu  100 20 30 800\n").user(), 120);
        assert_eq!(times("cpu  1 2 3 4\n").busy_and_all(), (6, 10));
        let most = u64::MAX;
        let many = times(&format!("cpu {most} {most} 0 {most}\n"));
        assert_eq!(many.busy_and_all(), (most, most));
    }

    #[test]
    fn single_processors() {
        let each = parse_each_cpu(
            "cpu  9 9 9 9\ncpu0 1 2 3 4\ncpu7 10 20 30 40 50\ncpu8 x\ncpu9\nintr 1 2 3 4 5\n",
        );
        let numbers: Vec<u32> = each.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 7]);
        let both = each[0].1.plus(&each[1].1);
        // One of the two has no iowait, so their sum has none.
        assert_eq!(both, times("cpu  11 22 33 44\n"));
    }

    #[test]
    fn guests_are_not_counted_twice() {
        let before = times("cpu 1000 100 0 1000 0 0 0 0 500 50\n");
        let now = times("cpu 1060 110 0 1030 0 0 0 0 540 60\n");
        let shares = now.since(&before).unwrap();
        assert_eq!((shares.usr, shares.nice, shares.idle), (20.0, 0.0, 30.0));
    }

    #[test]
    fn an_old_kernel_counts_less() {
        let before = times(OF_2_6_9);
        let now = times("cpu  150 0 50 850 50 0 0\n");
        assert_eq!(
            now.since(&before),
            Some(CpuShares {
                usr: 50.0,
                idle: 50.0,
                iowait: Some(0.0),
                irq: Some(0.0),
                soft: Some(0.0),
                // A state that the kernel does not count is not zero.
                steal: None,
                ..CpuShares::default()
            })
        );
        assert_eq!(before.busy_and_all(), (150, 1000));
    }

    /// gVisor writes zeros, and other layers leave columns out or write what is no number.
    #[test]
    fn an_odd_column_costs_that_column() {
        let zeros = times("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0\n");
        assert_eq!(zeros.since(&zeros), None);
        let before = times("\u{fffd}\ncpu\ncpu x 0 0 0\ncpu\t100 0 0 100 - 0 0 10\n");
        let now = times("cpu 150 0 0 140 7 0 0 20\n");
        let shares = now.since(&before).unwrap();
        assert_eq!(
            (shares.usr, shares.idle, shares.iowait, shares.steal),
            (50.0, 40.0, None, Some(10.0))
        );
    }

    #[test]
    fn what_goes_back_has_not_moved_and_no_time_has_no_shares() {
        let before = times("cpu 100 0 0 100 90 0 0 0 0 0\n");
        let now = times("cpu 110 0 0 130 80 0 0 0 0 0\n");
        let shares = now.since(&before).unwrap();
        assert_eq!(
            (shares.usr, shares.iowait, shares.idle),
            (25.0, Some(0.0), 75.0)
        );
        assert_eq!(now.since(&now), None);
    }

    proptest! {
        #[test]
        fn never_panics(before in "cpu ([0-9]{1,20} ){3,10}", now in "cpu ([0-9]{1,20} ){3,10}") {
            if let (Some(before), Some(now)) = (parse_cpu_times(&before), parse_cpu_times(&now)) {
                now.since(&before);
            }
        }
    }

    #[test]
    fn what_is_no_stat() {
        for text in [
            "",
            "cpu",
            "cpu \n",
            "cpu  1 2 3\n",
            "cpu  1 x 3 4\n",
            "cpu0 1 2 3 4\nintr 5\n",
            "intr 5\n",
        ] {
            assert_eq!(parse_cpu_times(text), None, "{text:?}");
        }
        assert!(parse_cpu_times("cpu  1 2 3 4").is_some());
    }
}

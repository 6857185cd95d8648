//! The answer of an experiment: words on the verdicts, and reasons for which something is open.

pub mod figures;
pub mod open;

use crate::units::format_seconds;

pub fn set_aside(why: &str) -> String {
    format!("set aside: {why}")
}

/// A target that keeps no rate has no ratio. `verdict` says that; a search of rates may have found none.
pub fn behind(verdict: &str, has_searched: bool) -> String {
    let why = match has_searched {
        true => ": its searches have found none that stays under the latency limit",
        false => "",
    };
    format!("{verdict}{why}")
}

/// The words on a target, with the promises of its commits and of those of the other target.
pub fn unlike_in_durability(says: &str, own: &str, other: &str) -> String {
    format!("{says}, NOT equally durable ({own}; the other one: {other})")
}

/// The targets from which a target differs by something that was not declared.
pub fn compared_with(targets: &[&str]) -> String {
    format!("; as compared with {}", targets.join(", "))
}

pub fn confirmed(says: &str, experiment: &str) -> String {
    format!("{says}, confirmed by \"{experiment}\"")
}

/// The resource, or the wait, that limited a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The rate that was asked for.
    Rate,
    Processors,
    Memory,
    Locks,
    /// Throughput of the device.
    Device,
    /// Latency of the device's flushes.
    Flushes,
}

impl Limit {
    fn words(self) -> &'static str {
        match self {
            Self::Rate => "the rate that was asked for",
            Self::Processors => "the processors",
            Self::Memory => "memory",
            Self::Locks => "locks",
            Self::Device => "what the device can do",
            Self::Flushes => "the time that the device takes to flush",
        }
    }
}

/// The limits of two targets. None where neither is known.
pub fn limits(limits: [Option<Limit>; 2], targets: [&str; 2]) -> Option<String> {
    match limits {
        [None, None] => None,
        [Some(one), Some(other)] if one == other => {
            Some(format!("both limited by {}", one.words()))
        }
        _ => {
            let parts = limits.into_iter().zip(targets).filter_map(|(limit, name)| {
                let limit = limit?.words();
                Some(format!("{name} limited by {limit}"))
            });
            Some(parts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// One target in the one-line answer of an experiment: its verdict, and the reason where the verdict is open.
#[derive(Clone, Debug)]
pub struct TargetSummary<'a> {
    pub target: &'a str,
    /// None for a target that was set aside.
    pub verdict: Option<&'a str>,
    pub reason: Option<String>,
    /// Whether it loses commits that others keep.
    pub is_less_durable: bool,
}

impl TargetSummary<'_> {
    fn words(&self) -> String {
        let verdict = self.verdict.unwrap_or("set aside");
        let reason = self.reason.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        let durable = match self.is_less_durable {
            true => " and NOT equally durable",
            false => "",
        };
        format!("{} {verdict}{reason}{durable}", self.target)
    }
}

/// A caveat that a reader of the morning's line has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caveat {
    NothingDurable,
    ForcedCheckpoints,
}

impl Caveat {
    fn words(self) -> &'static str {
        match self {
            Self::NothingDurable => "nothing durable",
            Self::ForcedCheckpoints => "checkpoints forced by WAL",
        }
    }
}

/// Parts of the morning's line.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Words on a busy machine.
    pub busy: Option<String>,
    pub targets: Vec<TargetSummary<'a>>,
    pub caveats: Vec<Caveat>,
    /// Words on each reason for which something is open.
    pub open: Vec<String>,
    pub seconds: f64,
    /// Runs that are over, those of them before the first block, and those that were made again.
    pub runs: [u64; 3],
}

impl Line<'_> {
    pub fn words(&self) -> String {
        let busy = self.busy.iter().map(|busy| format!("{busy}; "));
        let targets: Vec<String> = self.targets.iter().map(TargetSummary::words).collect();
        let caveats: Vec<&str> = self.caveats.iter().map(|caveat| caveat.words()).collect();
        let caveats = caveats.join(", ");
        let caveats = (!caveats.is_empty()).then_some(caveats);
        let further = caveats.iter().chain(&self.open);
        format!(
            "{}{}{}; {} in {}",
            busy.collect::<String>(),
            targets.join(", "),
            further.map(|part| format!("; {part}")).collect::<String>(),
            format_seconds(self.seconds),
            figures::runs(self.runs)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_where_it_is_the_same() {
        let names = ["xfs", "ext4"];
        let (device, locks) = (Some(Limit::Device), Some(Limit::Locks));
        assert_eq!(
            limits([device, device], names).unwrap(),
            "both limited by what the device can do"
        );
        assert_eq!(
            limits([device, locks], names).unwrap(),
            "xfs limited by what the device can do, ext4 limited by locks"
        );
        assert_eq!(
            limits([None, locks], names).unwrap(),
            "ext4 limited by locks"
        );
        assert_eq!(limits([None, None], names), None);
    }
}

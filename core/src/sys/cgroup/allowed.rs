//! The processors on which this process may run.

use std::collections::BTreeSet;

use crate::{
    proc::{CpuTimes, STAT, parse_each_cpu},
    sys::Tree,
};

/// This process's state, with the processors that it may run on.
const STATUS: &str = "/proc/self/status";

/// The processors on which this process may run, where these are not all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Allowed {
    pub(super) processors: u32,
    pub(super) of: u32,
    pub(super) times: CpuTimes,
}

/// The processors on which this process may run; None where these are all, or where the machine's own have other numbers.
pub(super) fn allowed(tree: &dyn Tree) -> Option<Allowed> {
    let status = tree.read(STATUS)?;
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let list = numbers(list.trim());
    let all = parse_each_cpu(&tree.read(STAT)?);
    let mut allowed = all.iter().filter(|(number, _)| list.contains(number));
    let (_, first) = *allowed.next()?;
    let (mut processors, mut times) = (1, first);
    for (_, more) in allowed {
        processors += 1;
        times = times.plus(more);
    }
    let of = all.len() as u32;
    (processors < of).then_some(Allowed {
        processors,
        of,
        times,
    })
}

/// No machine has more processors.
const MOST: u32 = 1 << 16;

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> BTreeSet<u32> {
    let parts = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (last < MOST).then_some(first..=last)
    });
    parts.flatten().collect()
}

//! Huge pages that the kernel still gives away.

use super::{Tree, number};

const SIZES: &str = "/sys/kernel/mm/hugepages";

/// Huge pages of one size that the kernel still gives away: `free` ones that are not `reserved`, and those that it may add as `surplus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HugePool {
    /// The size of a page.
    pub kilobytes: u64,
    /// free_hugepages.
    pub free: u64,
    /// resv_hugepages.
    pub reserved: u64,
    /// nr_overcommit_hugepages.
    pub overcommit: u64,
    /// surplus_hugepages.
    pub surplus: u64,
}

impl HugePool {
    /// Pages that a server can still get.
    pub fn available(self) -> u64 {
        self.free.saturating_sub(self.reserved) + self.overcommit.saturating_sub(self.surplus)
    }
}

/// The pool of pages of this size (kB; zero: the kernel's default); None where it is not known.
pub fn huge_pool(tree: &dyn Tree, kilobytes: u64) -> Option<HugePool> {
    let kilobytes = match kilobytes {
        0 => default_size(tree)?,
        given => given,
    };
    let count = |name: &str| number(tree, &format!("{SIZES}/hugepages-{kilobytes}kB/{name}"));
    Some(HugePool {
        kilobytes,
        free: count("free_hugepages")?,
        reserved: count("resv_hugepages")?,
        overcommit: count("nr_overcommit_hugepages").unwrap_or(0),
        surplus: count("surplus_hugepages").unwrap_or(0),
    })
}

/// In kB.
fn default_size(tree: &dyn Tree) -> Option<u64> {
    let text = tree.read("/proc/meminfo")?;
    let size = text
        .lines()
        .find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    size.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Recorded;

    const TREE: &str = "/proc/meminfo\tMemTotal: 24684092 kB\\nodd\\nHugepagesize:       2048 kB\n\
        /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages\t80\n\
        /sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages\t10\n\
        /sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages\t5\n\
        /sys/kernel/mm/hugepages/hugepages-2048kB/surplus_hugepages\t2\n\
        /sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages\t1\n\
        /sys/kernel/mm/hugepages/hugepages-1048576kB/resv_hugepages\t0\n";

    #[test]
    fn the_pool_of_a_size_is_read() {
        let pool = huge_pool(&Recorded::of(TREE), 0).expect("the default size");
        assert_eq!((pool.kilobytes, pool.available()), (2048, 73));
        let pool = huge_pool(&Recorded::of(TREE), 1 << 20).expect("pages of 1 GB");
        assert_eq!((pool.kilobytes, pool.available()), (1 << 20, 1));
        assert_eq!(huge_pool(&Recorded::of(TREE), 64), None);
        assert_eq!(huge_pool(&Recorded::of(""), 0), None);
    }
}

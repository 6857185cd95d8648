//! Findings about the machine.

use super::*;
use crate::sys::cgroup::{AllowedFelt, Felt, IoFelt, IoKind, MemoryFelt, QuotaFelt};

macro_rules! with {
    ({$($field:ident: $value:expr),+ $(,)?} => $code:expr, $severity:ident, $message:expr) => {
        finds!({machine: MachineFacts { $($field: $value),+, ..super::machine() }} => $code, $severity, $message)
    };
}

macro_rules! nothing_with {
    ($($field:ident: $value:expr),+ $(,)?) => {
        finds_nothing!(machine: MachineFacts { $($field: $value),+, ..super::machine() })
    };
}

#[test]
fn processors_that_were_busy_or_taken_away() {
    with!({cpu_idle: Some(0.01), cpu_iowait: Some(0.02)} => "cpu_saturated", Warning,
        "the processors were idle or waiting for storage in 3.0 % of the time; the clients took 20.0 % of it");
    nothing_with!(cpu_idle: Some(0.01), cpu_iowait: Some(0.5));
    // In runs of scans only where the table should come from the device.
    let busy = || MachineFacts {
        cpu_idle: Some(0.01),
        cpu_iowait: None,
        cpu_clients: None,
        ..super::machine()
    };
    finds!({machine: busy(), workload: Workload::parse("scan"), cache: Some(Cache::Cold)} => "cpu_saturated", Warning,
        "the processors were idle or waiting for storage in 1.0 % of the time");
    finds_nothing!(machine: busy(), workload: Workload::parse("scan"), cache: Some(Cache::Warm));
    nothing_with!(cpu_idle: None, cpu_iowait: None);
    with!({cpu_steal: Some(0.07)} => "steal", Warning, "the host took 7.0 % of the processors' time away");
    with!({cpu_others: Some(0.25)} => "noisy_neighbour", Warning,
        "processes that are none of the server used 25.0 % of the processors' time");
    with!({device_others: Some(0.4)} => "noisy_neighbour", Warning,
        "others kept the disk below the filesystem busy for 40.0 % of the time");
    nothing_with!(cpu_steal: None, cpu_others: None, device_others: None);
    with!({cpu_others: None, cpu_others_at_least: Some(0.25)} => "noisy_neighbour", Warning,
        "processes that are none of the server used at least 25.0 % of the processors' time");
    nothing_with!(cpu_others: None, cpu_others_at_least: Some(0.05));
    with!({cpu_sampler: Some(0.04)} => "observer_effect", Warning, "the sampler used 4.0 % of the processors' time");
    nothing_with!(cpu_sampler: None);
}

#[test]
fn processors_that_were_busy_are_not_laid_at_the_clients_door() {
    let hint = |clients, others, at_least| {
        let found = judge(&RunFacts {
            machine: MachineFacts {
                cpu_idle: Some(0.01),
                cpu_iowait: None,
                cpu_clients: Some(clients),
                cpu_others: others,
                cpu_others_at_least: at_least,
                ..super::machine()
            },
            workload: Workload::parse("tpcb"),
            ..clean()
        });
        let mut found = found.into_iter();
        found
            .find(|finding| finding.code == "cpu_saturated")
            .unwrap()
            .hint
    };
    for (clients, others, at_least, words) in [
        (0.07, Some(0.01), None, "fewer clients"),
        (0.07, Some(0.9), None, "noisy_neighbour"),
        (0.07, None, Some(0.9), "noisy_neighbour"),
        (
            0.07,
            None,
            Some(0.02),
            "It is not known here what other programs took",
        ),
        (
            0.07,
            None,
            None,
            "It is not known here what other programs took",
        ),
        (0.6, None, None, "fewer clients"),
    ] {
        let hint = hint(clients, others, at_least);
        assert!(
            hint.contains(words),
            "{clients} {others:?} {at_least:?}: {hint}"
        );
    }
}

#[test]
fn memory_that_was_waited_for() {
    with!({memory_pressure: Some(0.2)} => "memory_pressure", Warning, "something waited for memory in 20.0 % of the time");
    nothing_with!(memory_pressure: None);
}

#[test]
fn a_limit_of_memory_that_was_felt() {
    let felt = |reached, killed, waiting| Felt {
        memory: Some(MemoryFelt {
            bytes: 2 * GB,
            reached,
            killed,
            waiting,
        }),
        ..Felt::default()
    };
    with!({limits: felt(Some(700), Some(0), Some(0.01))} => "memory_limit", Info,
        "the limit of memory of the server's cgroup, 2048 MB, was reached 700 times");
    with!({limits: felt(Some(1), Some(1), Some(0.2))} => "memory_limit", Warning,
        "the limit of memory of the server's cgroup, 2048 MB, was reached 1 time; processes waited for memory in 20.0 % of the time; the kernel killed 1 process");
    nothing_with!(limits: felt(Some(0), Some(0), Some(0.01)));
    nothing_with!(limits: felt(None, None, None));
}

#[test]
fn a_limit_of_processors_that_was_felt() {
    let quota = |periods, stopped| Felt {
        quota: Some(QuotaFelt {
            processors: 1.5,
            periods,
            stopped,
            stopped_ms: Some(12_340.0),
        }),
        ..Felt::default()
    };
    with!({limits: quota(Some(600), Some(340))} => "processor_limit", Warning,
        "the server's cgroup may use 1.5 processors, and was stopped in 340 of 600 periods, for 12.3 s of processor time");
    with!({limits: quota(Some(600), Some(6))} => "processor_limit", Info,
        "the server's cgroup may use 1.5 processors, and was stopped in 6 of 600 periods, for 12.3 s of processor time");
    nothing_with!(limits: quota(Some(600), Some(5)));
    nothing_with!(limits: quota(Some(600), Some(0)));
    nothing_with!(limits: quota(Some(600), None));
    let allowed = |idle| Felt {
        allowed: Some(AllowedFelt {
            processors: 4,
            of: 64,
            idle,
        }),
        ..Felt::default()
    };
    with!({limits: allowed(0.02)} => "processor_limit", Warning,
        "the server may use 4 of 64 processors, and these were idle or waiting for storage in 2.0 % of the time");
    nothing_with!(limits: allowed(0.06));
    // All of the machine were busy.
    with!({limits: allowed(0.02), cpu_idle: Some(0.01), cpu_iowait: Some(0.0), cpu_clients: None} => "cpu_saturated", Warning,
        "the processors were idle or waiting for storage in 1.0 % of the time");
}

#[test]
fn a_limit_of_io_that_was_felt() {
    let one = |kind, limit, reached| IoFelt {
        device: "8:16".into(),
        name: Some("sdb".into()),
        kind,
        limit,
        seconds: 60,
        reached,
    };
    let felt = |io| Felt {
        io: Some(io),
        ..Felt::default()
    };
    with!({limits: felt(vec![one(IoKind::WriteBytes, 10 << 20, 34), one(IoKind::Reads, 120, 2)])} => "io_limit", Warning,
        "the limit of I/O of the server's cgroup, writing 10 MB/s on sdb (8:16), was reached in 34 of 60 seconds");
    with!({limits: felt(vec![one(IoKind::Reads, 120, 2)])} => "io_limit", Info,
        "the limit of I/O of the server's cgroup, 120 reads/s on sdb (8:16), was reached in 2 of 60 seconds");
    nothing_with!(limits: felt(vec![]));
    nothing_with!(limits: felt(vec![one(IoKind::Reads, 120, 0)]));
}

#[test]
fn clocks_that_change_or_are_slow() {
    with!({throttled: Some(3)} => "throttled", Warning, "processors were slowed down because of heat, 3 times");
    with!({mhz_at_end: Some(1200.0)} => "throttled", Warning, "the clock of the processors went from 3500 to 1200 MHz");
    nothing_with!(mhz_at_end: None, throttled: None);
    with!({governor: Some("powersave".into())} => "governor", Info,
        "the clock of the processors follows the load (governor powersave)");
    nothing_with!(governor: None);
    with!({clock_source: Some("hpet".into())} => "slow_clock", Warning, "reading the time is slow here (clock source hpet)");
    nothing_with!(clock_source: Some("kvm-clock".into()));
}

#[test]
fn dirty_memory_at_its_limit() {
    with!({dirty_peak_bytes: Some(590 << 20)} => "dirty_limit", Warning,
        "up to 590 MB were dirty, and from 600 MB on writers wait (vm.dirty_bytes or vm.dirty_ratio)");
    nothing_with!(dirty_bytes_max: Some(GB));
    // Where the kernel does not say, only a setting in bytes can be compared.
    with!({dirty_peak_limit_bytes: None, dirty_bytes_limit: Some(64 << 20), dirty_bytes_max: Some(63 << 20)} => "dirty_limit", Warning,
        "up to 63 MB were dirty, and from 64 MB on writers wait (vm.dirty_bytes or vm.dirty_ratio)");
    nothing_with!(dirty_peak_limit_bytes: None, dirty_bytes_max: Some(GB));
    nothing_with!(dirty_peak_limit_bytes: None, dirty_bytes_limit: None, dirty_bytes_max: Some(GB));
}

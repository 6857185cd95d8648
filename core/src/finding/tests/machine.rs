//! Findings about the machine.

use super::*;

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
    let scan = |cache| ScanFacts {
        cache: Some(cache),
        ..clean().scan
    };
    finds!({machine: busy(), workload: Workload::parse("scan"), scan: scan(Cache::Cold)} => "cpu_saturated", Warning,
        "the processors were idle or waiting for storage in 1.0 % of the time");
    finds_nothing!(machine: busy(), workload: Workload::parse("scan"), scan: scan(Cache::Warm));
    nothing_with!(cpu_idle: None, cpu_iowait: None);
    with!({cpu_steal: Some(0.07)} => "steal", Warning, "the host took 7.0 % of the processors' time away");
    with!({cpu_others: Some(0.25)} => "noisy_neighbour", Warning,
        "processes that are none of the server used 25.0 % of the processors' time");
    with!({device_others: Some(0.4)} => "noisy_neighbour", Warning,
        "others kept the disk below the filesystem busy for 40.0 % of the time");
    nothing_with!(cpu_steal: None, cpu_others: None, device_others: None);
    with!({cpu_sampler: Some(0.04)} => "observer_effect", Warning, "the sampler used 4.0 % of the processors' time");
    nothing_with!(cpu_sampler: None);
}

#[test]
fn memory_that_was_waited_for() {
    with!({memory_pressure: Some(0.2)} => "memory_pressure", Warning, "something waited for memory in 20.0 % of the time");
    nothing_with!(memory_pressure: None);
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

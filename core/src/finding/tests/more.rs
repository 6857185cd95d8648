//! Findings about the server, the window and the clients beyond settings and data.

use super::*;

macro_rules! with {
    ({$($field:ident: $value:expr),+ $(,)?} => $code:expr, $severity:ident, $message:expr) => {
        finds!({server: ServerFacts { $($field: $value),+, ..super::server() }} => $code, $severity, $message)
    };
}

#[test]
fn vacuum_that_is_off_or_at_work() {
    with!({autovacuum: Some(false)} => "autovacuum_off", Warning, "autovacuum is off");
    finds_nothing!(workload: Workload::parse("select-only"), server: ServerFacts { autovacuum: Some(false), ..super::server() });
    with!({vacuums: Some(3), vacuum_seconds: Some(7)} => "vacuums", Info,
        "the tables of the run were vacuumed 3 times while it was measured, in 7 seconds");
    with!({vacuums: Some(1), vacuum_seconds: None} => "vacuums", Info,
        "the tables of the run were vacuumed once while it was measured");
}

#[test]
fn statistics_and_servers_that_began_anew() {
    with!({statistics_reset: Some(true)} => "statistics_reset", Warning, "the server's statistics were reset in the run");
    with!({restarted: Some(true)} => "server_restarted", Invalid, "the server was restarted in the run");
    finds_nothing!(server: ServerFacts::default());
}

#[test]
fn wal_that_goes_elsewhere() {
    with!({archiving: Some(true)} => "archiving", Warning, "WAL is archived");
    with!({walsenders: Some(1), slots: Some(2)} => "replication", Warning, "there are 1 WAL sender and 2 replication slots");
    with!({synchronous_standbys: Some(true)} => "replication", Warning,
        "there are 0 WAL senders and 0 replication slots, and synchronous_standby_names is set");
}

#[test]
fn checkpoints_that_wal_forced() {
    let seen = |distance_bytes| CheckpointFacts {
        timed: Some(3),
        requested: Some(2),
        distance_bytes,
        cycles: None,
    };
    finds!({checkpoints_seen: seen(Some(512.0 * 1024.0 * 1024.0))} => "checkpoints_requested", Warning,
        "2 of 5 checkpoints in the window came before checkpoint_timeout was over, 512 MB of WAL apart");
    finds!({checkpoints_seen: seen(None)} => "checkpoints_requested", Warning,
        "2 of 5 checkpoints in the window came before checkpoint_timeout was over");
    finds_nothing!(checkpoints_seen: CheckpointFacts::default());
}

#[test]
fn a_window_that_was_still_warming_up() {
    let seconds = |cold: f64| {
        Some(
            [
                vec![cold; 40],
                (0..60).map(|i| 1000.0 + f64::from(i % 3)).collect(),
            ]
            .concat(),
        )
    };
    finds!({seconds_tps: seconds(930.0)} => "warming_up", Warning,
        "the first 40 of 100 seconds were not like the rest (930 against 1001 tps)");
    finds_nothing!(seconds_tps: seconds(999.0));
    finds_nothing!(seconds_tps: seconds(930.0), rate: Some(1000.0));
}

#[test]
fn transactions_behind_their_schedule() {
    finds!({rate: Some(5000.0), latency_ms: Some(50.0), service_ms: Some(4.0)} => "behind_schedule", Warning,
        "transactions started 46.0 ms after they were due, and took 4.0 ms (means)");
    finds_nothing!(rate: Some(5000.0), latency_ms: Some(5.0), service_ms: Some(4.0));
    finds_nothing!(rate: None, latency_ms: Some(50.0), service_ms: Some(4.0));
}

#[test]
fn several_servers() {
    let of = |skew_ms, findings: &[&str]| {
        Some(InstanceFacts {
            skew_ms,
            window_ms: 20_000.0,
            findings: findings.iter().map(|code| (*code).to_owned()).collect(),
        })
    };
    finds!({instances: of(201.0, &[])} => "instances_apart", Invalid,
        "the instances began 201 ms apart, 1.0 % of the window of 20 s; at most 1.0 % is allowed");
    finds_nothing!(instances: of(200.0, &[]));
    finds!({instances: of(0.0, &["lock_waits", "stalls"])} => "instance_findings", Warning,
        "other instances than the first one have findings: lock_waits, stalls");
}

#[test]
fn clients_that_wait_for_each_other() {
    finds!({waits: WaitFacts { lock_share: Some(0.35) }} => "lock_waits", Warning,
        "clients waited for locks in 35.0 % of their time");
    finds_nothing!(waits: WaitFacts::default());
}

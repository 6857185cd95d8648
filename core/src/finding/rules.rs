//! The rules, one function each, split by what they look at. `?` on a fact that is not known ends a rule without a finding.

mod array;
mod data;
mod filesystem;
mod flush;
mod limits;
mod machine;
mod server;
mod settings;
mod window;

use super::{Finding, RunFacts, Severity, crash, storage};
pub use data::{device_reads, fits_memory, memory_for_data};
pub use machine::is_saturated;

type Rule = fn(&RunFacts) -> Option<Finding>;

pub const ALL: &[Rule] = &[
    settings::fsync_off,
    settings::synchronous_commit_off,
    settings::full_page_writes_off,
    settings::unlogged,
    data::clients_exceed_branches,
    data::data_fits,
    data::lock_waits,
    data::dead_rows,
    window::checkpoints,
    window::checkpoints_requested,
    window::failed_transactions,
    window::skipped_transactions,
    window::stalls,
    window::drift,
    window::warming_up,
    window::behind_schedule,
    window::instances_apart,
    window::instance_findings,
    server::old_xmin,
    server::log_checkpoints_off,
    server::autovacuum_off,
    server::vacuums,
    server::statistics_reset,
    server::statements_not_recorded,
    server::server_restarted,
    server::archiving,
    server::replication,
    filesystem::wal_on_other_filesystem,
    filesystem::barriers_off,
    filesystem::jfs_does_not_flush,
    filesystem::sync_does_nothing,
    filesystem::in_memory,
    filesystem::loop_device,
    array::raid_resync,
    array::raid_degraded,
    array::raid_write_hole,
    array::raid_without_bitmap,
    array::raid_at_rest,
    array::stripe_unknown,
    array::stripe_mismatch,
    array::misaligned,
    filesystem::discard_mount_option,
    filesystem::device_discards,
    filesystem::ssd_state_undeclared,
    filesystem::lazy_init,
    filesystem::other_writers,
    filesystem::atime,
    filesystem::btrfs_nodatacow,
    filesystem::compression,
    filesystem::file_attributes,
    filesystem::fallocate_missing,
    filesystem::cloned_data,
    filesystem::allocated_less,
    filesystem::allocated_more,
    filesystem::almost_full,
    storage::mount_options_not_shown,
    storage::properties_not_in_force,
    crash::lost_transactions,
    crash::recovery_failed,
    flush::fsync_too_fast,
    flush::flushes_missing,
    flush::flush_step,
    flush::virtual_disk_without_flush,
    machine::cpu_saturated,
    machine::steal,
    machine::noisy_neighbour,
    machine::observer_effect,
    machine::memory_pressure,
    machine::throttled,
    machine::governor,
    machine::slow_clock,
    machine::dirty_limit,
    limits::memory_limit,
    limits::processor_limit,
    limits::io_limit,
];

/// A quick look cannot help it: there it is only `info`.
fn unless_quick(facts: &RunFacts) -> Severity {
    if facts.quick {
        Severity::Info
    } else {
        Severity::Warning
    }
}

/// True if the run measures writing, so that the promise of a COMMIT matters.
fn commits(facts: &RunFacts) -> bool {
    facts
        .workload
        .is_none_or(|workload| workload.measures_writes())
}

//! The order of findings that are as severe: those that change the figures most come first.
//!
//! It is the order of the kinds, and not of what was seen: docs/findings.md has it as a table.

/// Kinds of findings that do the same to the figures.
pub struct Group {
    /// The effect of the findings of this group on the figures.
    pub says: &'static str,
    /// Their codes, the heaviest first.
    pub codes: &'static [&'static str],
}

const fn group(says: &'static str, codes: &'static [&'static str]) -> Group {
    Group { says, codes }
}

/// All of them, the heaviest first.
pub const GROUPS: &[Group] = &[
    group(
        "What was committed was lost, or a COMMIT did not wait for the disk",
        &[
            "lost_transactions",
            "recovery_failed",
            "power_cut_failed",
            "power_cuts_void",
            "fsync_error",
            "server_restarted",
            "fsync_off",
            "in_memory",
            "barriers_off",
            "jfs_does_not_flush",
            "sync_does_nothing",
            "fsync_too_fast",
            "flushes_missing",
            "synchronous_commit_off",
            "full_page_writes_off",
            "unlogged",
        ],
    ),
    group(
        "Others, or the machine, took what the run needed",
        &[
            "throttled",
            "steal",
            "processor_limit",
            "io_limit",
            "noisy_neighbour",
            "memory_limit",
            "memory_pressure",
            "raid_resync",
            "raid_degraded",
            "raid_at_rest",
            "other_writers",
            "device_discards",
            "lazy_init",
            "flush_step",
            "archiving",
            "replication",
            "slow_clock",
            "observer_effect",
            "governor",
        ],
    ),
    group(
        "Something else was measured than was asked for",
        &[
            "failed_transactions",
            "inputs_out_of_range",
            "response_time_limit",
            "cache_not_as_asked",
            "read_for_others",
            "workers_not_launched",
            "skipped_transactions",
            "behind_schedule",
            "wal_on_other_filesystem",
            "mount_options_not_shown",
            "properties_not_in_force",
            "loop_without_direct_io",
            "instances_apart",
            "instance_findings",
        ],
    ),
    group(
        "The window was not steady",
        &[
            "stalls",
            "drift",
            "warming_up",
            "old_xmin",
            "autovacuum_off",
            "dead_rows",
            "dirty_limit",
            "checkpoints_requested",
        ],
    ),
    group(
        "Not the storage set the pace",
        &[
            "cpu_saturated",
            "cpu_bound",
            "commits_unlike_syncs",
            "data_fits_shared_buffers",
            "data_fits_ram",
            "clients_exceed_branches",
            "lock_waits",
            "not_paced",
        ],
    ),
    group(
        "The window saw too little",
        &["no_complete_checkpoint", "too_short", super::NOT_POSITIVE],
    ),
    group(
        "The filesystem and its device have their ways",
        &[
            "compression",
            "btrfs_nodatacow",
            "file_attributes",
            "fallocate_missing",
            "cloned_data",
            "almost_full",
            "stripe_unknown",
            "stripe_mismatch",
            "misaligned",
            "raid_write_hole",
            "raid_without_bitmap",
            "loop_device",
            "discard_mount_option",
            "atime",
            "ssd_state_undeclared",
            "virtual_disk_without_flush",
            "allocated_less",
            "allocated_more",
        ],
    ),
    group(
        "Less is known; the figures stand",
        &[
            "statistics_reset",
            "vacuums",
            "statements_not_recorded",
            "log_checkpoints_off",
            super::NOT_RELEASED,
            super::IMPORTED,
        ],
    ),
];

/// The weight of a code: the greater, the earlier it is told. Its hundreds tell the group; 0 for a code of another version.
pub fn weight(code: &str) -> i16 {
    GROUPS
        .iter()
        .zip((1..=GROUPS.len() as i16).rev())
        .find_map(|(group, rank)| {
            let place = group.codes.iter().position(|known| *known == code)?;
            Some(rank * 100 - place as i16)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_heavier_than_what_is_good_to_know() {
        let order = [
            "fsync_off",
            "throttled",
            "noisy_neighbour",
            "skipped_transactions",
            "stalls",
            "cpu_saturated",
            "data_fits_ram",
            "lock_waits",
            "too_short",
            "atime",
            "statements_not_recorded",
            "of another version",
        ];
        let weights = order.map(weight);
        assert!(weights.is_sorted_by(|a, b| a > b), "{weights:?}");
        assert_eq!((weights[0], weights[11]), (794, 0));
    }

    #[test]
    fn each_code_stands_in_one_group_that_does_not_reach_into_the_next() {
        let mut all: Vec<_> = GROUPS.iter().flat_map(|group| group.codes).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(GROUPS.iter().all(|group| group.codes.len() <= 100));
    }
}

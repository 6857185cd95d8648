//! How much room a run takes, reckoned before it is made.

use serde::Deserialize;

use super::preflight::ServerState;
use crate::spec::{Spec, Stage};

/// Transactions per second that are assumed for the estimate of what is added and of WAL, which max_wal_size bounds, where neither rate nor number
/// is given: what a disk does at least.
pub const DISK_TPS: f64 = 1_000.0;

/// The bound of what is reckoned for WAL at the default max_wal_size. A smaller one is often exceeded while data are loaded.
const USUAL_WAL_BYTES: u64 = 1 << 30;
/// A cluster without tables, and without WAL, which is counted by itself.
const EMPTY_CLUSTER_BYTES: u64 = 64 << 20;

/// Bytes that a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceNeeded {
    pub data: u64,
    pub wal: u64,
}

/// How the server of a target keeps its WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Wal {
    /// wal_segment_size.
    pub segment_bytes: u64,
    /// max_wal_size.
    pub max_bytes: u64,
}

impl Wal {
    /// Bytes of a number of segments, and of the one that is written.
    fn segments(self, number: u64) -> u64 {
        (number + 1).saturating_mul(self.segment_bytes)
    }

    /// Files of so many bytes of WAL: whole segments, at least one.
    fn files(self, bytes: u64) -> u64 {
        self.segments(bytes.div_ceil(self.segment_bytes.max(1)).max(1))
    }
}

/// On this server.
pub fn needed_here(spec: &Spec, state: &ServerState) -> SpaceNeeded {
    // The tables and keys may be there already.
    let loaded = match spec.stage {
        Stage::OnLoaded { .. } => 0,
        _ => spec.data_bytes(),
    };
    let added = match spec.workload.writes() {
        true => spec.added_bytes(DISK_TPS),
        false => 0,
    };
    // A run that only loads leaves the rest to the one that measures.
    let (maintenance, window_wal) = match spec.stage {
        Stage::LoadOnly => (0, 0),
        _ => (spec.maintenance_bytes(), spec.window_wal_bytes(DISK_TPS)),
    };
    let logs_no_load =
        state.wal_level == "minimal" || spec.options.unlogged || !spec.workload.uses_database();
    let load_wal = match logs_no_load {
        true => 0,
        false => loaded + maintenance,
    };
    SpaceNeeded {
        data: loaded + added + maintenance,
        wal: (load_wal + window_wal).min(state.max_wal_bytes),
    }
}

/// On a target: tables and keys, what is added while it runs, WAL, and an empty cluster. Segments of WAL that are made ready are those that
/// the run then writes. Each server of a run has its own.
pub fn needed_on_target(spec: &Spec, wal: Wal) -> u64 {
    let (loaded, maintenance) = (spec.data_bytes(), spec.maintenance_bytes());
    let data = loaded + spec.added_bytes(DISK_TPS) + maintenance;
    // Files beside the database make no WAL.
    let logged = match spec.workload.uses_database() {
        true => loaded + maintenance,
        false => 0,
    };
    let written = logged + spec.window_wal_bytes(DISK_TPS);
    let kept = written.min(wal.max_bytes.max(USUAL_WAL_BYTES));
    let ready = wal.segments(spec.options.wal_segments.into());
    let in_wal = wal.files(kept).max(ready);
    // Instead of tables: one file, as large as a segment.
    let tested = match spec.workload.uses_database() {
        true => 0,
        false => wal.segment_bytes,
    };
    let each = data.saturating_add(in_wal) + tested + EMPTY_CLUSTER_BYTES;
    each.saturating_mul(spec.options.instances.into())
}

/// Bytes left for a run on an empty device of this size: a filesystem takes some of it for itself, and for root. At least that
/// much is taken off, so that data that do not fit are mostly refused before they are loaded, and data that fit are not. Of 2, 20 and 100
/// GB were left 89, 92 and 93 % on ext4 (93 on ext2), 95, 99 and 99 on xfs, 89, 97 and 98 on btrfs.
pub fn left_by(filesystem: &str, mkfs_options: Option<&str>, bytes: u64) -> u64 {
    let own_percent = match (filesystem, mkfs_options) {
        // Tables of inodes, and 5 % that are root's; options may say otherwise.
        ("ext2" | "ext3" | "ext4", None) => 6,
        _ => 0,
    };
    bytes - bytes / 100 * own_percent
}

/// The room that so many bytes of tables and WAL take on a filesystem once they are written over again and again. btrfs writes to another place each time,
/// and gives an extent back only when all of it was written anew.
pub fn taken_on(filesystem: &str, bytes: u64) -> u64 {
    match filesystem {
        "btrfs" => 2 * bytes,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{spec::RunArguments, workload::tests::resolved};

    fn spec() -> Spec {
        resolved(RunArguments {
            scale: Some(100),
            clients: Some(8),
            ..RunArguments::default()
        })
    }

    const USUAL: Wal = Wal {
        segment_bytes: 16 << 20,
        max_bytes: USUAL_WAL_BYTES,
    };

    fn state() -> ServerState {
        ServerState {
            wal_level: "replica".into(),
            max_wal_bytes: 1 << 40,
            ..ServerState::default()
        }
    }

    #[test]
    fn a_filesystem_takes_some_of_its_device() {
        assert_eq!(left_by("ext4", None, 1000), 940);
        assert_eq!(left_by("ext4", Some("-m 0"), 1000), 1000);
        assert_eq!(left_by("xfs", None, 1000), 1000);
        assert_eq!(
            (taken_on("btrfs", 1000), taken_on("xfs", 1000)),
            (2000, 1000)
        );
    }

    #[test]
    fn what_is_loaded_is_logged_unless_wal_is_minimal() {
        let (spec, state) = (spec(), state());
        let logged = needed_here(&spec, &state);
        assert!(logged.data >= spec.data_bytes() && logged.wal >= spec.data_bytes());
        let minimal = ServerState {
            wal_level: "minimal".into(),
            ..state.clone()
        };
        let not_logged = needed_here(&spec, &minimal);
        assert_eq!(not_logged.wal, logged.wal - spec.data_bytes());
        assert_eq!(not_logged.data, logged.data);
        let bounded = ServerState {
            max_wal_bytes: 1 << 20,
            ..state
        };
        assert_eq!(needed_here(&spec, &bounded).wal, 1 << 20);
    }

    #[test]
    fn a_stage_takes_what_it_does() {
        let whole = needed_here(&spec(), &state());
        let load_only = Spec {
            stage: Stage::LoadOnly,
            ..spec()
        };
        let load_only = needed_here(&load_only, &state());
        assert!(load_only.wal < whole.wal);
        assert_eq!(load_only.wal, spec().data_bytes());
    }

    #[test]
    fn a_target_has_a_cluster_and_its_wal_besides() {
        let spec = spec();
        let needed = needed_on_target(&spec, USUAL);
        let least = spec.data_bytes() + spec.added_bytes(DISK_TPS) + EMPTY_CLUSTER_BYTES;
        assert!(needed > least && needed <= least + USUAL.max_bytes + USUAL.segment_bytes);
        let wide = Wal {
            max_bytes: 1 << 50,
            ..USUAL
        };
        assert!(needed_on_target(&spec, wide) > needed);
    }

    #[test]
    fn every_option_that_makes_files_is_in_the_sum() {
        let mut spec = spec();
        let before = needed_on_target(&spec, USUAL);
        // As many as are written anyway are the same files.
        spec.options.wal_segments = 64;
        assert_eq!(needed_on_target(&spec, USUAL), before);
        spec.options.wal_segments = 65_535;
        assert_eq!(
            needed_on_target(&spec, USUAL),
            before - USUAL.max_bytes - USUAL.segment_bytes + (1 << 40)
        );
        spec.options.wal_segments = u32::MAX;
        let largest = Wal {
            segment_bytes: 1 << 30,
            ..USUAL
        };
        assert!(needed_on_target(&spec, largest) > 1 << 61);
        spec.options.wal_segments = 0;
        spec.options.maintenance = true;
        assert!(needed_on_target(&spec, USUAL) > before);
        spec.options.maintenance = false;
        spec.options.instances = 4;
        assert_eq!(needed_on_target(&spec, USUAL), 4 * before);
        // A test of syncs has a file as large as a segment, beside the server's own.
        let fsync = resolved(RunArguments {
            workload: Some("fsync".into()),
            ..RunArguments::default()
        });
        let of_file = needed_on_target(&fsync, largest) - needed_on_target(&fsync, USUAL);
        assert_eq!(of_file, 3 * ((1 << 30) - (16 << 20)));
    }

    #[test]
    fn wal_takes_whole_segments() {
        let small = resolved(RunArguments {
            scale: Some(1),
            clients: Some(1),
            transactions: Some(10),
            ..RunArguments::default()
        });
        let with = |segment_bytes| {
            let max_bytes = 64 * segment_bytes;
            needed_on_target(
                &small,
                Wal {
                    segment_bytes,
                    max_bytes,
                },
            )
        };
        // Some MB of WAL are in one segment, and the next one is made while it is written.
        assert!(with(1 << 30) > 2 << 30 && with(1 << 30) < 3 << 30);
        assert_eq!(with(1 << 30) - with(64 << 20), 2 * ((1 << 30) - (64 << 20)));
        assert!(with(1 << 20) < with(64 << 20));
    }
}

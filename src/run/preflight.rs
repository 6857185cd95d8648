//! What must hold before anything is made: the server's state, its neighbours, and room.

use std::path::Path;

use pgfsbench_core::{
    helper::Storage,
    spec::{Spec, Stage},
    units::{format_bytes, format_count},
};
use serde::Deserialize;

use crate::{
    errors::{Fault, read_json, sqlstate},
    host::{
        location::{self, Location},
        machine,
        storage::Device,
    },
    pg::{config, settings, sql, xact},
    target::{self, On, Target},
};

/// Transactions per second that are assumed where neither rate nor number is given, for the estimate of transaction ids.
const ASSUMED_TPS: f64 = 20_000.0;
/// The same for the estimate of WAL, which is bounded by max_wal_size: what a disk does at least.
const DISK_TPS: f64 = 1_000.0;

/// Most WAL between two checkpoints at the default max_wal_size.
const USUAL_WAL_BYTES: u64 = 1 << 30;
/// An empty cluster.
const CLUSTER_BYTES: u64 = 64 << 20;

/// What the server says of itself; see [`server_state`].
#[derive(Clone, Debug, Deserialize)]
pub struct ServerState {
    /// The setting.
    pub archive_mode: String,
    /// The setting.
    pub synchronous_standby_names: String,
    /// WAL senders that are at work.
    pub walsenders: u64,
    /// Replication slots.
    pub slots: u64,
    /// The database with the oldest transaction ids.
    pub oldest_database: String,
    /// Their age.
    pub oldest_age: i64,
    /// autovacuum_freeze_max_age.
    pub freeze_max_age: i64,
    /// max_wal_size.
    pub max_wal_bytes: u64,
    wal_segment_bytes: u64,
    wal_level: String,
}

impl ServerState {
    /// Whether its WAL goes to an archive.
    pub fn is_archiving(&self) -> bool {
        self.archive_mode != "off"
    }

    /// Whether commits wait for standbys.
    pub fn is_synchronous(&self) -> bool {
        !self.synchronous_standby_names.is_empty()
    }

    /// Whether its WAL is sent to somebody, or kept for somebody.
    pub fn is_replicated(&self) -> bool {
        self.walsenders > 0 || self.slots > 0
    }
}

/// Asks the server. In a transaction, with the owner's rights.
pub fn server_state() -> Result<ServerState, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object( \
           'archive_mode', current_setting('archive_mode'), \
           'synchronous_standby_names', current_setting('synchronous_standby_names'), \
           'walsenders', (SELECT count(*) FROM pg_stat_replication), \
           'slots', (SELECT count(*) FROM pg_replication_slots), \
           'oldest_database', d.datname, 'oldest_age', age(d.datfrozenxid), \
           'freeze_max_age', current_setting('autovacuum_freeze_max_age')::bigint, \
           'max_wal_bytes', pg_size_bytes(current_setting('max_wal_size')), \
           'wal_segment_bytes', pg_size_bytes(current_setting('wal_segment_size')), \
           'wal_level', current_setting('wal_level')) \
         FROM pg_database d WHERE datallowconn ORDER BY age(d.datfrozenxid) DESC LIMIT 1",
        &[],
    )?;
    read_json("server state", &text.unwrap_or_default())
}

/// Refuses what would harm others, unless forced, and what cannot work.
pub fn check(spec: &Spec, state: &ServerState) -> Result<(), Fault> {
    if xact::in_recovery() {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "cannot run a benchmark during recovery",
        )
        .detail("This server is a standby, which cannot write.")
        .hint("Run it on the primary server, or after promotion."));
    }
    if !spec.is_here() {
        // What is on its target is looked at there.
        return Ok(());
    }
    if !spec.workload.uses_database() {
        // It makes no WAL and takes no transaction ids, but for its few rows.
        let place = location::wal_location();
        return room_on(place.as_ref(), state.wal_segment_bytes, "tests");
    }
    if spec.stage != Stage::LoadOnly {
        let place = location::data_location();
        check_cache_at(spec, place.as_ref())?;
    }
    if !spec.force {
        check_neighbours(state)?;
        check_transaction_ids(spec, state)?;
    }
    check_room(spec, state)
}

/// Refuses data that cannot be in the cache as the run wants it, as far as a place is known.
fn check_cache_at(spec: &Spec, place: Option<&Location>) -> Result<(), Fault> {
    let Some(mount) = place.and_then(Location::mount) else {
        return Ok(());
    };
    let layers = Device::of(place, None).layers;
    let is_cached_below = layers
        .iter()
        .flatten()
        .any(|layer| layer.direct_io == Some(false));
    check_cache(spec, &mount.fs_type, is_cached_below)
}

fn check_cache(spec: &Spec, filesystem: &str, is_cached_below: bool) -> Result<(), Fault> {
    Ok(spec
        .workload
        .check_cache(spec, filesystem, is_cached_below)?)
}

fn check_neighbours(state: &ServerState) -> Result<(), Fault> {
    let refusal = |message: &str, detail: String| {
        Err(Fault::new(sqlstate::NOT_IN_THIS_STATE, message)
            .detail(detail)
            .hint("Use a server of its own for benchmarks, or override this with force => true."))
    };
    if state.is_archiving() {
        return refusal(
            "cannot run a benchmark while WAL is archived",
            format!(
                "archive_mode is \"{}\": every segment of benchmark WAL would go to the archive.",
                state.archive_mode
            ),
        );
    }
    if state.is_synchronous() {
        return refusal(
            "cannot run a benchmark under synchronous replication",
            format!(
                "synchronous_standby_names is \"{}\": commits would wait for standbys, and not for this filesystem alone.",
                state.synchronous_standby_names
            ),
        );
    }
    if state.is_replicated() {
        return refusal(
            "cannot run a benchmark while this server is replicated",
            format!(
                "There are {} and {}: benchmark WAL would be sent to them, or kept for them.",
                format_count(state.walsenders, "WAL sender"),
                format_count(state.slots, "replication slot")
            ),
        );
    }
    Ok(())
}

fn check_transaction_ids(spec: &Spec, state: &ServerState) -> Result<(), Fault> {
    if !spec.workload.writes() {
        return Ok(());
    }
    let needed = spec.transactions_at(ASSUMED_TPS);
    if state.oldest_age as f64 + needed < state.freeze_max_age as f64 {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "the run would use too many transaction ids",
    )
    .detail(format!(
        "It needs about {needed:.0}; database \"{}\" has an age of {}, and at autovacuum_freeze_max_age ({}) autovacuum would start to freeze it.",
        state.oldest_database, state.oldest_age, state.freeze_max_age
    ))
    .hint(if needed < state.freeze_max_age as f64 {
        "Run vacuumdb --all --freeze first, ask for less (a shorter duration, fewer transactions, a rate), or override this with force => true."
    } else {
        "Ask for less (a shorter duration, fewer transactions, a rate), raise autovacuum_freeze_max_age, or override this with force => true."
    }))
}

/// What a run needs on a filesystem, beyond the reserve.
fn check_room(spec: &Spec, state: &ServerState) -> Result<(), Fault> {
    // The tables and keys may be there already.
    let is_loaded = matches!(spec.stage, Stage::OnLoaded { .. });
    let loaded = if is_loaded { 0 } else { spec.data_bytes() };
    let data = if spec.workload.writes() {
        // And what is added while it runs.
        loaded + spec.added_bytes(DISK_TPS)
    } else {
        loaded
    };
    // A run that only loads leaves it to the one that measures.
    let loads_only = spec.stage == Stage::LoadOnly;
    let maintenance = if loads_only {
        0
    } else {
        spec.maintenance_bytes()
    };
    let data = data + maintenance;
    let minimal = state.wal_level == "minimal" || spec.options.unlogged;
    let load_wal = if minimal { 0 } else { loaded + maintenance };
    let window_wal = if loads_only {
        0
    } else {
        spec.window_wal_bytes(DISK_TPS)
    };
    let wal = (load_wal + window_wal).min(state.max_wal_bytes);
    let (data_place, wal_place) = (location::data_location(), location::wal_location());
    let same = match (&data_place, &wal_place) {
        (Some(a), Some(b)) => location::same_filesystem(a, b),
        _ => true,
    };
    if same {
        room_on(data_place.as_ref(), data + wal, "data and WAL")
    } else {
        room_on(data_place.as_ref(), data, "data")?;
        room_on(wal_place.as_ref(), wal, "WAL")
    }
}

/// Refuses a run that does not fit on its target, or whose server does not fit into memory beside this one. In a
/// transaction, with the owner's rights.
pub fn check_target(spec: &Spec) -> Result<(), Fault> {
    let target = target::find(&spec.target)?;
    match &target.on {
        On::Directory(directory) => {
            let place = Location::of(directory);
            check_cache_at(spec, place.as_ref())?;
            check_target_room(spec, directory)?;
        }
        // That server looks at what it has.
        On::Connection(_) => return check_far_options(spec),
        // How much room is on it is known when it is made.
        On::Made { prepare, .. } => {
            let filesystem = prepare.filesystem.name();
            check_cache(spec, filesystem, false)?;
            let (bytes, what, hint) = match &prepare.storage {
                Storage::Image { bytes, .. } => (
                    Some(*bytes),
                    "image",
                    "Use a smaller scale, or raise image_size with fsbench.alter_target().",
                ),
                Storage::Device(device) => (
                    device.bytes,
                    "device",
                    "Use a smaller scale, or a larger device.",
                ),
            };
            if let Some(bytes) = bytes {
                let own = bytes / 100 * own_percent(filesystem, prepare.mkfs_options.as_deref());
                check_size(spec, bytes - own, what, hint)?;
            }
        }
    }
    check_target_memory(spec, &target)
}

/// Nothing is made or copied for a server that is there already.
fn check_far_options(spec: &Spec) -> Result<(), Fault> {
    if spec.options == spec.options.for_target_server(spec.workload) {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        "options \"data\", \"cache\" and \"wait_for_helper_ms\" mean nothing for a connection",
    )
    .detail(format!(
        "Target \"{}\" is a server that is there already.",
        spec.target
    ))
    .hint("Leave them out."))
}

fn check_target_memory(spec: &Spec, target: &Target) -> Result<(), Fault> {
    // How much it really takes is asked of its programs before it is started.
    let given = spec
        .settings
        .get("shared_buffers")
        .or_else(|| target.settings.get("shared_buffers"));
    // A number without a unit is one of pages.
    let text = sql::read(
        "SELECT jsonb_build_array(pg_size_bytes(own), \
           CASE WHEN given ~ '^[0-9]+$' THEN given::bigint * 8192 \
             WHEN given ~* '^[0-9.]+ *(kB|MB|GB|TB)$' THEN pg_size_bytes(given) ELSE 0 END) \
         FROM (SELECT current_setting('shared_buffers') AS own, coalesce($1, current_setting('shared_buffers')) AS given) s",
        &[given.map(String::as_str)],
    )?;
    let (own, theirs): (u64, u64) = read_json("sizes", &text.unwrap_or_default())?;
    spec.workload.check_buffers(spec, theirs)?;
    check_both("shared_buffers", own, theirs)
}

/// Refuses a target server whose shared memory does not fit into RAM beside this one's. In a transaction.
pub fn check_shared_memory(theirs: u64) -> Result<(), Fault> {
    let own = config::bytes("shared_memory_size")?.unwrap_or(0);
    check_both("shared memory", own, theirs)
}

fn check_both(what: &str, own: u64, theirs: u64) -> Result<(), Fault> {
    let Some(memory) = machine::machine().1 else {
        return Ok(());
    };
    if own.saturating_add(theirs) <= memory {
        return Ok(());
    }
    Err(
        Fault::new(sqlstate::NO_RESOURCES, "not enough memory for both servers")
            .detail(format!(
                "{what} is {} here and {} on the target; the machine has {}.",
                format_bytes(own),
                format_bytes(theirs),
                format_bytes(memory)
            ))
            .hint("Give the target a smaller shared_buffers with fsbench.alter_target()."),
    )
}

/// Tables and keys, what is added while it runs, WAL, and an empty cluster.
fn bytes_on_target(spec: &Spec) -> u64 {
    let data = spec.data_bytes() + spec.added_bytes(DISK_TPS) + spec.maintenance_bytes();
    let wal = spec.data_bytes() + spec.maintenance_bytes() + spec.window_wal_bytes(DISK_TPS);
    let wal = wal.min(USUAL_WAL_BYTES);
    data + wal + CLUSTER_BYTES
}

/// What a filesystem takes of an empty device for itself, and for root, in percent: at least so much, so that what will not fit
/// is mostly said before data are loaded, and what will is not refused. Of 2, 20 and 100 GB were left 89, 92 and 93 % on ext4 (93 on
/// ext2), 95, 99 and 99 on xfs, 89, 97 and 98 on btrfs.
fn own_percent(filesystem: &str, mkfs_options: Option<&str>) -> u64 {
    match (filesystem, mkfs_options) {
        // Tables of inodes, and 5 % that are root's; options may say otherwise.
        ("ext2" | "ext3" | "ext4", None) => 6,
        _ => 0,
    }
}

fn check_size(spec: &Spec, bytes: u64, what: &str, hint: &str) -> Result<(), Fault> {
    let needed = bytes_on_target(spec) + settings::reserved_space_bytes();
    if needed <= bytes {
        return Ok(());
    }
    Err(
        Fault::new(sqlstate::DISK_FULL, "not enough room for the run")
            .detail(format!(
                "data and WAL need about {} and a reserve of {} (pgfsbench.reserved_space); the filesystem on the {what} will have {}.",
                format_bytes(bytes_on_target(spec)),
                format_bytes(settings::reserved_space_bytes()),
                format_bytes(bytes)
            ))
            .hint(hint),
    )
}

/// Refuses a run that does not fit on the filesystem of a directory.
pub fn check_target_room(spec: &Spec, directory: &Path) -> Result<(), Fault> {
    let place = Location::of(directory).ok_or_else(|| {
        Fault::new(
            sqlstate::SYSTEM,
            format!("could not look at directory \"{}\"", directory.display()),
        )
    })?;
    room_on(Some(&place), bytes_on_target(spec), "data and WAL")
}

fn room_on(place: Option<&Location>, needed: u64, what: &str) -> Result<(), Fault> {
    let Some(place) = place else { return Ok(()) };
    let Some((free, _)) = place.space() else {
        return Ok(());
    };
    let reserve = settings::reserved_space_bytes();
    if free >= needed.saturating_add(reserve) {
        return Ok(());
    }
    Err(
        Fault::new(sqlstate::DISK_FULL, "not enough room for the run")
            .detail(format!(
                "{what} need about {} and a reserve of {} (pgfsbench.reserved_space); \"{}\" has {} free.",
                format_bytes(needed),
                format_bytes(reserve),
                place.directory,
                format_bytes(free)
            ))
            .hint("Use a smaller scale, or make room."),
    )
}

/// Refuses to go on when a filesystem has less room than the reserve: full WAL would take the whole server down.
pub fn watch_room() -> Result<(), Fault> {
    let data = crate::pg::session::data_directory();
    for directory in [data.clone(), data.join("pg_wal")] {
        watch(&directory)?;
    }
    Ok(())
}

fn watch(directory: &Path) -> Result<(), Fault> {
    let reserve = settings::reserved_space_bytes();
    match location::space(directory) {
        Some((free, _)) if free < reserve => Err(Fault::new(
            sqlstate::DISK_FULL,
            "the filesystem is almost full",
        )
        .detail(format!(
            "The filesystem of \"{}\" has {} free, less than the reserve of {} (pgfsbench.reserved_space).",
            directory.display(),
            format_bytes(free),
            format_bytes(reserve)
        ))
        .hint("Use a smaller scale or a shorter run, or make room.")),
        _ => Ok(()),
    }
}

//! Which differences matter: one table for each area. A name that is in no table may matter.

use super::{Area, Matters};
use crate::texts::difference::Why;
use Matters::{Hardly, Maybe, Much};

/// Settings that say where a server is and how it is reached: a server that is made for one run has its own.
pub const OF_ONE_SERVER: &[&str] = &[
    "application_name",
    "cluster_name",
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_directory",
    "log_filename",
    "port",
    "unix_socket_directories",
];

/// Names that are alike, with blanks between them: one that ends with `*` is what a name begins with.
struct Rule {
    names: &'static str,
    matters: Matters,
    why: Why,
}

const fn rule(matters: Matters, why: Why, names: &'static str) -> Rule {
    Rule {
        names,
        matters,
        why,
    }
}

const SETTINGS: &[Rule] = &[
    rule(
        Much,
        Why::CommitWaits,
        "fsync synchronous_commit full_page_writes wal_sync_method commit_delay commit_siblings wal_level \
         synchronous_standby_names archive_mode data_sync_retry",
    ),
    rule(
        Much,
        Why::Wal,
        "wal_compression wal_buffers wal_init_zero wal_recycle wal_log_hints wal_writer_* wal_segment_size \
         data_checksums",
    ),
    rule(
        Much,
        Why::Checkpoints,
        "checkpoint_timeout checkpoint_completion_target checkpoint_flush_after max_wal_size min_wal_size \
         bgwriter_* backend_flush_after",
    ),
    rule(
        Much,
        Why::ThroughKernel,
        "shared_buffers huge_pages huge_pages_status io_method io_workers io_min_workers io_max_workers io_worker_* io_max_concurrency io_combine_limit \
         io_max_combine_limit file_copy_method file_extend_method \
         effective_io_concurrency maintenance_io_concurrency debug_io_direct recovery_prefetch",
    ),
    rule(
        Much,
        Why::Workers,
        "max_parallel_workers max_parallel_workers_per_gather autovacuum autovacuum_* vacuum_cost_* jit",
    ),
    rule(
        Maybe,
        Why::Logged,
        "log_statement log_duration log_min_duration_* auto_explain.* shared_preload_libraries \
         session_preload_libraries track_* pg_stat_statements.*",
    ),
    rule(
        Hardly,
        Why::NotInRuns,
        "default_tablespace temp_tablespaces default_table_access_method",
    ),
    rule(
        Hardly,
        Why::Shown,
        "log_* logging_collector lc_* DateStyle IntervalStyle TimeZone timezone_abbreviations client_* ssl ssl_* \
         password_encryption unix_socket_* default_text_search_config max_connections \
         superuser_reserved_connections dynamic_shared_memory_type update_process_title syslog_* event_source \
         cron.* pgfsbench.* search_path extra_float_digits bonjour* hot_standby* max_worker_processes \
         statement_timeout lock_timeout tcp_*",
    ),
];

const PARAMETERS: &[Rule] = &[
    rule(
        Much,
        Why::OtherWork,
        "workload scale clients rate options.fillfactor options.unlogged options.degrees options.payload options.table \
         options.leader options.methods options.writers options.script.sha256 options.script.has_init \
         options.pattern options.block_size options.jobs options.io_depth options.direct options.engine \
         options.fsync_every options.fdatasync_every options.size options.rate options.job_file options.mix \
         options.steady_state options.steady_state_seconds options.mix.* options.waits options.remote options.foreign_keys \
         options.conditions options.cuts options.fsync_error options.table options.instances",
    ),
    rule(Much, Why::Cached, "options.cache"),
    rule(Maybe, Why::OtherWindow, "bound.* warmup_ms"),
    rule(Maybe, Why::Late, "latency_limit_ms"),
    rule(Maybe, Why::Loaded, "options.data options.loaders"),
    rule(Maybe, Why::Observer, "options.sample options.commands"),
    rule(Maybe, Why::OtherScans, "options.repeats options.readers"),
    rule(Hardly, Why::OtherSeed, "seed"),
    rule(
        Hardly,
        Why::AfterWindow,
        "options.crash options.maintenance",
    ),
    rule(
        Hardly,
        Why::Timeout,
        "options.wait_for_helper_ms options.lease_ms options.grace_ms",
    ),
];

const TARGET: &[Rule] = &[
    rule(
        Much,
        Why::OtherMaking,
        "kind filesystem mkfs_options mount_options pool_properties dataset_properties log_device log_devices log_size_bytes image_count layout layout_options layout_options.* initial_sync",
    ),
    rule(
        Much,
        Why::OtherPlace,
        "device devices device_identity.* log_device_identity.* connection directory",
    ),
    rule(
        Much,
        Why::SetForRun,
        "block_settings.* kernel_settings.* drop_caches ssd_state",
    ),
    rule(Much, Why::OtherProgram, "bindir data_checksums"),
    rule(Maybe, Why::Allocation, "image_size_bytes image_sparse"),
    rule(Hardly, Why::Declaration, "power_loss_protected"),
    rule(Hardly, Why::Name, "mount_point"),
];

/// Mount options that name a place: a container that is made anew has others.
const PLACES: &str = "logdev lowerdir lowerdir+ datadir+ upperdir workdir";

/// A pattern that finds the mount options that name a place, in options with commas between them.
pub fn pattern_of_places() -> String {
    let names = PLACES.replace('+', "[+]").replace(' ', "|");
    format!("(^|,)({names})=[^,]*")
}

const MOUNT: &[Rule] = &[
    rule(
        Much,
        Why::Flushed,
        "barrier nobarrier sync async flushoncommit noflushoncommit fsync_mode",
    ),
    rule(
        Much,
        Why::WrittenTwice,
        "data compress compress-force nodatacow nodatasum norecovery noload dax",
    ),
    rule(Much, Why::Discards, "discard"),
    rule(
        Maybe,
        Why::ReadsWrite,
        "noatime relatime strictatime nodiratime lazytime",
    ),
    rule(
        Maybe,
        Why::Gathered,
        "logbsize logbufs commit delalloc nodelalloc allocsize largeio stripe sunit swidth autodefrag ssd nossd \
         ssd_spread space_cache journal_checksum journal_async_commit max_batch_time min_batch_time thread_pool \
         background_gc",
    ),
    rule(
        Hardly,
        Why::NoEffect,
        "nosuid nodev noexec seclabel errors noquota usrquota grpquota user_xattr acl noacl inode64 attr2 rw uid \
         gid",
    ),
    rule(Hardly, Why::Name, "mount_point subvol subvolid fsuuid"),
    rule(Hardly, Why::PlaceOfContainer, PLACES),
];

const DURABILITY: &[Rule] = &[
    rule(Much, Why::OtherPromise, "durability"),
    rule(Much, Why::OtherScope, "scope"),
    rule(Much, Why::FlushCost, "write_cache"),
];

const FILESYSTEM: &[Rule] = &[
    rule(Much, Why::OtherFilesystem, "filesystem wal_filesystem"),
    rule(Much, Why::Journal, "journal_mode"),
    rule(
        Much,
        Why::BlockSize,
        "block_size_bytes geometry.block_bytes",
    ),
    rule(
        Much,
        Why::FileAttributes,
        "data_file_attributes pg_wal_file_attributes",
    ),
    rule(
        Maybe,
        Why::DirectoryAttributes,
        "data_attributes pg_wal_attributes",
    ),
    rule(Maybe, Why::Extended, "fallocate"),
    rule(Maybe, Why::Geometry, "geometry.* filesystem_size_bytes"),
];

const DEVICE: &[Rule] = &[
    rule(
        Much,
        Why::OtherDisk,
        "device_model rotational serial wwn partition_uuid layers.* wal_layers.*",
    ),
    rule(Much, Why::Layers, "layers wal_layers"),
    rule(
        Much,
        Why::Queue,
        "io_scheduler read_ahead_kb nr_requests queue_depth",
    ),
    rule(
        Maybe,
        Why::Requests,
        "fua discard_* logical_sector_bytes physical_sector_bytes",
    ),
    rule(Hardly, Why::Name, "device wal_device"),
];

const VERSION: &[Rule] = &[
    rule(Maybe, Why::OtherVersion, "server_version"),
    rule(Maybe, Why::OwnRules, "pgfsbench_version"),
    rule(Maybe, Why::OtherDefaults, "mkfs_version"),
];

const KERNEL: &[Rule] = &[
    rule(Much, Why::Kernel, "kernel"),
    rule(
        Much,
        Why::Writeback,
        "vm.dirty_* vm.swappiness vm.nr_hugepages",
    ),
    rule(Much, Why::ProcessorClock, "cpu_governor"),
    rule(Maybe, Why::ReadingTime, "clock_source"),
    rule(Maybe, Why::Mitigations, "kernel_command_line"),
];

const HOST: &[Rule] = &[
    rule(Much, Why::OtherMachine, "host_fingerprint"),
    rule(
        Much,
        Why::OtherMachine,
        "machine virtualization processors processor_model",
    ),
    rule(Much, Why::PageCache, "memory_bytes"),
    rule(Much, Why::Limits, "limits.*"),
    rule(Hardly, Why::Name, "hostname"),
];

/// How likely a difference changes the figures, and why.
pub fn weigh(area: Area, name: &str, a: Option<&String>, b: Option<&String>) -> (Matters, Why) {
    if name == "server_version" && major(a) != major(b) {
        return (Much, Why::OtherMajorVersion);
    }
    // Settings of the sessions and of a target are settings as the server's are.
    let (table, name) = match (area, name.strip_prefix("settings.")) {
        (Area::Parameters | Area::Target, Some(setting)) => (SETTINGS, setting),
        (Area::Mount, _) => (MOUNT, name.strip_prefix("wal_").unwrap_or(name)),
        _ => (table_of(area), name),
    };
    let fits = |known: &str| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known == name,
    };
    let rule = table
        .iter()
        .find(|rule| rule.names.split_whitespace().any(fits));
    rule.map_or((Maybe, Why::NoRule), |rule| (rule.matters, rule.why))
}

fn table_of(area: Area) -> &'static [Rule] {
    match area {
        Area::Run => &[],
        Area::Parameters => PARAMETERS,
        Area::Target => TARGET,
        Area::Durability => DURABILITY,
        Area::Filesystem => FILESYSTEM,
        Area::Mount => MOUNT,
        Area::Device => DEVICE,
        Area::Settings => SETTINGS,
        Area::Version => VERSION,
        Area::Kernel => KERNEL,
        Area::Host => HOST,
    }
}

/// The 15 of `PostgreSQL 15.4 on ...`; two parts before that.
fn major(version: Option<&String>) -> Option<&str> {
    let number = version?.split_whitespace().nth(1)?;
    number.split(['.', 'd', 'b', 'r']).next()
}

/// Sizes and clocks that are never twice the same, and by how much they may differ without being told.
const TOLERANCES: &[(&str, f64)] = &[
    ("memory_bytes", 0.02),
    ("filesystem_size_bytes", 0.02),
    ("cpu_mhz_min", 0.1),
    ("cpu_mhz_max", 0.1),
];

/// Marks of disks, which older versions do not store: of one that has none it is not known whether it is another one.
const MARKS: &[&str] = &[
    "layers.serial",
    "layers.wwn",
    "wal_layers.serial",
    "wal_layers.wwn",
];

/// True if two values are as good as the same.
pub fn is_close(name: &str, a: Option<&String>, b: Option<&String>) -> bool {
    if MARKS.contains(&name) && (a.is_none() || b.is_none()) {
        return true;
    }
    let tolerance = TOLERANCES.iter().find(|(known, _)| *known == name);
    let number = |text: Option<&String>| text.and_then(|text| text.parse::<f64>().ok());
    match (tolerance, number(a), number(b)) {
        (Some((_, share)), Some(a), Some(b)) => (a - b).abs() <= share * a.abs().max(b.abs()),
        _ => false,
    }
}

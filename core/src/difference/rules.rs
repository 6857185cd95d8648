//! Which differences matter: one table for each area. A name that is in no table may matter.

use super::{Area, Matters};
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
    why: &'static str,
}

const fn rule(matters: Matters, why: &'static str, names: &'static str) -> Rule {
    Rule {
        names,
        matters,
        why,
    }
}

const SETTINGS: &[Rule] = &[
    rule(
        Much,
        "decides what a COMMIT waits for",
        "fsync synchronous_commit full_page_writes wal_sync_method commit_delay commit_siblings wal_level \
         synchronous_standby_names archive_mode data_sync_retry",
    ),
    rule(
        Much,
        "decides how much WAL there is, and how it is written",
        "wal_compression wal_buffers wal_init_zero wal_recycle wal_log_hints wal_writer_* wal_segment_size \
         data_checksums",
    ),
    rule(
        Much,
        "decides when checkpoints come and how they write",
        "checkpoint_timeout checkpoint_completion_target checkpoint_flush_after max_wal_size min_wal_size \
         bgwriter_* backend_flush_after",
    ),
    rule(
        Much,
        "decides what is read and written through the kernel",
        "shared_buffers huge_pages huge_pages_status io_method io_workers io_min_workers io_max_workers io_worker_* io_max_concurrency io_combine_limit \
         io_max_combine_limit file_copy_method file_extend_method \
         effective_io_concurrency maintenance_io_concurrency debug_io_direct recovery_prefetch",
    ),
    rule(
        Much,
        "decides how many scan, or how rows are cleared away",
        "max_parallel_workers max_parallel_workers_per_gather autovacuum autovacuum_* vacuum_cost_* jit",
    ),
    rule(
        Maybe,
        "each statement may be logged, or looked at",
        "log_statement log_duration log_min_duration_* auto_explain.* shared_preload_libraries \
         session_preload_libraries track_* pg_stat_statements.*",
    ),
    rule(
        Hardly,
        "does not hold for runs",
        "default_tablespace temp_tablespaces default_table_access_method",
    ),
    rule(
        Hardly,
        "says how things are named, shown or reached",
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
        "another work",
        "workload scale clients rate options.fillfactor options.unlogged options.degrees options.payload \
         options.leader options.methods options.writers options.script.sha256 options.script.has_init \
         options.pattern options.block_size options.jobs options.io_depth options.direct options.engine \
         options.fsync_every options.fdatasync_every options.size options.rate options.job_file options.mix \
         options.steady_state options.steady_state_seconds options.mix.* options.waits options.remote options.foreign_keys \
         options.conditions options.cuts options.fsync_error",
    ),
    rule(Much, "what is cached decides what is read", "options.cache"),
    rule(
        Maybe,
        "another window: it sees other checkpoints",
        "bound.* warmup_ms",
    ),
    rule(Maybe, "what is late may be skipped", "latency_limit_ms"),
    rule(
        Maybe,
        "data that were loaded in place lie otherwise than copied ones",
        "options.data options.loaders",
    ),
    rule(
        Maybe,
        "what is looked at takes processor time",
        "options.sample options.commands",
    ),
    rule(
        Maybe,
        "other numbers of scans",
        "options.repeats options.readers",
    ),
    rule(Hardly, "other random numbers of the same kind", "seed"),
    rule(
        Hardly,
        "comes after the measured window",
        "options.crash options.maintenance",
    ),
    rule(
        Hardly,
        "says how long something may take",
        "options.wait_for_helper_ms options.lease_ms options.grace_ms",
    ),
];

const TARGET: &[Rule] = &[
    rule(
        Much,
        "another filesystem, or made otherwise",
        "kind filesystem mkfs_options mount_options pool_properties dataset_properties log_device log_size_bytes image_count layout layout_options initial_sync",
    ),
    rule(
        Much,
        "another disk, or another place on it",
        "device devices device_identity.* log_device_identity.* connection directory",
    ),
    rule(
        Much,
        "set for the run, for all that is written",
        "block_settings.* kernel_settings.* drop_caches ssd_state",
    ),
    rule(Much, "another server program", "bindir data_checksums"),
    rule(
        Maybe,
        "room on the filesystem, and how its blocks are allocated",
        "image_size_bytes image_sparse",
    ),
    rule(
        Hardly,
        "a declaration: it changes what findings say, not what is done",
        "power_loss_protected",
    ),
    rule(Hardly, "a name", "mount_point"),
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
        "decides whether the device is flushed, and when",
        "barrier nobarrier sync async flushoncommit noflushoncommit fsync_mode",
    ),
    rule(
        Much,
        "decides what is written twice, or not at all",
        "data compress compress-force nodatacow nodatasum norecovery noload dax",
    ),
    rule(Much, "blocks are discarded while the run is on", "discard"),
    rule(
        Maybe,
        "reads write, or do not",
        "noatime relatime strictatime nodiratime lazytime",
    ),
    rule(
        Maybe,
        "how much is gathered or laid out before it is written",
        "logbsize logbufs commit delalloc nodelalloc allocsize largeio stripe sunit swidth autodefrag ssd nossd \
         ssd_spread space_cache journal_checksum journal_async_commit max_batch_time min_batch_time thread_pool \
         background_gc",
    ),
    rule(
        Hardly,
        "has nothing to do with how files are read and written",
        "nosuid nodev noexec seclabel errors noquota usrquota grpquota user_xattr acl noacl inode64 attr2 rw uid \
         gid",
    ),
    rule(Hardly, "a name", "mount_point subvol subvolid fsuuid"),
    rule(
        Hardly,
        "a place, of which a container that is made anew has another",
        PLACES,
    ),
];

const DURABILITY: &[Rule] = &[
    rule(
        Much,
        "a COMMIT promises something else: such figures are no match",
        "durability",
    ),
    rule(Much, "not the same is on the measured filesystem", "scope"),
    rule(Much, "what is flushed, and what that takes", "write_cache"),
];

const FILESYSTEM: &[Rule] = &[
    rule(Much, "another filesystem", "filesystem wal_filesystem"),
    rule(
        Much,
        "what the journal holds is written twice",
        "journal_mode",
    ),
    rule(
        Much,
        "what is written at a time",
        "block_size_bytes geometry.block_bytes",
    ),
    rule(
        Much,
        "decides how files are written: in place or not, compressed, synced",
        "data_file_attributes pg_wal_file_attributes",
    ),
    rule(
        Maybe,
        "what new files take from their directory",
        "data_attributes pg_wal_attributes",
    ),
    rule(Maybe, "how files are extended by bulk loads", "fallocate"),
    rule(
        Maybe,
        "how it is laid out",
        "geometry.* filesystem_size_bytes",
    ),
];

const DEVICE: &[Rule] = &[
    rule(
        Much,
        "another disk",
        "device_model rotational serial wwn partition_uuid layers.* wal_layers.*",
    ),
    rule(
        Much,
        "what is between the filesystem and the disk",
        "layers wal_layers",
    ),
    rule(
        Much,
        "how requests are queued and merged",
        "io_scheduler read_ahead_kb nr_requests queue_depth",
    ),
    rule(
        Maybe,
        "what one request can do",
        "fua discard_* logical_sector_bytes physical_sector_bytes",
    ),
    rule(
        Hardly,
        "a name, which the kernel gives",
        "device wal_device",
    ),
];

const VERSION: &[Rule] = &[
    rule(Maybe, "another version of the server", "server_version"),
    rule(
        Maybe,
        "it measures and judges by rules of its own",
        "pgfsbench_version",
    ),
    rule(
        Maybe,
        "its defaults make another filesystem",
        "mkfs_version",
    ),
];

const KERNEL: &[Rule] = &[
    rule(Much, "filesystems are part of it", "kernel"),
    rule(
        Much,
        "decides when the kernel writes, and how much it keeps",
        "vm.dirty_* vm.swappiness vm.nr_hugepages",
    ),
    rule(Much, "the clock of the processors", "cpu_governor"),
    rule(
        Maybe,
        "reading the time is faster or slower",
        "clock_source",
    ),
    rule(
        Maybe,
        "mitigations and the like slow down calls of the kernel",
        "kernel_command_line",
    ),
];

const HOST: &[Rule] = &[
    rule(Much, "another machine", "host_fingerprint"),
    rule(
        Much,
        "another kind of machine",
        "machine virtualization processors processor_model",
    ),
    rule(Much, "what fits into the page cache", "memory_bytes"),
    rule(Much, "what the server can use of the machine", "limits.*"),
    rule(Hardly, "a name", "hostname"),
];

/// How likely a difference changes the figures, and why.
pub fn weigh(
    area: Area,
    name: &str,
    a: Option<&String>,
    b: Option<&String>,
) -> (Matters, &'static str) {
    if name == "server_version" && major(a) != major(b) {
        return (Much, "another major version of the server");
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
    rule.map_or((Maybe, "pgfsbench has no rule for it"), |rule| {
        (rule.matters, rule.why)
    })
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

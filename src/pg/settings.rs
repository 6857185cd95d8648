//! The settings `pgfsbench.*` of the server.

use std::ffi::CString;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};

use crate::{board::MOST_QUEUED, pg::guc};

static MAX_CLIENTS: GucSetting<i32> = GucSetting::<i32>::new(128);
static MAX_QUEUED: GucSetting<i32> = GucSetting::<i32>::new(MOST_QUEUED as i32);
static RESERVED_SPACE_MB: GucSetting<i32> = GucSetting::<i32>::new(512);
static PREPARED_DATA_LIMIT_MB: GucSetting<i32> = GucSetting::<i32>::new(16 * 1024);
static PREPARED_DATA_DIRECTORY: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(None);
static FIO: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static PROGRESS: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Defines them. From `_PG_init`.
pub fn define(preloading: bool) {
    // A setting of the postmaster can be defined while it starts only.
    if preloading {
        GucRegistry::define_int_guc(
            c"pgfsbench.max_clients",
            c"Sets the maximum number of clients of a benchmark run.",
            c"Each takes about 30 kB of shared memory. Their background workers are taken from max_worker_processes.",
            &MAX_CLIENTS,
            1,
            1024,
            GucContext::Postmaster,
            GucFlags::empty(),
        );
    }
    GucRegistry::define_int_guc(
        c"pgfsbench.max_queued",
        c"Sets how many benchmark runs may wait for their turn, in all databases.",
        c"A run that would be one more is refused.",
        &MAX_QUEUED,
        1,
        MOST_QUEUED as i32,
        GucContext::Sighup,
        GucFlags::empty(),
    );
    GucRegistry::define_int_guc(
        c"pgfsbench.reserved_space",
        c"Sets the free space that a benchmark run leaves on the filesystems of data and WAL.",
        c"A run that would need it is refused, and one that reaches it fails.",
        &RESERVED_SPACE_MB,
        1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"pgfsbench.prepared_data_limit",
        c"Sets how much data that were loaded once are kept, to be copied to targets.",
        c"Zero means that each run loads its data on its target. What was not used for the longest time goes first.",
        &PREPARED_DATA_LIMIT_MB,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MB,
    );
    define_paths();
    GucRegistry::define_bool_guc(
        c"pgfsbench.progress",
        c"Sends a NOTICE with the progress of a run to the session that waits for it.",
        c"Every 5 s in the first minute, then every 30 s.",
        &PROGRESS,
        GucContext::Userset,
        GucFlags::empty(),
    );
    if preloading {
        guc::reserve_prefix();
    }
}

/// Defines those that are paths on this machine.
fn define_paths() {
    GucRegistry::define_string_guc(
        c"pgfsbench.prepared_data_directory",
        c"Sets the directory in which data are kept that are copied to targets.",
        c"If empty, it is in the data directory, and left out of base backups.",
        &PREPARED_DATA_DIRECTORY,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"pgfsbench.fio",
        c"Sets the path of fio, the program of the workload io.",
        c"If empty, it is sought in the usual places. It has to belong to root, and no other user may write it.",
        &FIO,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
}

/// `pgfsbench.max_clients`.
pub fn max_clients() -> u32 {
    MAX_CLIENTS.get() as u32
}

/// `pgfsbench.max_queued`.
pub fn max_queued() -> usize {
    MAX_QUEUED.get() as usize
}

/// `pgfsbench.reserved_space`, in bytes.
pub fn reserved_space_bytes() -> u64 {
    RESERVED_SPACE_MB.get() as u64 * 1024 * 1024
}

/// `pgfsbench.prepared_data_limit`, in bytes.
pub fn prepared_data_limit_bytes() -> u64 {
    PREPARED_DATA_LIMIT_MB.get() as u64 * 1024 * 1024
}

/// `pgfsbench.prepared_data_directory`; None when it is empty.
pub fn prepared_data_directory() -> Option<String> {
    text_of(&PREPARED_DATA_DIRECTORY)
}

/// `pgfsbench.fio`; None when it is empty.
pub fn fio() -> Option<String> {
    text_of(&FIO)
}

fn text_of(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = setting.get()?.to_string_lossy().into_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// `pgfsbench.progress`.
pub fn progress() -> bool {
    PROGRESS.get()
}

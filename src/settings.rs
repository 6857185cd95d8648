//! The settings `pgfsbench.*` of the server.

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};

use crate::pg::config;

static MAX_CLIENTS: GucSetting<i32> = GucSetting::<i32>::new(128);
static RESERVED_SPACE_MB: GucSetting<i32> = GucSetting::<i32>::new(512);
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
        c"pgfsbench.reserved_space",
        c"Sets the free space that a benchmark run leaves on the filesystems of data and WAL.",
        c"A run that would need it is refused, and one that reaches it fails.",
        &RESERVED_SPACE_MB,
        1,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_MB,
    );
    GucRegistry::define_bool_guc(
        c"pgfsbench.progress",
        c"Sends a NOTICE with the progress of a run to the session that waits for it.",
        c"Every 5 s in the first minute, then every 30 s.",
        &PROGRESS,
        GucContext::Userset,
        GucFlags::empty(),
    );
    if preloading {
        config::reserve_prefix();
    }
}

/// `pgfsbench.max_clients`.
pub fn max_clients() -> u32 {
    MAX_CLIENTS.get() as u32
}

/// `pgfsbench.reserved_space`, in bytes.
pub fn reserved_space_bytes() -> u64 {
    RESERVED_SPACE_MB.get() as u64 * 1024 * 1024
}

/// `pgfsbench.progress`.
pub fn progress() -> bool {
    PROGRESS.get()
}

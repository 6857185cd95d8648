//! The cache in which the table is to be, and the filesystems on which that cannot be arranged.

use crate::{
    refusal::{Kind, Refusal},
    spec::{Cache, Facts},
    units::format_bytes,
};

/// Share of shared buffers that the table may take; other tables need some.
const BUFFERS_SHARE: f64 = 0.9;

/// Filesystems whose pages the kernel cannot be asked to forget: in memory, or with a cache of their own.
const NEVER_COLD: [&str; 4] = ["tmpfs", "ramfs", "zfs", "bcachefs"];
/// Filesystems of whose cache the kernel's page cache knows nothing (the ARC of zfs).
const NOT_IN_PAGE_CACHE: [&str; 1] = ["zfs"];

/// Refuses a table that is to be cold, or in the page cache, on a filesystem where that cannot be arranged, or cannot be seen. `is_cached_below`:
/// it lies in an image that is read through the page cache of another filesystem.
pub fn check_cache(cache: Cache, filesystem: &str, is_cached_below: bool) -> Result<(), Refusal> {
    if cache == Cache::Cold && is_cached_below {
        return Err(Refusal::new(
            Kind::NotInThisState,
            "the cache of a table on an image without direct I/O cannot be emptied",
        )
        .detail("The page cache of the filesystem below the loop device keeps what was read, and no run empties it before each scan.")
        .hint("Put the image where direct I/O is possible (not on tmpfs), use a device, or the option \"cache\": \"warm\"."));
    }
    let is_own = NOT_IN_PAGE_CACHE.contains(&filesystem);
    let (message, detail) = match cache {
        Cache::Cold if NEVER_COLD.contains(&filesystem) => (
            format!("the cache of a table on {filesystem} cannot be emptied"),
            "The kernel is asked to forget its pages, which does nothing for a filesystem in memory or with a cache of its own.",
        ),
        Cache::Warm if is_own => (
            format!("a table on {filesystem} is not kept in the page cache"),
            "The filesystem has a cache of its own, and the kernel does not tell what is in it.",
        ),
        Cache::Cold | Cache::Warm | Cache::SharedBuffers => return Ok(()),
    };
    let instead = if is_own { "shared_buffers" } else { "warm" };
    Err(Refusal::new(Kind::NotInThisState, message)
        .detail(detail)
        .hint(format!(
            "Use a target on another filesystem, or the option \"cache\": \"{instead}\"."
        )))
}

pub fn check_memory(cache: Cache, bytes: u64, facts: &Facts) -> Result<(), Refusal> {
    match cache {
        Cache::Cold => Ok(()),
        Cache::Warm => check_fits(cache, bytes, facts.memory_bytes),
        // A server on a target may have others.
        Cache::SharedBuffers if facts.server_is_another => Ok(()),
        Cache::SharedBuffers => check_fits(cache, bytes, facts.shared_buffers_bytes),
    }
}

/// Refuses a table that does not fit where it is to be: RAM or, so large are they, shared buffers. 0: not known.
pub fn check_fits(cache: Cache, bytes: u64, size: u64) -> Result<(), Refusal> {
    let (place, room) = match cache {
        Cache::Cold => return Ok(()),
        Cache::Warm => ("RAM", size),
        Cache::SharedBuffers => ("shared_buffers", (size as f64 * BUFFERS_SHARE) as u64),
    };
    if bytes <= room || room == 0 {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::NotInThisState,
        format!("the table does not fit in {place}"),
    )
    .detail(format!(
        "It takes {}, and {} can be used of {place}.",
        format_bytes(bytes),
        format_bytes(room)
    ))
    .hint(match cache {
        Cache::SharedBuffers => {
            "Raise shared_buffers, use a smaller scale or size, or options => '{\"cache\": \"warm\"}'."
        }
        Cache::Warm | Cache::Cold => {
            "Use a smaller scale or size, or options => '{\"cache\": \"cold\"}'."
        }
    }))
}

//! What differs between the versions of PostgreSQL.

use pgrx::pg_sys;

/// Timeouts that work in background workers too.
pub const TIMEOUTS: &[&str] = &[
    "lock_timeout",
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    "transaction_timeout",
];

/// Sets the handler of a signal.
///
/// # Safety
/// As pqsignal: the handler must do only what is allowed in one.
pub unsafe fn pqsignal(signal: u32, handler: unsafe extern "C-unwind" fn(i32)) {
    // SAFETY: the caller's duty.
    unsafe {
        // A macro in 18, of this name underneath.
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(signal as i32, Some(handler));
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(signal as i32, Some(handler));
    }
}

/// SLRU buffers that a checkpoint wrote; told since 18.
pub fn slru_written(_stats: &pg_sys::CheckpointStatsData) -> Option<i32> {
    #[cfg(feature = "pg18")]
    return Some(_stats.ckpt_slru_written);
    #[cfg(not(feature = "pg18"))]
    None
}

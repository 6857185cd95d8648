//! Flushes.

use crate::{finding_row::Text, texts::durability::Code, units::format_microseconds};

fn figures(contradictions: &[Code]) -> String {
    let words: Vec<String> = contradictions.iter().map(Code::with_figures).collect();
    words.join("; ")
}

pub fn fsync_too_fast(contradictions: &[Code]) -> Text {
    let hint = "Something keeps writes in memory (a host's cache, a controller): see the durability of the run, and declare power_loss_protected => true for the target if it keeps them when power is lost.";
    Text::new("fsync_too_fast", figures(contradictions), hint)
}

pub fn flushes_missing(contradictions: &[Code]) -> Text {
    let hint = "Either a layer drops what the server syncs, or the kernel does not count it: do not rely on commits here before a power cut was tried.";
    Text::new("flushes_missing", figures(contradictions), hint)
}

/// Medians of the flush probe, in microseconds.
pub fn flush_step(before: f64, after: f64) -> Text {
    let message = format!(
        "a flush took {} before the clients and {} after them (medians)",
        format_microseconds(before),
        format_microseconds(after)
    );
    let hint = match after > before {
        true => {
            "A cloud disk's burst credits are used up, it is throttled, or another program uses it: run it longer, and again at another time."
        }
        false => {
            "Another program used the disk before the clients began, or a cache has taken over since: run it again on a quiet machine."
        }
    };
    Text::new("flush_step", message, hint)
}

pub fn virtual_disk_without_flush(machine: &str, is_wal: bool) -> Text {
    let of = if is_wal { " of WAL" } else { "" };
    let message = format!(
        "the virtual disk{of} ({machine}) says that it has no write cache, so that nothing is flushed"
    );
    let hint =
        "Whether a commit survives a power cut is decided by the host: see how it caches the disk.";
    Text::new("virtual_disk_without_flush", message, hint)
}

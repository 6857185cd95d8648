//! Parallel scans.

use crate::{
    finding_row::Text,
    spec::Cache,
    units::{format_bytes, format_count},
};

fn list(degrees: &[u32]) -> String {
    let degrees: Vec<String> = degrees.iter().map(u32::to_string).collect();
    degrees.join(", ")
}

pub fn workers_not_launched(degrees: &[u32]) -> Text {
    let message = format!("not all workers were there at degree {}", list(degrees));
    let hint = "Those scans do not count, and are not part of the curve: raise max_worker_processes and max_parallel_workers, or see who else uses them.";
    Text::new("workers_not_launched", message, hint)
}

/// Scans that did not find the cache that they should. `least` and `most` are parts of the table, as they are written.
#[derive(Clone, Debug)]
pub struct Misses {
    pub cache: Cache,
    pub scans: usize,
    pub of: usize,
    pub least: String,
    pub most: String,
}

/// The consequence of such scans.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Only the device is known to have read, perhaps for others.
    Doubtful,
    /// All were made again.
    MadeAgain,
    /// Degrees with fewer repeats than asked for, and degrees without any scan.
    Missing { fewer: Vec<u32>, none: Vec<u32> },
}

impl Misses {
    fn words(&self) -> String {
        let of = format_count(self.of as u64, "scan");
        let of = format!("in {} of {of} from", self.scans);
        let (least, most) = (&self.least, &self.most);
        match self.cache {
            Cache::Cold => format!("{of} a cold cache as little as {least} came from storage"),
            Cache::Warm => format!("{of} a warm cache up to {most} came from storage"),
            Cache::SharedBuffers => format!("{of} shared buffers up to {most} was not there"),
        }
    }
}

pub fn cache_not_as_asked(misses: &Misses, outcome: &Outcome) -> Text {
    let seen = misses.words();
    let message = match outcome {
        Outcome::Doubtful => format!("{seen}, or was read for others; they count"),
        Outcome::MadeAgain => format!("{seen}; they do not count, and were made again"),
        Outcome::Missing { fewer, none } => {
            let parts = [
                ("fewer repeats than asked for are", fewer),
                ("no scan is", none),
            ];
            let parts = parts.iter().filter(|(_, degrees)| !degrees.is_empty());
            let parts = parts.map(|(what, at)| format!("{what} left at degree {}", list(at)));
            let parts = parts.collect::<Vec<_>>().join(", and ");
            format!("{seen}; they do not count, and even made again {parts}")
        }
    };
    let hint = match (outcome, misses.cache) {
        (Outcome::Doubtful, _) => {
            "Only the device is known to have read: measure on one that no other program uses."
        }
        (_, Cache::Cold) => {
            "Something else keeps what was read: another program reads the same files, or there is a cache of which the kernel does not tell; or the filesystem compresses, of which its mount options do not tell."
        }
        (_, Cache::Warm) => {
            "The kernel has given pages of the table to others while it was scanned, or another program empties the page cache: leave more memory free, or use a smaller scale. fsbench.scan tells which scans these are."
        }
        (_, Cache::SharedBuffers) => {
            "Other sessions of the server need shared buffers, too: leave it alone, or raise shared_buffers."
        }
    };
    Text::new("cache_not_as_asked", message, hint)
}

/// Scans during which the server's I/O workers read for others, of all scans, and the most that they read (bytes).
pub fn read_for_others(scans: usize, of: usize, most: u64) -> Text {
    let message = format!(
        "in {scans} of {} the server's I/O workers read for others, too, up to {}",
        format_count(of as u64, "scan"),
        format_bytes(most)
    );
    let hint = "What came from storage for these scans is known of the device alone: keep others away from the server, or set io_method = sync, with which each process reads for itself.";
    Text::new("read_for_others", message, hint)
}

/// Speeds in GB a second: of the scans, and of so many processes that only read.
pub fn cpu_bound(scan: f64, read: f64, readers: u32) -> Text {
    let by = match readers {
        1 => "1 process".to_owned(),
        readers => format!("{readers} processes"),
    };
    let message = format!(
        "scans were bound by the processor: {scan:.2} GB/s at the best degree, and {read:.2} GB/s when {by} read the same files without the executor"
    );
    let hint = "The knee is that of processors and memory, not of the filesystem; fsbench.scan_read has the speed of reading alone.";
    Text::new("cpu_bound", message, hint)
}

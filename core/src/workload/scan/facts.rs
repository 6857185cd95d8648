//! Facts about the scans of a run.

use serde::{Deserialize, Serialize};

use super::BlocksFrom;
use crate::spec::Cache;

/// Facts from the tables of scans. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanFacts {
    /// Degrees of which a scan does not count, since not all of its workers were there.
    pub degrees_not_launched: Option<Vec<u32>>,
    /// Speed of the scans at the best degree, in 10^9 bytes per second.
    pub gb_per_second: Option<f64>,
    /// Speed of reading its files without the executor, in 10^9 bytes per second: in pages of the server, by at most as many processes
    /// as shared that scan.
    pub read_gb_per_second: Option<f64>,
    /// Processes that read them.
    pub readers: Option<u32>,
    /// The cache that was asked for.
    pub cache: Option<Cache>,
    /// The scans that had all their workers. What was read is not known where a filesystem compresses.
    pub scans: Option<Vec<ScanMade>>,
}

/// A scan, and where the table came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanMade {
    /// Workers asked for.
    pub degree: u32,
    /// Which repeat of that degree; several scans when the cache was not as asked.
    pub repeat: u32,
    /// True if it counts.
    pub used: bool,
    /// Bytes that the server's I/O workers read for others meanwhile. None when that was nothing.
    pub for_others: Option<u64>,
    #[serde(flatten)]
    pub blocks: BlocksFrom,
}

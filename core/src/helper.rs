//! The messages between the extension and `pgfsbench-helper`, and all that the helper accepts. The helper's root part believes
//! nothing that comes from a database: only these types reach it, and each checks itself when it is made.
//!
//! - [`request`]: requests, typed, with their limits.
//! - [`marks`]: serial number and the like, which tell a device from another.
//! - [`effective`]: are the mount options that were asked for in force?
//! - [`geometry`]: block sizes, log and stripes, from the output of mkfs.
//! - [`filesystem`]: the filesystems that are known, their programs and packages.
//! - [`layout`]: how several devices become one place for a filesystem.
//! - [`options`]: which mkfs and mount options each of them accepts.
//! - [`settings`]: settings of the block device and of the kernel.
//! - [`record`]: recorded writes, and power cuts made from them.
//! - [`protocol`]: the lines between the helper's two processes.

pub mod effective;
pub mod error_excerpt;
pub mod filesystem;
pub mod geometry;
pub mod layout;
pub mod marks;
pub mod options;
pub mod protocol;
pub mod record;
pub mod request;
pub mod settings;

pub use filesystem::Filesystem;
pub use layout::{Bitmap, Consistency, InitialSync, Layout, LayoutOptions};
pub use marks::Marks;
pub use request::{DeviceRequest, Log, Name, Prepare, Request, Storage};
pub use settings::{BlockSettings, KernelSettings, SsdState};

/// The name that stands for "no directory for images" among what a configuration does not allow.
pub const IMAGES: &str = "images";

/// The first line of the helper's configuration that settings of the whole machine take and that it lacks. `not_allowed` names all lines that
/// it lacks.
pub fn missing_line(
    kernel_settings: bool,
    drop_caches: Option<bool>,
    not_allowed: &[String],
) -> Option<&'static str> {
    let wanted = [
        ("kernel_settings", kernel_settings),
        ("drop_caches", drop_caches == Some(true)),
    ];
    let is_missing = |name: &str| not_allowed.iter().any(|line| line == name);
    let mut missing = wanted
        .into_iter()
        .filter(|(name, wanted)| *wanted && is_missing(name));
    missing.next().map(|(name, _)| name)
}

/// The end of a sentence that tells what to add to the helper's configuration, so that it allows what is the whole machine's.
pub fn line_that_allows(name: &str) -> String {
    format!(
        "the line: {name} = true, above its first line in brackets; then restart pgfsbench-helper"
    )
}

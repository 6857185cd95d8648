//! What the extension and `pgfsbench-helper` say to each other, and what the helper accepts at all. The helper's root part
//! believes nothing that comes from a database: these types are all that reaches it, and each checks itself when it is made.
//!
//! - [`request`]: what is asked for, typed, with its limits.
//! - [`marks`]: what tells a device from another.
//! - [`effective`]: whether the mount options that were asked for are in force.
//! - [`geometry`]: what mkfs has made of it: block sizes, log, stripes.
//! - [`filesystem`]: the filesystems that are known, their programs and packages.
//! - [`options`]: which mkfs and mount options each of them accepts.
//! - [`settings`]: settings of the block device and of the kernel.
//! - [`protocol`]: the lines between the helper's two processes.

pub mod effective;
pub mod essence;
pub mod filesystem;
pub mod geometry;
pub mod marks;
pub mod options;
pub mod protocol;
pub mod request;
pub mod settings;

pub use filesystem::Filesystem;
pub use marks::Marks;
pub use request::{DeviceRequest, Log, Name, Prepare, Request, Storage};
pub use settings::{BlockSettings, KernelSettings, SsdState};

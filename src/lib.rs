//! pgfsbench: benchmarks of filesystems, run inside the PostgreSQL server.
//!
//! Floors, from the roof down; a file imports only what stands on a lower floor or in its own room, and no files import each other
//! in a circle (`tools/check arrows`). `unsafe` is allowed in `pg` only, and in `entry`, whose functions the server calls by name.
//!
//! ```text
//! entry
//! api
//! process
//! workload
//! bench
//! run
//! watch
//! target
//! store host
//! pg
//! board
//! errors clock random
//! ```
#![deny(unsafe_code)]

mod api;
mod bench;
mod board;
mod clock;
mod entry;
mod errors;
mod host;
mod pg;
mod process;
mod random;
mod run;
mod store;
mod target;
mod watch;
mod workload;

pgrx::pg_module_magic!(name, version);

//! The only place where unsafe code is allowed: small safe wrappers around what PostgreSQL offers in C.
#![allow(unsafe_code)]

pub mod arguments;
pub mod array;
#[cfg(since = "18")]
mod backend_io;
pub mod catalog;
pub mod checkpoint_hook;
pub mod config;
pub mod conninfo;
pub mod extension_statements;
pub mod extents;
pub mod guc;
pub mod index_pages;
pub mod libpq;
pub mod load;
pub mod object_access;
pub mod own_memory;
pub mod own_reads;
pub mod page_cache;
pub mod pages;
pub mod passwd;
pub mod plan;
pub mod points;
pub mod process;
pub mod relation;
pub mod report;
pub mod scan;
pub mod scan_version;
pub mod script_session;
pub mod segment;
pub mod session;
pub mod settings;
pub mod shared_text;
pub mod shmem;
pub mod sql;
pub mod stat_io;
pub mod sysv;
pub mod text;
pub mod usage;
pub mod utility;
pub mod version;
pub mod wal_sync;
pub mod xact;

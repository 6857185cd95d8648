//! Gathers facts of the server for the report.

use pgfsbench_core::doctor::{
    report::Line,
    server::{Facts, FreeSpace, check as judge},
};

use super::super::guard;
use crate::{
    errors::{Fault, read_json},
    host::{
        location::{self, Location},
        machine,
    },
    pg::{settings, shmem, sql},
    run::{preflight, worker_slots},
    watch::{statements, surroundings::OldXmin},
};

/// The lines about the server.
pub fn check(extension: &str) -> Result<Vec<Line>, Fault> {
    let server = sql::read(include_str!("queries/server.sql"), &[])?;
    let room = |place: Option<Location>| {
        let place = place?;
        let (free, size) = place.space()?;
        Some(FreeSpace {
            directory: place.directory,
            free,
            size,
        })
    };
    let preload = match shmem::board() {
        Some(_) => None,
        None => Some(guard::preload_statement()?),
    };
    Ok(judge(&Facts {
        server: read_json("server", &server.unwrap_or_default())?,
        state: preflight::server_state()?,
        extension: extension.to_owned(),
        library: guard::VERSION,
        preload,
        background_workers: worker_slots::background_workers(&[])?,
        memory: machine::usable().memory_bytes,
        rings: preflight::own_rings()?,
        locked_memory_limit: preflight::locked_memory_limit(),
        xmin_holders: OldXmin::now(0)?,
        statements: statements::expected()?,
        data: room(location::data_location()),
        wal: room(location::wal_location()),
        reserve: settings::reserved_space_bytes(),
    }))
}

//! Maintenance of a database, timed after a run: bulk load, index build, VACUUM, CHECKPOINT. They suffer
//! most from the settings of the kernel's dirty memory.

use pgfsbench_core::{run::row::Maintenance, spec::Spec};

use super::script;
use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{points::point, sql, utility, xact},
};

/// Name of the table that is loaded.
pub const BULK: &str = "pgbench_accounts_bulk";

/// The steps, in their order.
pub const STEPS: [&str; 4] = ["bulk_load", "index_build", "vacuum", "checkpoint"];

/// Carries the steps out, in the work database. `looked` gets the number of steps that are done, often.
pub fn carry_out(
    spec: &Spec,
    mut looked: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<Vec<Maintenance>, Fault> {
    let mut steps = Vec::new();
    for (index, step) in STEPS.into_iter().enumerate() {
        let done = index as u64;
        looked(done)?;
        point!("maintenance after {done} steps");
        // Vacuum may shorten the table.
        let before = bytes_of(step)?;
        let wal = wal_position()?;
        let began = clock::now_ns();
        match step {
            "bulk_load" => {
                xact::transaction(|| script::load_accounts(spec, BULK, |_| looked(done)))?
            }
            "index_build" => {
                utility::run(&[&format!("ALTER TABLE public.{BULK} ADD PRIMARY KEY (aid)")])?
            }
            "vacuum" => {
                for table in script::TABLES {
                    looked(done)?;
                    utility::run(&[&format!("VACUUM public.{table}")])?;
                }
            }
            _ => utility::run(&["CHECKPOINT"])?,
        }
        let ms = clock::ms(began, clock::now_ns());
        steps.push(Maintenance {
            position: index + 1,
            step: step.into(),
            ms,
            bytes: match step {
                "vacuum" => before,
                _ => bytes_of(step)?,
            },
            wal_bytes: wal_position()? - wal,
        });
    }
    if spec.keep {
        // A kept database has pgbench's tables only.
        utility::run(&[&format!("DROP TABLE public.{BULK}")])?;
    }
    Ok(steps)
}

/// Bytes that a step is about: the table, its key, or the tables and indexes that are vacuumed. What a checkpoint writes is
/// not known here.
fn bytes_of(step: &str) -> Result<Option<i64>, Fault> {
    let bulk = format!("to_regclass('public.{BULK}')");
    let what = match step {
        "bulk_load" => format!("pg_table_size({bulk})"),
        "index_build" => format!("pg_indexes_size({bulk})"),
        "vacuum" => {
            let sizes = script::TABLES.map(|t| format!("pg_total_relation_size('public.{t}')"));
            sizes.join(" + ")
        }
        _ => return Ok(None),
    };
    let bytes = xact::transaction(|| sql::read(&format!("SELECT ({what})::bigint"), &[]))?;
    Ok(bytes.and_then(|bytes| bytes.parse().ok()))
}

fn wal_position() -> Result<i64, Fault> {
    let text = xact::transaction(|| {
        sql::read(
            "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint",
            &[],
        )
    })?;
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "no WAL position"))
}

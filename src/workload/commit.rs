//! An INSERT of one row and a COMMIT, by each client.

use std::sync::atomic::Ordering::Relaxed;

use pgfsbench_core::{
    board::ClientSlot,
    random::Stream,
    spec::Spec,
    verification::Check,
    workload::{
        commit::{Rows, checks},
        mix::{Choice, Counted, Outcome},
    },
};
use serde_json::Value;

use super::{
    ClientContext, Found, Progress,
    transactions::{Transaction, Transactions},
};
use crate::{
    errors::{Fault, unreadable},
    pg::{
        plan::{Connection, Plan, Type},
        sql,
    },
};

/// Without an index: nothing but the row is written.
const COLUMNS: &str = "client int NOT NULL, number bigint NOT NULL";

const ROWS: &str = include_str!("commit/queries/rows.sql");

pub struct Commit;

fn rows(found: &Value) -> Result<Rows, Fault> {
    serde_json::from_value(found.clone()).map_err(|e| unreadable("rows", e))
}

impl Transactions for Commit {
    type Transaction<'a> = Insert<'a>;

    fn names(&self) -> &'static [&'static str] {
        &["commit"]
    }

    fn rows(&self, _spec: &Spec) -> u64 {
        0
    }

    fn load(&self, spec: &Spec, _progress: Progress) -> Result<(), Fault> {
        let unlogged = match spec.options.unlogged {
            true => "UNLOGGED ",
            false => "",
        };
        sql::write(
            &format!("CREATE {unlogged}TABLE public.fsbench_commit ({COLUMNS})"),
            &[],
        )?;
        Ok(())
    }

    fn after_load(&self, _spec: &Spec) -> &'static [&'static str] {
        &["VACUUM (ANALYZE) public.fsbench_commit"]
    }

    fn question(&self, _spec: &Spec) -> &'static str {
        ROWS
    }

    fn checks(&self, _spec: &Spec, found: &Value, committed: &[u64]) -> Result<Vec<Check>, Fault> {
        Ok(checks(
            &rows(found)?,
            committed.iter().sum(),
            Some(committed),
        ))
    }

    fn first_transaction(&self) -> &'static str {
        "UPDATE public.fsbench_commit SET number = number WHERE ctid = '(0,1)'"
    }

    fn compare(
        &self,
        _spec: &Spec,
        found: &Value,
        committed: u64,
        _results: &Value,
    ) -> Result<Found, Fault> {
        let rows = rows(found)?;
        Ok(Found {
            transactions: Some(rows.rows),
            checks: checks(&rows, committed, None),
        })
    }
}

/// The transaction of one client.
pub struct Insert<'a> {
    slot: &'a ClientSlot,
    client: i64,
    insert: Plan,
}

impl<'a> Transaction<'a> for Insert<'a> {
    fn prepare(
        context: &ClientContext<'a>,
        _spec: &Spec,
        spi: &Connection,
        _counted: Counted<'static>,
    ) -> Result<Self, Fault> {
        Ok(Self {
            slot: context.slot,
            client: context.index.into(),
            insert: spi.prepare(
                "INSERT INTO public.fsbench_commit (client, number) VALUES ($1, $2)",
                &[Type::Int, Type::BigInt],
            )?,
        })
    }

    /// The number of the row is the number of the committed transaction. A failed transaction leaves no gap.
    #[inline]
    fn run(
        &mut self,
        _choice: Choice,
        spi: &Connection,
        _random: &mut Stream,
    ) -> Result<Outcome, Fault> {
        let number = self.slot.committed.load(Relaxed) as i64 + 1;
        self.insert.one_row(spi, &[self.client, number])?;
        Ok(Outcome::Committed)
    }
}

//! Prepared statements of the clients: kept SPI plans with fixed argument types.

use std::ffi::CString;

use pgrx::{FromDatum, IntoDatum, pg_sys};

use crate::errors::{Fault, sqlstate};

/// The type of an argument.
#[derive(Clone, Copy)]
pub enum Type {
    /// int4
    Int,
    /// int8
    BigInt,
}

/// A prepared statement that lives as long as the process.
pub struct Plan {
    plan: pg_sys::SPIPlanPtr,
    sql: &'static str,
    arguments: usize,
}

/// An open SPI connection in a transaction.
pub struct Connection(());

impl Connection {
    /// Opens SPI. In a transaction; [`Connection::close`] ends it, or the transaction's abort.
    #[inline]
    pub fn open() -> Self {
        // SAFETY: in a transaction, as every caller is; closed by `close` or by the abort.
        unsafe { pg_sys::SPI_connect() };
        Self(())
    }

    /// Closes SPI.
    #[inline]
    pub fn close(self) {
        // SAFETY: opened by `open`.
        unsafe { pg_sys::SPI_finish() };
    }

    /// Prepares a statement and keeps it.
    pub fn prepare(&self, sql: &'static str, types: &[Type]) -> Result<Plan, Fault> {
        let text = CString::new(sql).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
        let mut oids: Vec<pg_sys::Oid> = types
            .iter()
            .map(|t| match t {
                Type::Int => pg_sys::INT4OID,
                Type::BigInt => pg_sys::INT8OID,
            })
            .collect();
        // SAFETY: SPI is connected; the texts and types live until the call returns, and the plan is moved out of the
        // transaction's memory by SPI_keepplan.
        let plan = unsafe {
            let plan = pg_sys::SPI_prepare(text.as_ptr(), oids.len() as i32, oids.as_mut_ptr());
            if plan.is_null() || pg_sys::SPI_keepplan(plan) != 0 {
                return Err(Fault::new(
                    sqlstate::INTERNAL,
                    format!("could not prepare: {sql}"),
                ));
            }
            plan
        };
        Ok(Plan {
            plan,
            sql,
            arguments: types.len(),
        })
    }
}

impl Plan {
    /// Executes the statement with a new snapshot, and checks that it concerned exactly one row.
    #[inline]
    pub fn one_row(&self, _spi: &Connection, arguments: &[i64]) -> Result<(), Fault> {
        debug_assert_eq!(arguments.len(), self.arguments);
        let mut values = [pg_sys::Datum::null(); 4];
        for (value, argument) in values.iter_mut().zip(arguments) {
            // An int4 in a Datum is the low half of an int8 of the same value.
            *value = pg_sys::Datum::from(*argument);
        }
        // SAFETY: SPI is connected in a transaction; the plan was kept; the values live until the call returns; the
        // snapshot is popped again, or by the abort of the transaction.
        let (code, rows) = unsafe {
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            let code = pg_sys::SPI_execute_plan(
                self.plan,
                values.as_mut_ptr(),
                std::ptr::null(),
                false,
                0,
            );
            pg_sys::PopActiveSnapshot();
            (code, pg_sys::SPI_processed)
        };
        if code < 0 || rows != 1 {
            return Err(Fault::new(
                sqlstate::CORRUPTED,
                format!("a statement of the workload concerned {rows} rows instead of one"),
            )
            .detail(format!("SPI code {code}; {}", self.sql)));
        }
        Ok(())
    }

    /// Like [`Plan::one_row`], for a query of one int4 column: its value.
    #[inline]
    pub fn one_int(&self, spi: &Connection, arguments: &[i64]) -> Result<i32, Fault> {
        self.one_row(spi, arguments)?;
        // SAFETY: the query has returned one row, which lives in SPI's memory until SPI_finish.
        let value = unsafe {
            let table = pg_sys::SPI_tuptable;
            let mut null = false;
            let datum = pg_sys::SPI_getbinval(*(*table).vals, (*table).tupdesc, 1, &mut null);
            i32::from_datum(datum, null)
        };
        value.ok_or_else(|| Fault::new(sqlstate::CORRUPTED, "a balance is null"))
    }
}

/// A text as a Datum in the current memory context.
pub fn text_datum(text: &str) -> pg_sys::Datum {
    text.into_datum().unwrap_or(pg_sys::Datum::null())
}

//! Prepared statements of the clients: kept SPI plans with fixed argument types.

use std::{ffi::CString, marker::PhantomData};

use pgrx::{FromDatum, IntoDatum, pg_sys};

use crate::errors::{Fault, sqlstate};

/// The type of an argument.
#[derive(Clone, Copy)]
pub enum Type {
    /// int4
    Int,
    /// int8
    BigInt,
    /// text
    Text,
    /// numeric
    Numeric,
    /// int4[]
    Ints,
}

/// An argument of a statement.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// An argument of type int or bigint.
    Int(i64),
    Text(&'a str),
    /// Hundredths, of a parameter of type numeric.
    Hundredths(i64),
    Ints(&'a [i32]),
}

impl Value<'_> {
    /// The value as a Datum, in the current memory context.
    fn datum(self) -> pg_sys::Datum {
        match self {
            // An int4 in a Datum is the low half of an int8 of the same value.
            Self::Int(value) => pg_sys::Datum::from(value),
            Self::Text(text) => text_datum(text),
            // SAFETY: in a transaction; the server's own function makes a value in the current memory context.
            Self::Hundredths(value) => unsafe {
                pg_sys::Datum::from(pg_sys::int64_div_fast_to_numeric(value, 2))
            },
            Self::Ints(values) => {
                let mut values: Vec<pg_sys::Datum> =
                    values.iter().copied().map(pg_sys::Datum::from).collect();
                // SAFETY: as many values as the array gets; an int4 is passed by value, has 4 bytes, and their alignment.
                unsafe {
                    pg_sys::Datum::from(pg_sys::construct_array(
                        values.as_mut_ptr(),
                        values.len() as i32,
                        pg_sys::INT4OID,
                        4,
                        true,
                        pg_sys::TYPALIGN_INT as std::ffi::c_char,
                    ))
                }
            }
        }
    }
}

/// The most parameters of a statement.
const MOST_ARGUMENTS: usize = 8;

/// Rows that a statement has returned or changed. They live until SPI is closed.
pub struct Rows<'a> {
    table: *mut pg_sys::SPITupleTable,
    /// How many they are.
    pub count: usize,
    _spi: PhantomData<&'a Connection>,
}

impl Rows<'_> {
    /// An integer of any length in a row and a column, both from 0; None if it is null.
    #[inline]
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        if self.table.is_null() || row >= self.count {
            return None;
        }
        // SAFETY: the query has returned that row, which lives in SPI's memory until SPI_finish. A column that it does not have is
        // null. Integers are passed by value, with their sign.
        unsafe {
            let mut null = false;
            let tuple = *(*self.table).vals.add(row);
            let descriptor = (*self.table).tupdesc;
            let datum = pg_sys::SPI_getbinval(tuple, descriptor, column as i32 + 1, &mut null);
            (!null).then(|| datum.value() as i64)
        }
    }
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
                Type::Text => pg_sys::TEXTOID,
                Type::Numeric => pg_sys::NUMERICOID,
                Type::Ints => pg_sys::INT4ARRAYOID,
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

    /// Executes the statement with a new snapshot. Integers are the only columns that can be read of its rows.
    #[inline]
    pub fn rows<'a>(
        &self,
        _spi: &'a Connection,
        arguments: &[Value<'_>],
    ) -> Result<Rows<'a>, Fault> {
        debug_assert_eq!(arguments.len(), self.arguments);
        let mut values = [pg_sys::Datum::null(); MOST_ARGUMENTS];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = argument.datum();
        }
        // SAFETY: as in `one_row`; the arguments are of the types that the statement was prepared with, the caller's duty.
        let (code, count, table) = unsafe {
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            let code = pg_sys::SPI_execute_plan(
                self.plan,
                values.as_mut_ptr(),
                std::ptr::null(),
                false,
                0,
            );
            pg_sys::PopActiveSnapshot();
            (code, pg_sys::SPI_processed, pg_sys::SPI_tuptable)
        };
        if code < 0 {
            return Err(Fault::new(
                sqlstate::INTERNAL,
                format!("a statement of the workload failed with SPI code {code}"),
            )
            .detail(self.sql));
        }
        Ok(Rows {
            table,
            count: count as usize,
            _spi: PhantomData,
        })
    }

    /// Like [`Plan::rows`], where exactly one row must be concerned.
    #[inline]
    pub fn one<'a>(&self, spi: &'a Connection, arguments: &[Value<'_>]) -> Result<Rows<'a>, Fault> {
        let rows = self.rows(spi, arguments)?;
        match rows.count {
            1 => Ok(rows),
            count => Err(Fault::new(
                sqlstate::CORRUPTED,
                format!("a statement of the workload concerned {count} rows instead of one"),
            )
            .detail(self.sql)),
        }
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
fn text_datum(text: &str) -> pg_sys::Datum {
    text.into_datum().unwrap_or(pg_sys::Datum::null())
}

//! Rows of tables that are loaded past SQL.

use std::ops::Range;

/// A value of a row that is made anew for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A smallint or an integer.
    Int(i64),
    /// A numeric: a whole number of its last decimals, and how many decimals there are.
    Decimal(i64, u8),
    /// A text: its place in the text of the row.
    Text(Range<usize>),
    /// The time of the load: the beginning of 2000, in UTC.
    Loaded,
    Null,
}

/// A row of values that differ in length. Its memory is used again for the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub cells: Vec<Cell>,
    pub text: Vec<u8>,
}

/// A value of a row whose copies are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// An integer, 0.
    Int,
    /// A bigint, 0.
    BigInt,
    /// A value of varying length, such as a text: its bytes behind the header.
    Bytes(Vec<u8>),
    Null,
}

//! Experiments: which runs are made, in which order, when they end, and what is said of them.
//!
//! Everything here is a pure function of what is stored of an experiment ([`state::State`]): the extension reads that, asks what is
//! to be done next ([`steps::next`]), does it, and stores it. So an experiment goes on after any crash from where its tables
//! stand, and what [`answer`] says of it can be said again at any time.

pub mod answer;
pub mod arguments;
pub mod conditions;
pub mod devices;
pub mod factors;
pub mod limits;
pub mod metric;
pub mod neighbours;
pub mod plan;
pub mod recommend;
pub mod row;
pub mod state;
pub mod steps;
pub mod throttled;
pub mod undeclared;
pub mod variants;
pub mod wal;

#[cfg(test)]
mod tests;

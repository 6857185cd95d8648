//! The transactions of workload `commit`, each with the time of its acknowledgment. The times are kept outside of the target, so that they
//! survive each power cut.

use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
};

use pgfsbench_core::{
    random::Stream,
    spec::Spec,
    verification::Check,
    workload::{
        mix::{Choice, Counted, Outcome},
        power_cut::MOST_ACKNOWLEDGMENTS,
    },
};
use serde_json::Value;

use super::{
    ClientContext, Found,
    commit::{Commit, Insert},
    transactions::{Transaction, Transactions},
};
use crate::{
    clock,
    errors::{Fault, of_file, sqlstate},
    pg::{config, plan::Connection},
    target::server::power_cut::acknowledgments_file,
};

pub struct PowerCut;

impl Transactions for PowerCut {
    type Transaction<'a> = Acknowledged<'a>;

    fn names(&self) -> &'static [&'static str] {
        &["power-cut"]
    }

    fn rows(&self, spec: &Spec) -> u64 {
        Transactions::rows(&Commit, spec)
    }

    fn load(
        &self,
        spec: &Spec,
        progress: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Commit.load(spec, progress)
    }

    fn after_load(&self, spec: &Spec) -> &'static [&'static str] {
        Commit.after_load(spec)
    }

    fn question(&self, spec: &Spec) -> &'static str {
        Transactions::question(&Commit, spec)
    }

    fn checks(&self, spec: &Spec, found: &Value, committed: &[u64]) -> Result<Vec<Check>, Fault> {
        Commit.checks(spec, found, committed)
    }

    fn first_transaction(&self) -> &'static str {
        Transactions::first_transaction(&Commit)
    }

    fn compare(
        &self,
        spec: &Spec,
        found: &Value,
        committed: u64,
        results: &Value,
    ) -> Result<Found, Fault> {
        Transactions::compare(&Commit, spec, found, committed, results)
    }
}

/// The transaction of one client, and its file of acknowledgments.
pub struct Acknowledged<'a> {
    insert: Insert<'a>,
    times: BufWriter<File>,
    kept: usize,
    fault: Option<Fault>,
}

impl<'a> Transaction<'a> for Acknowledged<'a> {
    fn prepare(
        context: &ClientContext<'a>,
        spec: &Spec,
        spi: &Connection,
        counted: Counted<'static>,
    ) -> Result<Self, Fault> {
        let directory = config::shown("unix_socket_directories")?.unwrap_or_default();
        let path = acknowledgments_file(directory.trim_matches('"').as_ref(), context.index);
        // A new file, so that no link of another user is followed.
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|e| of_file("create", &path, &e))?;
        Ok(Self {
            insert: Insert::prepare(context, spec, spi, counted)?,
            times: BufWriter::new(file),
            kept: 0,
            fault: None,
        })
    }

    #[inline]
    fn run(
        &mut self,
        choice: Choice,
        spi: &Connection,
        random: &mut Stream,
    ) -> Result<Outcome, Fault> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.insert.run(choice, spi, random),
        }
    }

    /// The time is taken after the acknowledgment, so that no cut asks for a commit that was not acknowledged.
    #[inline]
    fn ended(&mut self, _choice: Choice, outcome: Outcome, _is_measured: bool) {
        if outcome != Outcome::Committed || self.kept == MOST_ACKNOWLEDGMENTS {
            return;
        }
        self.kept += 1;
        if let Err(error) = self.times.write_all(&clock::now_ns().to_le_bytes()) {
            self.fault = Some(Fault::new(
                sqlstate::IO,
                format!("could not write the times of acknowledgments: {error}"),
            ));
        }
    }
}

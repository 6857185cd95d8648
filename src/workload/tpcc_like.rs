//! The workload of five transaction types on the nine tables of TPC-C.

mod client;
mod load;

use std::sync::atomic::Ordering::{Acquire, Release};

use pgfsbench_core::{
    spec::Spec,
    verification::{self, Check},
    workload::{
        mix::Mix,
        tpcc_like::{
            self, ClientResult, ConditionCount, Constants, Table, TableContents, TpccLikeOptions,
            WORDS,
        },
    },
};
use serde_json::Value;

use super::{
    Found, OwnChecks, Progress,
    transactions::{ResultRows, Transactions},
};
use crate::{
    bench::Run,
    errors::{Fault, read_json, unreadable},
    pg::{segment::Segment, sql},
};

const CONDITIONS: &str = include_str!("tpcc_like/queries/conditions.sql");
const ALL_CONDITIONS: &str = concat!(
    "SELECT jsonb_set(c, '{conditions}', c -> 'conditions' || e) FROM (",
    include_str!("tpcc_like/queries/conditions.sql"),
    ") AS c (c), (",
    include_str!("tpcc_like/queries/expensive_conditions.sql"),
    ") AS e (e)"
);
const CONDITION_11_LOADED: &str = include_str!("tpcc_like/queries/condition_11_loaded.sql");

/// The workload.
pub struct TpccLike;

fn contents(found: &Value) -> Result<TableContents, Fault> {
    serde_json::from_value(found.clone()).map_err(|e| unreadable("consistency conditions", e))
}

/// The counts of each client.
fn words(run: &Run, kept: &[Segment]) -> Vec<[u64; WORDS]> {
    let [words] = kept else {
        return Vec::new();
    };
    let words = words.words(WORDS * run.spec.clients as usize);
    let of_client = |words: &[std::sync::atomic::AtomicU64]| {
        std::array::from_fn(|word| words[word].load(Acquire))
    };
    words.chunks_exact(WORDS).map(of_client).collect()
}

impl Transactions for TpccLike {
    type Transaction<'a> = client::Terminal;

    fn names(&self) -> &'static [&'static str] {
        &["tpcc-like"]
    }

    fn begin(&self, run: &mut Run) -> Result<Vec<Segment>, Fault> {
        let words = Segment::of_words(WORDS * run.spec.clients as usize);
        run.board.run.words.store(words.handle(), Release);
        Ok(vec![words])
    }

    fn mix(&self, spec: &Spec, _kept: &[Segment]) -> Result<Option<Mix>, Fault> {
        Ok(Some(spec.options.own::<TpccLikeOptions>().mix.mix()))
    }

    fn own_results(&self, run: &Run, kept: &[Segment]) -> Option<ResultRows> {
        let constants = Constants::of_seed(run.spec.seed);
        let rows: Vec<ClientResult> = (words(run, kept).into_iter().enumerate())
            .map(|(client, words)| ClientResult::of(client, words, constants))
            .collect();
        Some(ResultRows::of(&rows))
    }

    fn rows(&self, spec: &Spec) -> u64 {
        let rows = Table::ALL.map(|table| table.rows(spec.scale.into()));
        rows.into_iter().sum()
    }

    fn made(&self, _spec: &Spec) -> Vec<String> {
        let with_key = |table: Table| [table.name().to_owned(), format!("{}_pkey", table.name())];
        let keys = Table::ALL.into_iter().flat_map(with_key);
        keys.chain(load::INDEXES.map(str::to_owned)).collect()
    }

    fn load(&self, spec: &Spec, progress: Progress) -> Result<(), Fault> {
        load::load(spec, progress)
    }

    fn loaders(&self, spec: &Spec) -> u32 {
        spec.options.own::<TpccLikeOptions>().loaders
    }

    fn reserve(&self, spec: &Spec, progress: Progress) -> Result<(), Fault> {
        load::reserve(spec, progress)
    }

    fn load_share(&self, spec: &Spec, loader: u32, progress: Progress) -> Result<(), Fault> {
        load::load_share(spec, loader, progress)
    }

    fn after_load(&self, _spec: &Spec) -> &'static [&'static str] {
        &load::AFTER_LOAD
    }

    fn read_loaded(&self) -> Result<String, Fault> {
        Ok(sql::read(CONDITION_11_LOADED, &[])?.unwrap_or_default())
    }

    fn checks_of_load(&self, read: &str) -> Result<Vec<Check>, Fault> {
        let counted: ConditionCount = read_json("condition", read)?;
        Ok(tpcc_like::checks_of_load(&counted))
    }

    fn question(&self, spec: &Spec) -> &'static str {
        match spec.options.own::<TpccLikeOptions>().checks_all() {
            true => ALL_CONDITIONS,
            false => CONDITIONS,
        }
    }

    /// All checks are those with the orders of each client.
    fn checks(
        &self,
        _spec: &Spec,
        _found: &Value,
        _committed: &[u64],
    ) -> Result<Vec<Check>, Fault> {
        Ok(Vec::new())
    }

    fn own_checks(
        &self,
        run: &mut Run,
        kept: &[Segment],
        found: &Value,
    ) -> Result<OwnChecks, Fault> {
        let orders: Vec<u64> = words(run, kept).into_iter().map(|words| words[0]).collect();
        let checks = tpcc_like::checks(&contents(found)?, &orders);
        Ok(OwnChecks {
            fault: verification::refusal(&checks).map(Fault::from),
            checks,
        })
    }

    fn first_transaction(&self) -> &'static str {
        "UPDATE public.warehouse SET w_ytd = w_ytd WHERE w_id = 1"
    }

    fn compare(
        &self,
        _spec: &Spec,
        found: &Value,
        _committed: u64,
        results: &Value,
    ) -> Result<Found, Fault> {
        let rows = results["tpcc_client"].as_array();
        let of_row = |row: &Value| row["new_orders"].as_u64().unwrap_or(0);
        let mut committed: Vec<u64> = Vec::new();
        committed.extend(rows.into_iter().flatten().map(of_row));
        Ok(Found {
            transactions: None,
            checks: tpcc_like::checks(&contents(found)?, &committed),
        })
    }
}

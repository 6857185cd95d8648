//! pgbench's three built-in scripts on pgbench's tables: same names, columns, contents and meaning of scale
//! (src/bin/pgbench/pgbench.c), so that pgbench itself can run on them.

use crate::{
    errors::Fault,
    pg::{
        guc,
        index_pages::Index,
        load::{self, Copies},
        pages::{self, Layout, Part},
        plan::{Connection, Plan, Type},
        sql,
        version::PGBENCH_FREEZES_ALL,
    },
    workload::{ClientContext, transactions::Transaction},
};
use pgfsbench_core::units::accounts_per_page;
pub use pgfsbench_core::units::{ACCOUNTS, TELLERS};
use pgfsbench_core::{
    btree::Column,
    loading::Model,
    random::Stream,
    spec::Spec,
    workload::{
        mix::{Choice, Counted, Outcome},
        tpcb::{self, aid_is_bigint},
    },
};

pub const TABLES: [&str; 4] = [
    "pgbench_branches",
    "pgbench_tellers",
    "pgbench_accounts",
    "pgbench_history",
];

const ACCOUNTS_TABLE: &str = "pgbench_accounts";
const ACCOUNTS_KEY: &str = "pgbench_accounts_pkey";

fn aid(spec: &Spec) -> &'static str {
    if aid_is_bigint(spec.scale) {
        "bigint"
    } else {
        "int"
    }
}

fn create(spec: &Spec, table: &str, columns: &str, with: &str) -> Result<(), Fault> {
    let unlogged = if spec.options.unlogged {
        "UNLOGGED "
    } else {
        ""
    };
    sql::write(
        &format!("CREATE {unlogged}TABLE public.{table} ({columns}){with}"),
        &[],
    )?;
    Ok(())
}

fn create_accounts(spec: &Spec, table: &str) -> Result<(), Fault> {
    let columns = format!(
        "aid {} NOT NULL, bid int, abalance int, filler char(84)",
        aid(spec)
    );
    create(spec, table, &columns, &filled(spec))
}

fn filled(spec: &Spec) -> String {
    format!(" WITH (fillfactor = {})", spec.options.fillfactor)
}

/// Creates and fills the tables in the current transaction. `progress` gets the accounts loaded so far.
pub fn load(spec: &Spec, progress: impl FnMut(u64) -> Result<(), Fault>) -> Result<(), Fault> {
    let scale = u64::from(spec.scale);
    let history = format!(
        "tid int, bid int, aid {}, delta int, mtime timestamp, filler char(22)",
        aid(spec)
    );
    create(spec, "pgbench_history", &history, "")?;
    let tellers = "tid int NOT NULL, bid int, tbalance int, filler char(84)";
    create(spec, "pgbench_tellers", tellers, &filled(spec))?;
    create_accounts(spec, ACCOUNTS_TABLE)?;
    sql::write(
        "ALTER TABLE public.pgbench_accounts ADD PRIMARY KEY (aid)",
        &[],
    )?;
    let branches = "bid int NOT NULL, bbalance int, filler char(88)";
    create(spec, "pgbench_branches", branches, &filled(spec))?;
    fill_branches_and_tellers(scale)?;
    fill_accounts_and_key(spec, progress)
}

/// After VACUUM, in a transaction of its own: stores how many rows pgbench_accounts has, as the primary key has it stored that pgbench adds then.
pub fn tell_size(spec: &Spec) -> Result<(), Fault> {
    load::set_size(ACCOUNTS_TABLE, ACCOUNTS_KEY, layout(spec))
}

/// A row of pgbench_accounts: number, branch, balance and a filler of blanks.
fn account(spec: &Spec) -> [Model; 4] {
    let aid = match aid_is_bigint(spec.scale) {
        true => Model::BigInt,
        false => Model::Int,
    };
    [aid, Model::Int, Model::Int, Model::Bytes(vec![b' '; 84])]
}

/// Writes number and branch of the row `n` into its data.
fn number_account(spec: &Spec) -> impl FnMut(u64, &mut [u8]) + use<> {
    let is_wide = aid_is_bigint(spec.scale);
    move |n, row| {
        let bid = ((n / ACCOUNTS) as i32 + 1).to_ne_bytes();
        if is_wide {
            row[..8].copy_from_slice(&(n as i64 + 1).to_ne_bytes());
            row[8..12].copy_from_slice(&bid);
        } else {
            row[..4].copy_from_slice(&(n as i32 + 1).to_ne_bytes());
            row[4..8].copy_from_slice(&bid);
        }
    }
}

fn layout(spec: &Spec) -> Layout {
    Layout {
        rows: u64::from(spec.scale) * ACCOUNTS,
        rows_per_page: accounts_per_page(spec.options.fillfactor),
    }
}

/// Writes pgbench_accounts and its primary key by pages.
fn fill_accounts_and_key(
    spec: &Spec,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let layout = layout(spec);
    pages::reserve(ACCOUNTS_TABLE, layout, true)?;
    let files = pages::files("public.pgbench_accounts")?;
    let files: Vec<_> = files.iter().map(pages::open).collect::<Result<_, _>>()?;
    let part = Part {
        files: &files,
        layout,
        blocks: 0..layout.blocks(),
        needs_no_recovery: true,
    };
    let copies = Copies {
        table: ACCOUNTS_TABLE,
        model: &account(spec),
    };
    copies.write_pages(part, number_account(spec), progress)?;
    let column = match aid_is_bigint(spec.scale) {
        true => Column::BigInt,
        false => Column::Integer,
    };
    let mut key = Index::open(ACCOUNTS_KEY, &[column])?;
    for row in 0..layout.rows {
        key.push(&[row as i64 + 1], layout.place(row))?;
    }
    key.finish()
}

/// Fills a table whose columns are integers and a filler of nulls; `numbers` gives the integers of each row.
fn fill_numbered<const N: usize>(
    table: &str,
    rows: u64,
    numbers: impl Fn(u64) -> [i32; N],
) -> Result<(), Fault> {
    let mut model = vec![Model::Int; N];
    model.push(Model::Null);
    let copies = Copies {
        table,
        model: &model,
    };
    let patch = |n, row: &mut [u8]| {
        for (place, number) in row.chunks_exact_mut(4).zip(numbers(n)) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
    };
    copies.load(rows, patch, |_| Ok(()))
}

/// Fills them as pgbench of this version does.
fn fill_branches_and_tellers(scale: u64) -> Result<(), Fault> {
    if PGBENCH_FREEZES_ALL {
        fill_numbered("pgbench_branches", scale, |n| [n as i32 + 1, 0])?;
        let teller = |n| [n as i32 + 1, (n / TELLERS) as i32 + 1, 0];
        return fill_numbered("pgbench_tellers", scale * TELLERS, teller);
    }
    sql::write(
        "INSERT INTO public.pgbench_branches (bid, bbalance) \
         SELECT bid, 0 FROM generate_series(1, $1::int) AS bid",
        &[Some(&scale.to_string())],
    )?;
    sql::write(
        "INSERT INTO public.pgbench_tellers (tid, bid, tbalance) \
         SELECT tid, (tid - 1) / 10 + 1, 0 FROM generate_series(1, $1::int) AS tid",
        &[Some(&(scale * TELLERS).to_string())],
    )?;
    Ok(())
}

/// Creates a table like pgbench_accounts and fills it by way of shared buffers, in the current transaction, as COPY does.
pub fn load_accounts(
    spec: &Spec,
    table: &str,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    create_accounts(spec, table)?;
    let copies = Copies {
        table,
        model: &account(spec),
    };
    copies.load(layout(spec).rows, number_account(spec), progress)
}

/// Statements that pgbench runs after loading, in its order, but for the primary key of pgbench_accounts, which is loaded.
pub const AFTER_LOAD: [&str; 6] = [
    "VACUUM (ANALYZE) public.pgbench_branches",
    "VACUUM (ANALYZE) public.pgbench_tellers",
    "VACUUM (ANALYZE) public.pgbench_accounts",
    "VACUUM (ANALYZE) public.pgbench_history",
    "ALTER TABLE public.pgbench_branches ADD PRIMARY KEY (bid)",
    "ALTER TABLE public.pgbench_tellers ADD PRIMARY KEY (tid)",
];

/// The prepared statements of one client.
pub struct Script {
    script: tpcb::Script,
    accounts: i64,
    branches: i64,
    tellers: i64,
    update_accounts: Plan,
    select_accounts: Plan,
    update_tellers: Plan,
    update_branches: Plan,
    insert_history: Plan,
}

impl Transaction<'_> for Script {
    fn prepare(
        _context: &ClientContext,
        spec: &Spec,
        spi: &Connection,
        _counted: Counted<'static>,
    ) -> Result<Self, Fault> {
        let aid = if aid_is_bigint(spec.scale) {
            Type::BigInt
        } else {
            Type::Int
        };
        let scale = i64::from(spec.scale);
        Ok(Self {
            script: tpcb::Script::of(spec),
            accounts: scale * ACCOUNTS as i64,
            branches: scale,
            tellers: scale * TELLERS as i64,
            update_accounts: spi.prepare(
                "UPDATE public.pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
                &[Type::Int, aid],
            )?,
            select_accounts: spi.prepare(
                "SELECT abalance FROM public.pgbench_accounts WHERE aid = $1",
                &[aid],
            )?,
            update_tellers: spi.prepare(
                "UPDATE public.pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
                &[Type::Int, Type::Int],
            )?,
            update_branches: spi.prepare(
                "UPDATE public.pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
                &[Type::Int, Type::Int],
            )?,
            insert_history: spi.prepare(
                "INSERT INTO public.pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
                &[Type::Int, Type::Int, aid, Type::Int],
            )?,
        })
    }

    /// The statements of one transaction, in pgbench's order, its random values drawn in pgbench's order too.
    #[inline]
    fn run(
        &mut self,
        _choice: Choice,
        spi: &Connection,
        random: &mut Stream,
    ) -> Result<Outcome, Fault> {
        let aid = random.range(1, self.accounts);
        if self.script == tpcb::Script::SelectOnly {
            self.select_accounts.one_int(spi, &[aid])?;
            return Ok(Outcome::Committed);
        }
        let bid = random.range(1, self.branches);
        let tid = random.range(1, self.tellers);
        let delta = random.range(-5000, 5000);
        self.update_accounts.one_row(spi, &[delta, aid])?;
        self.select_accounts.one_int(spi, &[aid])?;
        if self.script == tpcb::Script::Tpcb {
            self.update_tellers.one_row(spi, &[delta, tid])?;
            self.update_branches.one_row(spi, &[delta, bid])?;
        }
        self.insert_history.one_row(spi, &[tid, bid, aid, delta])?;
        Ok(Outcome::Committed)
    }
}

/// Reads the balances, as JSON.
pub const BALANCES: &str = concat!(
    include_str!("queries/balances.sql"),
    include_str!("queries/of_all_accounts.sql")
);
const BALANCES_OF_CHANGED: &str = concat!(
    include_str!("queries/balances.sql"),
    include_str!("queries/of_changed_accounts.sql")
);
const FEW_CHANGED: &str = include_str!("queries/few_accounts_changed.sql");
/// The settings by which each account that has changed is found by the index.
const BY_INDEX: [(&str, &str); 5] = [
    ("enable_nestloop", "on"),
    ("enable_indexscan", "on"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_memoize", "off"),
];

/// Reads the balances where accounts that no client has touched are as they were loaded. In a transaction of its own.
pub fn balances_after_window(spec: &Spec) -> Result<Option<String>, Fault> {
    if sql::read(FEW_CHANGED, &[])?.as_deref() != Some("t") {
        return sql::read(BALANCES, &[]);
    }
    for (name, value) in BY_INDEX {
        guc::set_locally(name, value)?;
    }
    let half = u64::from(spec.scale) * ACCOUNTS / 2;
    sql::read(BALANCES_OF_CHANGED, &[Some(&half.to_string())])
}

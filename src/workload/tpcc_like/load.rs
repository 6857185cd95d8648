//! The tables, their rows and their keys.

use pgfsbench_core::{
    spec::Spec,
    workload::tpcc_like::{Table, TpccLikeOptions},
};

use crate::{
    errors::Fault,
    pg::{
        load::{self, Key},
        sql,
    },
    workload::Progress,
};

const TABLES: &str = include_str!("queries/tables.sql");

/// Rows between two reports of progress.
const REPORT: u64 = 1000;

/// The foreign keys of the specification. They are made while the tables are empty, so that the server finds at once that they hold. The rows that are loaded
/// then are not checked: rows follow from their keys, and a test of core reads that each one refers to a row that is loaded.
const FOREIGN_KEYS: [&str; 10] = [
    "ALTER TABLE public.district ADD FOREIGN KEY (d_w_id) REFERENCES public.warehouse",
    "ALTER TABLE public.customer ADD FOREIGN KEY (c_w_id, c_d_id) REFERENCES public.district",
    "ALTER TABLE public.history ADD FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES public.customer",
    "ALTER TABLE public.history ADD FOREIGN KEY (h_w_id, h_d_id) REFERENCES public.district",
    "ALTER TABLE public.orders ADD FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES public.customer",
    "ALTER TABLE public.new_order ADD FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES public.orders",
    "ALTER TABLE public.order_line ADD FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES public.orders",
    "ALTER TABLE public.order_line ADD FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES public.stock",
    "ALTER TABLE public.stock ADD FOREIGN KEY (s_w_id) REFERENCES public.warehouse",
    "ALTER TABLE public.stock ADD FOREIGN KEY (s_i_id) REFERENCES public.item",
];

/// Names of the indexes that are not in the order of the rows.
pub const INDEXES: [&str; 2] = ["customer_name", "orders_customer"];

/// Statements after loading: these indexes, and statistics.
pub const AFTER_LOAD: [&str; 11] = [
    "CREATE INDEX customer_name ON public.customer (c_w_id, c_d_id, c_last, c_first)",
    "CREATE INDEX orders_customer ON public.orders (o_w_id, o_d_id, o_c_id, o_id)",
    "VACUUM (ANALYZE) public.item",
    "VACUUM (ANALYZE) public.warehouse",
    "VACUUM (ANALYZE) public.district",
    "VACUUM (ANALYZE) public.customer",
    "VACUUM (ANALYZE) public.history",
    "VACUUM (ANALYZE) public.orders",
    "VACUUM (ANALYZE) public.new_order",
    "VACUUM (ANALYZE) public.order_line",
    "VACUUM (ANALYZE) public.stock",
];

/// Creates the tables with their keys in the current transaction; fills them, too, if there is one loader. `progress` gets the rows so far.
pub fn load(spec: &Spec, progress: Progress) -> Result<(), Fault> {
    let create = match spec.options.unlogged {
        true => "CREATE UNLOGGED TABLE",
        false => "CREATE TABLE",
    };
    for statement in TABLES.split_inclusive(';') {
        if statement.contains("TABLE public.") {
            sql::write(&statement.replace("CREATE TABLE", create), &[])?;
        }
    }
    let own: TpccLikeOptions = spec.options.own();
    if own.foreign_keys {
        for statement in FOREIGN_KEYS {
            sql::write(statement, &[])?;
        }
    }
    match own.loaders {
        1 => fill(spec, &Table::ALL, true, progress),
        _ => Ok(()),
    }
}

/// Fills the tables of one of several loaders, which were created.
pub fn load_share(spec: &Spec, loader: u32, progress: Progress) -> Result<(), Fault> {
    let loaders = spec.options.own::<TpccLikeOptions>().loaders;
    fill(spec, &Table::of_loader(loader, loaders), false, progress)
}

/// Fills tables. `are_new`: whether the current transaction has created them.
fn fill(spec: &Spec, tables: &[Table], are_new: bool, progress: Progress) -> Result<(), Fault> {
    let mut done = 0;
    for &table in tables {
        let index = format!("{}_pkey", table.name());
        let key = table.key().map(|columns| Key {
            index: &index,
            columns,
            is_new: are_new,
        });
        load::rows(table.name(), key, |add| {
            for warehouse in 1..=i64::from(spec.scale) {
                let mut made = 0;
                table.each_row(warehouse, |row| {
                    made += 1;
                    if made % REPORT == 0 {
                        progress(done + made)?;
                    }
                    add(row)
                })?;
                done += made;
            }
            Ok(())
        })?;
        progress(done)?;
    }
    Ok(())
}

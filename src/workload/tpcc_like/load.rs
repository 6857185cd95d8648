//! The tables, their rows and their keys.

use pgfsbench_core::{spec::Spec, workload::tpcc_like::Table};

use crate::{
    errors::Fault,
    pg::{load, sql},
};

const TABLES: &str = include_str!("queries/tables.sql");

/// Rows between two reports of progress.
const REPORT: u64 = 1000;

macro_rules! after_load {
    ($($foreign_key:literal,)*) => {
        [
            "ALTER TABLE public.item ADD PRIMARY KEY (i_id)",
            "ALTER TABLE public.warehouse ADD PRIMARY KEY (w_id)",
            "ALTER TABLE public.district ADD PRIMARY KEY (d_w_id, d_id)",
            "ALTER TABLE public.customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id)",
            "CREATE INDEX customer_name ON public.customer (c_w_id, c_d_id, c_last, c_first)",
            "ALTER TABLE public.orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id)",
            "CREATE INDEX orders_customer ON public.orders (o_w_id, o_d_id, o_c_id, o_id)",
            "ALTER TABLE public.new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id)",
            "ALTER TABLE public.order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)",
            "ALTER TABLE public.stock ADD PRIMARY KEY (s_w_id, s_i_id)",
            "VACUUM (ANALYZE) public.item",
            "VACUUM (ANALYZE) public.warehouse",
            "VACUUM (ANALYZE) public.district",
            "VACUUM (ANALYZE) public.customer",
            "VACUUM (ANALYZE) public.history",
            "VACUUM (ANALYZE) public.orders",
            "VACUUM (ANALYZE) public.new_order",
            "VACUUM (ANALYZE) public.order_line",
            "VACUUM (ANALYZE) public.stock",
            $($foreign_key,)*
        ]
    };
}

/// Statements after loading, without foreign keys.
pub const WITHOUT_FOREIGN_KEYS: [&str; 19] = after_load![];

/// Statements after loading: keys from sorted rows, statistics, and the foreign keys of clause 1.3.
pub const WITH_FOREIGN_KEYS: [&str; 29] = after_load![
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

/// Creates and fills the tables in the current transaction. `progress` gets the rows so far, without lines of orders.
pub fn load(spec: &Spec, progress: &mut dyn FnMut(u64) -> Result<(), Fault>) -> Result<(), Fault> {
    let create = match spec.options.unlogged {
        true => "CREATE UNLOGGED TABLE",
        false => "CREATE TABLE",
    };
    for statement in TABLES.split_inclusive(';') {
        if statement.contains("CREATE TABLE") {
            sql::write(&statement.replace("CREATE TABLE", create), &[])?;
        }
    }
    let mut done = 0;
    for table in Table::ALL {
        load::rows(table.name(), |add| {
            for warehouse in 1..=i64::from(spec.scale) {
                let mut made = 0;
                table.each_row(warehouse, |row| {
                    made += 1;
                    if made % REPORT == 0 {
                        let counted = match table {
                            Table::OrderLine => 0,
                            _ => made,
                        };
                        progress(done + counted)?;
                    }
                    add(row)
                })?;
                if table != Table::OrderLine {
                    done += made;
                }
            }
            Ok(())
        })?;
        progress(done)?;
    }
    Ok(())
}
